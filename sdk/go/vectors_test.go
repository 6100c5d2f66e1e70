package client_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"parley.example/client"
	"parley.example/client/sign"
)

type vector struct {
	Name      string
	Valid     bool
	Secrets   []string
	Target    string
	Timestamp string
	Body      string
	Signature string
}

// vectors reads the published cases of one profile.
func vectors(t *testing.T, profile string) map[string]vector {
	t.Helper()
	text, err := os.ReadFile("../testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Profiles []struct {
			Profile string
			Cases   []vector
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	byName := map[string]vector{}
	for _, p := range file.Profiles {
		for _, v := range p.Cases {
			if p.Profile == profile && v.Valid {
				byName[v.Name] = v
			}
		}
	}
	return byName
}

// TestGateway_RequestsMatchVectors checks version 5 requests of the client
// against the vectors.
func TestGateway_RequestsMatchVectors(t *testing.T) {
	cases := vectors(t, sign.Profile)
	for name, call := range map[string]func(ctx context.Context, c *client.Client) error{
		"get-keys":  keys,
		"get-usage": func(ctx context.Context, c *client.Client) error { _, err := c.Usage(ctx); return err },
		"get-with-query": func(ctx context.Context, c *client.Client) error {
			_, err := c.Requests(ctx, client.RequestsQuery{Limit: 50, Cursor: "abc"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			v, there := cases[name]
			if !there {
				t.Fatalf("vectors in sdk/testdata/vectors.json: got none with the name %s, want one", name)
			}
			seconds, err := sign.ParseTimestamp(v.Timestamp)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Unix(seconds, 0))) // of the fake clock
				s := newServer()
				s.respondWith(reply(200, `{"data":{}}`))
				options := client.Options{HTTPClient: &http.Client{Transport: serveOnPipes(t, s)}}
				published := client.Credentials{APIKey: apiKey, GatewaySecret: v.Secrets[0]}
				if err := call(t.Context(), connect(t, "http://parley.test", published, options)); err != nil {
					t.Fatal(err)
				}
				sent := s.requestsSeen()[0]
				if sent.target != v.Target || sent.header.Get("timestamp") != v.Timestamp ||
					sent.header.Get("hash-signature") != v.Signature || sent.body != v.Body {
					t.Errorf("request %s: got %+v, want the values of the vector %+v", name, sent, v)
				}
			})
		})
	}
}

// TestLegacySignatures_MatchVectors checks requests of versions 3 and 4, which
// sign only the body, against the vectors.
func TestLegacySignatures_MatchVectors(t *testing.T) {
	cases := vectors(t, "legacy-body")
	inactive := func(c *client.Client) error {
		_, err := c.UpdateProjectStatus(t.Context(), client.Inactive)
		return err
	}
	for _, test := range []struct {
		name        string
		credentials func(secret string) client.Credentials
		call        func(c *client.Client) error
	}{
		{"api-key", func(secret string) client.Credentials {
			return client.Credentials{ProjectID: projectID, APIKey: secret}
		}, inactive},
		{"project-secret", func(secret string) client.Credentials {
			return client.Credentials{ProjectID: projectID, ProjectSecret: secret}
		}, inactive},
		{"join-event", func(secret string) client.Credentials { return client.Credentials{ProjectSecret: secret} }, func(c *client.Client) error {
			_, err := c.SendJoinEvent(t.Context(), client.JoinEvent{RoomID: "0198c0de-0000-7000-8000-000000000001",
				Name: "Zoë"})
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, there := cases[test.name]
			if !there {
				t.Fatalf("vectors in sdk/testdata/vectors.json: got none with the name %s, want one", test.name)
			}
			s := newServer()
			s.respondWith(reply(200, `{"joined":true,"status":"inactive","message":"m"}`))
			if err := test.call(start(t, s, test.credentials(v.Secrets[0]), client.Options{})); err != nil {
				t.Fatal(err)
			}
			if sent := s.requestsSeen()[0]; sent.body != v.Body || sent.header.Get("hash-signature") != v.Signature {
				t.Errorf("request %s: got %+v, want the body and the signature of the vector %+v", test.name, sent, v)
			}
		})
	}
}
