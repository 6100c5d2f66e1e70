package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Options are optional settings of a Client. The zero value is valid.
type Options struct {
	// HTTPClient sends the requests. It is copied, and the copy follows no
	// redirects. Nil means a client of its own with a timeout of 30 seconds for
	// each attempt.
	HTTPClient *http.Client
	// MaxAttempts is the maximum number of attempts of a call, 1 or more; 0 means
	// 3. An attempt after a correction of the clock is not counted.
	MaxAttempts int
	// Version is the version of the API, 3 or 4, whose routes are called where both
	// have the same; 0 means 4.
	Version int
	// UserAgent is sent as User-Agent; empty means "parley-go". It is shown in
	// the Gateway's list of requests.
	UserAgent string
}

const (
	defaultTimeout     = 30 * time.Second
	defaultMaxAttempts = 3
	defaultVersion     = 4
	defaultUserAgent   = "parley-go"
)

// Client calls one server for one project. Create it with New.
type Client struct {
	base        string       // scheme and host, without a slash at the end
	credentials *Credentials // a pointer, so that printing a Client shows none
	redact      *strings.Replacer
	http        *http.Client
	maxAttempts int
	version     int
	userAgent   string
	clock       clock
}

// New returns a Client of the server at baseURL, a scheme and a host such as
// https://meet.example.org. It has no path, because version 5 signs the path that
// the server sees. Use http only on trusted networks. The fields
// of Credentials document which calls need them; a call without its credential
// fails with ErrMissingCredential and sends nothing.
func New(baseURL string, credentials Credentials, options Options) (*Client, error) {
	base, err := checkBaseURL(baseURL)
	if err != nil {
		return nil, err
	}
	if err := credentials.check(); err != nil {
		return nil, err
	}
	if options.MaxAttempts < 0 {
		return nil, fmt.Errorf("parley: MaxAttempts must not be negative, but is %d", options.MaxAttempts)
	}
	if v := options.Version; v != 0 && v != 3 && v != 4 {
		return nil, fmt.Errorf("parley: Version must be 3 or 4, but is %d", v)
	}
	c := &Client{
		base:        base,
		credentials: &credentials,
		redact:      credentials.replacer(),
		http:        &http.Client{Timeout: defaultTimeout},
		maxAttempts: options.MaxAttempts,
		version:     cmp.Or(options.Version, defaultVersion),
		userAgent:   options.UserAgent,
	}
	if options.HTTPClient != nil {
		httpClient := *options.HTTPClient
		c.http = &httpClient
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.maxAttempts == 0 {
		c.maxAttempts = defaultMaxAttempts
	}
	if c.userAgent == "" {
		c.userAgent = defaultUserAgent
	}
	return c, nil
}

// FromEnvironment returns a Client with the settings of the environment variables
// PARLEY_URL, PARLEY_PROJECT_ID, PARLEY_PROJECT_SECRET, PARLEY_API_KEY and
// PARLEY_GATEWAY_SECRET. Only PARLEY_URL must be set.
func FromEnvironment(options Options) (*Client, error) {
	baseURL := os.Getenv("PARLEY_URL")
	if baseURL == "" {
		return nil, errors.New("parley: set PARLEY_URL to the address of the server, such as https://meet.example.org")
	}
	return New(baseURL, Credentials{
		ProjectID:     os.Getenv("PARLEY_PROJECT_ID"),
		APIKey:        os.Getenv("PARLEY_API_KEY"),
		GatewaySecret: os.Getenv("PARLEY_GATEWAY_SECRET"),
		ProjectSecret: os.Getenv("PARLEY_PROJECT_SECRET"),
	}, options)
}

// checkBaseURL returns scheme and host. Its errors do not repeat the URL, because
// it may contain a password.
func checkBaseURL(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("parley: the base URL is not a valid URL")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return "", errors.New("parley: the base URL must be an absolute http or https URL")
	case u.User != nil:
		return "", errors.New("parley: the base URL must not contain a user or password")
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("parley: the base URL must not have a path, query or fragment")
	}
	return u.Scheme + "://" + u.Host, nil
}

// versioned returns the path of a route that both versions have.
func (c *Client) versioned(route string) string { return fmt.Sprintf("/api/v%d/%s", c.version, route) }

// ClockOffset returns how far the server's clock is ahead of ours, estimated from
// its responses; 0 before the first response.
func (c *Client) ClockOffset() time.Duration { return c.clock.currentOffset() }

// String returns the server and the project, without secrets.
func (c *Client) String() string {
	return fmt.Sprintf("parley client of %s, project %q", c.base, c.credentials.ProjectID)
}

// Format writes the text of String for every verb.
func (c *Client) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }
