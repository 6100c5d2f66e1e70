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
	"regexp"
	"strings"
	"time"

	"parley/internal/api/manage"
	"parley/internal/app"
)

// manager reaches the management API of a running server.
type manager struct {
	DataDir string `name:"data-dir" env:"PARLEY_DATA_DIR" default:"./data" help:"Where quickstart.json is, which gives what is left out."`
	URL     string `name:"url" env:"PARLEY_URL" placeholder:"URL" help:"Where the server is."`
	Token   string `name:"token" env:"PARLEY_ADMIN_TOKEN" placeholder:"TOKEN" help:"A management token."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// applyQuickstart takes what was not given from the quick start file, where there is one.
func (m *manager) applyQuickstart() error {
	if m.URL != "" && m.Token != "" {
		return nil
	}
	q, err := app.ReadQuickstart(m.DataDir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if m.URL == "" {
		m.URL = q.BaseURL
	}
	if m.Token == "" {
		m.Token = q.AdminToken
	}
	for flag, value := range map[string]string{"--url (PARLEY_URL)": m.URL, "--token (PARLEY_ADMIN_TOKEN)": m.Token} {
		if value == "" {
			return usageError{fmt.Errorf("%s is missing, and there is no %s in %s to take it from", flag, app.QuickstartFile, m.DataDir)}
		}
	}
	return nil
}

// callManagement asks the management API for one thing. What the server refuses is an
// error in its words.
func callManagement[T any](ctx context.Context, m manager, method, path string, body any) (T, error) {
	var out T
	if err := m.applyQuickstart(); err != nil {
		return out, err
	}
	r, err := m.request(ctx, method, path, body)
	if err != nil {
		return out, err
	}
	client := &http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a token goes where it was meant to go, and nowhere else
	}}
	answer, err := client.Do(r)
	if err != nil {
		return out, fmt.Errorf("no answer from %s, is the server running? %w", m.URL, err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	if err != nil {
		return out, fmt.Errorf("the answer from %s broke off: %w", m.URL, err)
	}
	if answer.StatusCode != http.StatusOK {
		return out, responseError(m, answer, raw)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("what answered at %s is no Parley: %w", m.URL, err)
	}
	return out, nil
}

// secretPath finds a credential where an id belongs. It must not go out: paths
// are logged.
var secretPath = regexp.MustCompile(`/(pk_|gs_|whsec_|pt_)`)

func (m manager) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	if secretPath.MatchString(path) {
		return nil, usageError{fmt.Errorf("what stands where an id belongs is a key, a secret or a token: nothing was sent")}
	}
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(m.URL, "/")+"/api/manage"+path, reader)
	if err != nil {
		return nil, usageError{fmt.Errorf("--url: %w", err)}
	}
	r.Header.Set("Authorization", "Bearer "+m.Token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

func responseError(m manager, answer *http.Response, raw []byte) error {
	var told manage.Refusal
	if json.Unmarshal(raw, &told) != nil || told.Error.Message == "" {
		return fmt.Errorf("what answered at %s is no Parley of this version: %s", m.URL, answer.Status)
	}
	message := told.Error.Message
	switch answer.StatusCode {
	case http.StatusUnauthorized:
		message += ": see --token, PARLEY_ADMIN_TOKEN and " + app.QuickstartFile
	case http.StatusInternalServerError:
		message += ": the server's log says more under " + answer.Header.Get("X-Request-ID")
	}
	return fmt.Errorf("%s", message)
}

// apiPath puts ids into a path of the management API.
func apiPath(format string, ids ...string) string {
	escaped := make([]any, len(ids))
	for i, id := range ids {
		escaped[i] = url.PathEscape(id)
	}
	return fmt.Sprintf(format, escaped...)
}
