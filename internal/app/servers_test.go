package app

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"parley/internal/api/manage"
	"parley/internal/instance"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// dropTargets makes the server fail when it reads the targets of webhooks.
func dropTargets(t *testing.T, s *server) {
	t.Helper()
	raw := storetest.Database{Dir: s.cfg.DataDir}.Raw(t)
	defer func() { _ = raw.Close() }()
	testkit.Eventually(t, "no write of the server is in progress", func() bool {
		_, err := raw.Exec(`DROP TABLE webhook_targets`)
		return err == nil
	})
}

var requestID = regexp.MustCompile(`req_[0-9a-z]+`)

// The cause of an internal error is in the log while a page follows the result.
func TestStream_LogsErrors(t *testing.T) {
	s := startServer(t, nil)
	dropTargets(t, s)
	response, lines := s.openStream("path=/overview")
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
		continue
	}
	id := requestID.FindString(lines.Text())
	if id == "" || response.Header.Get("X-Request-ID") != id {
		t.Fatalf("got the result %q and the header %q, want the ID of the header in it", lines.Text(),
			response.Header.Get("X-Request-ID"))
	}
	testkit.Eventually(t, "the log has the cause under the ID", func() bool {
		return s.log.HasLine("request_id="+id, "webhook_targets")
	})
}

// The cause of an internal error is in the log, also for a command that asks through the local socket.
func TestLocalSocket_LogsErrors(t *testing.T) {
	s := startServer(t, nil)
	dropTargets(t, s)
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return instance.DialLocal(ctx, s.cfg.DataDir)
		},
	}}
	response, err := client.Get("http://local/overview")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var body manage.Error
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	id := requestID.FindString(body.Error.Message)
	if response.StatusCode != http.StatusInternalServerError || id == "" || response.Header.Get("X-Request-ID") != id {
		t.Fatalf("got status %d, the message %q and the header %q, want 500 and the ID of the header at the end",
			response.StatusCode, body.Error.Message, response.Header.Get("X-Request-ID"))
	}
	testkit.Eventually(t, "the log has the cause under the ID", func() bool {
		return s.log.HasLine("request_id="+id, "webhook_targets")
	})
}
