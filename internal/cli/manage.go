package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"parley/internal/api/manage"
	"parley/internal/app"
	"parley/internal/quickstart"
)

// manager contains the flags of commands that call the management API of a running
// server.
type manager struct {
	DataDir string `name:"data-dir" env:"PARLEY_DATA_DIR" default:"./data" help:"Directory with quickstart.json, which contains the defaults of --url and --token."`
	endpoint
}

// endpoint is the server that a command calls.
type endpoint struct {
	URL   string `name:"url" env:"PARLEY_URL" placeholder:"URL" help:"URL of the server."`
	Token string `name:"token" env:"PARLEY_ADMIN_TOKEN" placeholder:"TOKEN" help:"Management token."`
	JSON  bool   `name:"json" xor:"format" help:"JSON output."`
}

// applyQuickstart sets missing flags from the quickstart file.
func (m *manager) applyQuickstart() error {
	if m.URL != "" && m.Token != "" {
		return m.checkEndpoint()
	}
	q, err := quickstart.Read(m.DataDir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if m.URL == "" {
		m.URL = q.BaseURL
	}
	if m.Token == "" {
		m.Token = q.AdminToken
	}
	return m.checkEndpoint()
}

// checkEndpoint returns an error if the address or the token of the server is missing, or the address is none.
func (m *manager) checkEndpoint() error {
	var missing []string
	if m.URL == "" {
		missing = append(missing, "--url (PARLEY_URL)")
	}
	if m.Token == "" {
		missing = append(missing, "--token (PARLEY_ADMIN_TOKEN)")
	}
	if len(missing) > 0 {
		return usageError{fmt.Errorf("%s must be set, because there is no %s in %s; or name the data directory of the "+
			"server with --data-dir (PARLEY_DATA_DIR)", strings.Join(missing, " and "), quickstart.FileName, m.DataDir)}
	}
	u, err := url.Parse(m.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usageError{fmt.Errorf("--url (PARLEY_URL) must be a URL such as http://127.0.0.1:8080")} // it may be the token
	}
	return nil
}

// callManagement calls the management API and decodes the response. If the server
// refuses the call, the error contains the server's message.
func callManagement[T any](ctx context.Context, m manager, method, path string, body any) (T, error) {
	return callWithTimeout[T](ctx, m, method, path, body, 30*time.Second)
}

// callWithTimeout is callManagement with a timeout of the whole response, 0 for none.
func callWithTimeout[T any](ctx context.Context, m manager, method, path string, body any, timeout time.Duration) (
	T, error,
) {
	var out T
	if err := m.applyQuickstart(); err != nil {
		return out, err
	}
	response, err := send(ctx, m, method, path, body, timeout)
	if err != nil {
		return out, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := readResponse(m, response)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("%s is not a Parley server: %w", m.URL, err)
	}
	return out, nil
}

// pageSize is the largest page of the management API.
const pageSize = 100

// fetchPages reads a list of the management API, page by page, up to a number of items;
// 0 means all. items returns the items of a page and the cursor of the next one.
func fetchPages[P, T any](ctx context.Context, m manager, path string, q url.Values, limit int,
	items func(P) ([]T, *string)) ([]T, error) {
	all := []T{}
	q.Set("limit", strconv.Itoa(pageSize))
	for {
		page, err := callManagement[P](ctx, m, "GET", path+"?"+q.Encode(), nil)
		if err != nil {
			return nil, err
		}
		more, cursor := items(page)
		all = append(all, more...)
		if limit > 0 && len(all) >= limit {
			return all[:limit], nil
		}
		if cursor == nil {
			return all, nil
		}
		q.Set("cursor", *cursor)
	}
}

// queryOf returns the parameters that are not empty.
func queryOf(parameters map[string]string) url.Values {
	q := url.Values{}
	for name, value := range parameters {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// send calls the management API and returns a response with the status 200, whose body the
// caller must close. The timeout is that of the whole response, 0 for none.
func send(ctx context.Context, m manager, method, path string, body any, timeout time.Duration) (
	*http.Response, error,
) {
	client := &http.Client{Timeout: timeout, CheckRedirect: doNotFollow}
	for waited := time.Duration(0); ; {
		r, err := m.request(ctx, method, path, body)
		if err != nil {
			return nil, err
		}
		response, err := client.Do(r)
		if err != nil {
			return nil, fmt.Errorf("no response from %s, is the server running? %w", m.URL, err)
		}
		if response.StatusCode == http.StatusOK {
			return response, nil
		}
		raw, err := readResponse(m, response)
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		wait, limited := rateLimitWait(response, raw)
		if waited += wait; !limited || method != http.MethodGet || waited > maxRateLimitWait {
			return nil, responseError(m, response, raw)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// doNotFollow makes a client return a redirect as the response, because the credentials in a request are meant for
// one host only.
func doNotFollow(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// maxRateLimitWait is how long a read waits in total because of the rate limit. A long list is many reads.
const maxRateLimitWait = time.Minute

// rateLimitWait returns how long the server asks to wait after a call that exceeded the rate limit of the token, and
// whether it was such a call.
func rateLimitWait(response *http.Response, raw []byte) (time.Duration, bool) {
	var body manage.Error
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds < 1 || json.Unmarshal(raw, &body) != nil {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, body.Error.Code == manage.ErrorCodeRateLimited
}

func readResponse(m manager, response *http.Response) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return nil, fmt.Errorf("the response from %s is incomplete: %w", m.URL, err)
	}
	return raw, nil
}

// fileBody is a request body that is sent unchanged, and not as JSON.
type fileBody []byte

// secretPath matches a path with a credential in the place of an id. Such a path
// must not be sent, because servers log paths.
var secretPath = regexp.MustCompile(`/(pk_|gs_|whsec_|pt_)`)

func (m manager) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	if secretPath.MatchString(path) {
		return nil, usageError{fmt.Errorf("the id is a key, a secret or a token: nothing was sent")}
	}
	var reader io.Reader
	contentType := ""
	switch body := body.(type) {
	case nil:
	case fileBody:
		reader, contentType = bytes.NewReader(body), "application/octet-stream"
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader, contentType = bytes.NewReader(raw), "application/json"
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(m.URL, "/")+"/api/manage"+path, reader)
	if err != nil {
		return nil, usageError{fmt.Errorf("--url: %w", err)}
	}
	r.Header.Set("Authorization", "Bearer "+m.Token)
	r.Header.Set("User-Agent", "parley/"+app.Build().Version) // parley calls shows it
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r, nil
}

func responseError(m manager, response *http.Response, raw []byte) error {
	var body manage.Error
	if json.Unmarshal(raw, &body) != nil || body.Error.Message == "" {
		return fmt.Errorf("%s is not a Parley server of this version: %s", m.URL, response.Status)
	}
	message := body.Error.Message
	if response.StatusCode == http.StatusUnauthorized {
		message += "; check --token, PARLEY_ADMIN_TOKEN and " + quickstart.FileName
	}
	return apiError{body.Error.Code, message}
}

// apiError is the error of a server that refuses a call.
type apiError struct {
	code    manage.ErrorCode
	message string
}

// Error returns the message of the server.
func (e apiError) Error() string { return e.message }

// isRefusal reports whether err is a refusal of the server with a code.
func isRefusal(err error, code manage.ErrorCode) bool {
	refused, ok := errors.AsType[apiError](err)
	return ok && refused.code == code
}

// apiPath returns a path of the management API with escaped ids.
func apiPath(format string, ids ...string) string {
	escaped := make([]any, len(ids))
	for i, id := range ids {
		escaped[i] = url.PathEscape(id)
	}
	return fmt.Sprintf(format, escaped...)
}

// optionalString returns nil for an empty string.
func optionalString(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// valueOrEmpty returns the string that p points to, or "" if p is nil.
func valueOrEmpty(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
