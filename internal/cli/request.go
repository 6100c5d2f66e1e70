package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"parley/client/sign"
	"parley/internal/app"
)

// credentials are what it takes to sign for one project. Flags beat the
// environment, and the environment beats the quick start file.
type credentials struct {
	DataDir       string `name:"data-dir" env:"PARLEY_DATA_DIR" default:"./data" help:"Where quickstart.json is, which gives what is left out."`
	URL           string `name:"url" env:"PARLEY_URL" placeholder:"URL" help:"Where the server is."`
	ProjectID     string `name:"project-id" env:"PARLEY_PROJECT_ID" placeholder:"ID" help:"The project to sign for."`
	ProjectSecret string `name:"project-secret" env:"PARLEY_PROJECT_SECRET" placeholder:"SECRET" help:"Signs versions 3 and 4."`
	APIKey        string `name:"api-key" env:"PARLEY_API_KEY" placeholder:"KEY" help:"Names the key on version 5; signs versions 3 and 4 where no project secret is given."`
	GatewaySecret string `name:"gateway-secret" env:"PARLEY_GATEWAY_SECRET" placeholder:"SECRET" help:"Signs version 5, and the routes that run a meeting."`
}

// applyQuickstart takes what was not given from the quick start file, where there is one.
func (c *credentials) applyQuickstart() error {
	q, err := app.ReadQuickstart(c.DataDir)
	if os.IsNotExist(err) {
		err = nil
	}
	if err != nil {
		return err
	}
	own := c.ProjectSecret != "" || c.APIKey != "" || c.GatewaySecret != ""
	if c.URL == "" {
		c.URL = q.BaseURL
	}
	if !own { // never a mix of two projects' credentials
		c.ProjectSecret, c.APIKey, c.GatewaySecret = q.ProjectSecret, q.APIKey, q.GatewaySecret
		if c.ProjectID == "" {
			c.ProjectID = q.ProjectID
		}
	}
	return nil
}

type requestCommand struct {
	credentials
	Method         string `arg:"" help:"GET, POST or PUT."`
	Target         string `arg:"" help:"Path and query, such as /api/v5/keys."`
	Body           string `help:"JSON, or @FILE. Without a project_id in it, the project's own is added."`
	IdempotencyKey string `name:"idempotency-key" placeholder:"KEY" help:"Makes a creation happen once."`
	JSON           bool   `name:"json" help:"Print the answer's status, headers and body as JSON."`
}

// Run implements the command.
func (c requestCommand) Run(ctx context.Context, s *streams) error {
	if err := c.applyQuickstart(); err != nil {
		return err
	}
	if c.URL == "" {
		return usageError{fmt.Errorf("--url is missing, and there is no %s in %s to take it from", app.QuickstartFile, c.DataDir)}
	}
	if !strings.HasPrefix(c.Target, "/") {
		return usageError{fmt.Errorf("the target must begin with /, such as /api/v5/keys")}
	}
	request, err := c.buildRequest(ctx)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 30 * time.Second}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("no answer from %s: %w", c.URL, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	if err != nil {
		return err
	}
	if err := c.print(s, answer, body); err != nil {
		return err
	}
	if answer.StatusCode >= 400 {
		return fmt.Errorf("the server answered %s", answer.Status)
	}
	return nil
}

func (c requestCommand) print(s *streams, answer *http.Response, body []byte) error {
	if !c.JSON {
		_, err := fmt.Fprintln(s.out, strings.TrimRight(string(body), "\n"))
		return err
	}
	out := struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    any               `json:"body"`
	}{Status: answer.StatusCode, Headers: map[string]string{}, Body: string(body)}
	for name := range answer.Header {
		out.Headers[name] = answer.Header.Get(name)
	}
	if json.Valid(body) {
		out.Body = json.RawMessage(body)
	}
	return printJSON(s.out, out)
}

// buildRequest makes the signed request. The URL is taken apart by hand, so that the
// target goes out, and is signed, exactly as it was given.
func (c requestCommand) buildRequest(ctx context.Context) (*http.Request, error) {
	body, err := readBody(c.Body)
	if err != nil {
		return nil, err
	}
	method := strings.ToUpper(c.Method)
	gateway := usesV5Profile(c.Target)
	if !gateway {
		body = addProjectID(body, c.ProjectID)
	}
	base, err := url.Parse(c.URL)
	if err != nil {
		return nil, usageError{fmt.Errorf("--url: %w", err)}
	}
	path, query, asked := strings.Cut(c.Target, "?")
	r, err := http.NewRequestWithContext(ctx, method, base.Scheme+"://"+base.Host, bytes.NewReader(body))
	if err != nil {
		return nil, usageError{err}
	}
	r.URL.Opaque = path // goes into the request line as it is
	r.URL.RawQuery, r.URL.ForceQuery = query, asked
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.IdempotencyKey != "" {
		r.Header.Set("Idempotency-Key", c.IdempotencyKey)
	}
	if gateway {
		if c.APIKey == "" || c.GatewaySecret == "" {
			return nil, usageError{fmt.Errorf("this route needs --api-key and --gateway-secret")}
		}
		timestamp, once := sign.FormatTimestamp(time.Now()), c.IdempotencyKey
		if method == http.MethodGet {
			once = "" // what only reads is signed without
		}
		r.Header.Set("api-key", c.APIKey)
		r.Header.Set("timestamp", timestamp)
		r.Header.Set("hash-signature", sign.V5(c.GatewaySecret, method, c.Target, timestamp, once, body))
		return r, nil
	}
	signer := c.ProjectSecret
	if signer == "" {
		signer = c.APIKey
	}
	if signer == "" {
		return nil, usageError{fmt.Errorf("this route needs --project-secret or --api-key")}
	}
	r.Header.Set("hash-signature", sign.Legacy(signer, body))
	return r, nil
}

// addProjectID puts the project's id into a JSON object that has none, before
// it is signed. Everything else is sent as it was written.
func addProjectID(body []byte, projectID string) []byte {
	var fields map[string]json.RawMessage
	if projectID == "" || json.Unmarshal(body, &fields) != nil || fields == nil {
		return body
	}
	if _, there := fields["project_id"]; there {
		return body
	}
	open := bytes.IndexByte(body, '{')
	head := fmt.Sprintf(`{"project_id":%q`, projectID)
	if len(fields) > 0 {
		head += ","
	}
	return append([]byte(head), body[open+1:]...)
}
