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

	"parley.example/client/sign"
	"parley/internal/quickstart"
)

// credentials are the flags with the credentials of a project. Flags take
// precedence over the environment, and the environment over the quickstart file.
type credentials struct {
	DataDir       string `name:"data-dir" env:"PARLEY_DATA_DIR" default:"./data" help:"Directory with quickstart.json, which contains the defaults of the credentials and --url."`
	URL           string `name:"url" env:"PARLEY_URL" placeholder:"URL" help:"URL of the server."`
	ProjectID     string `name:"project-id" env:"PARLEY_PROJECT_ID" placeholder:"ID" help:"ID of the project to sign for."`
	ProjectSecret string `name:"project-secret" env:"PARLEY_PROJECT_SECRET" placeholder:"SECRET" help:"Project secret, which signs versions 3 and 4."`
	APIKey        string `name:"api-key" env:"PARLEY_API_KEY" placeholder:"KEY" help:"API key, which identifies the caller on version 5. It signs creations and status updates of versions 3 and 4 if there is no project secret."`
	GatewaySecret string `name:"gateway-secret" env:"PARLEY_GATEWAY_SECRET" placeholder:"SECRET" help:"Gateway secret, which signs version 5 and the companion routes."`
}

// applyQuickstart sets missing flags from the quickstart file. It reads the file only if
// a flag is missing that the command uses: needsURL says whether it uses --url.
func (c *credentials) applyQuickstart(needsURL bool) error {
	given := c.ProjectSecret != "" || c.APIKey != "" || c.GatewaySecret != ""
	if given && (c.URL != "" || !needsURL) {
		return nil
	}
	q, err := quickstart.Read(c.DataDir)
	if os.IsNotExist(err) {
		err = nil
	}
	if err != nil {
		return err
	}
	if c.URL == "" {
		c.URL = q.BaseURL
	}
	if !given { // so that the credentials of two projects are never mixed
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
	Body           string `help:"JSON body, or @FILE; a missing project_id is added."`
	IdempotencyKey string `name:"idempotency-key" placeholder:"KEY" help:"Idempotency key, so that a repeated creation creates nothing new."`
	JSON           bool   `name:"json" help:"JSON output with the status, headers and body of the response."`
}

// Run sends the request and prints the response.
func (c requestCommand) Run(ctx context.Context, s *streams) error {
	if err := c.applyQuickstart(true); err != nil {
		return err
	}
	if c.URL == "" {
		return usageError{fmt.Errorf("--url (PARLEY_URL) must be set, because there is no %s in %s; or name the data "+
			"directory of the server with --data-dir (PARLEY_DATA_DIR)", quickstart.FileName, c.DataDir)}
	}
	if !strings.HasPrefix(c.Target, "/") {
		return usageError{fmt.Errorf("the target must begin with /, such as /api/v5/keys")}
	}
	request, err := c.buildRequest(ctx)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 30 * time.Second, CheckRedirect: doNotFollow}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("no response from %s: %w", c.URL, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	if err != nil {
		return err
	}
	if err := c.print(s, answer, body); err != nil {
		return err
	}
	switch {
	case answer.StatusCode >= 400:
		return fmt.Errorf("the server answered %s", answer.Status)
	case answer.StatusCode >= 300:
		return fmt.Errorf("the server answered %s to %s. Set --url to that server", answer.Status,
			answer.Header.Get("Location"))
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

// buildRequest returns the signed request. It does not parse the target as a URL,
// so that the target is signed and sent exactly as given.
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
	path, query, hasQuery := strings.Cut(c.Target, "?")
	r, err := http.NewRequestWithContext(ctx, method, base.Scheme+"://"+base.Host, bytes.NewReader(body))
	if err != nil {
		return nil, usageError{err}
	}
	r.URL.Opaque = path // is sent unchanged in the request line
	r.URL.RawQuery, r.URL.ForceQuery = query, hasQuery
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
		timestamp := sign.FormatTimestamp(time.Now())
		r.Header.Set("api-key", c.APIKey)
		r.Header.Set("timestamp", timestamp)
		r.Header.Set("hash-signature", sign.V5(c.GatewaySecret, method, c.Target, timestamp,
			signedIdempotencyKey(method, c.IdempotencyKey), body))
		return r, nil
	}
	keys, err := c.bodyKeys(c.Target)
	if err != nil {
		return nil, err
	}
	r.Header.Set("hash-signature", sign.Legacy(keys[0].value, body))
	return r, nil
}

// addProjectID adds the project id to a JSON object without project_id, before it
// is signed. All other bytes stay unchanged.
func addProjectID(body []byte, projectID string) []byte {
	var fields map[string]json.RawMessage
	if projectID == "" || json.Unmarshal(body, &fields) != nil || fields == nil {
		return body
	}
	if _, ok := fields["project_id"]; ok {
		return body
	}
	open := bytes.IndexByte(body, '{')
	head := fmt.Sprintf(`{"project_id":%q`, projectID)
	if len(fields) > 0 {
		head += ","
	}
	return append([]byte(head), body[open+1:]...)
}
