package manage

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"parley/internal/backup"
	"parley/internal/fault"
)

func testBackups(t *testing.T, b *fixture) {
	b.t, b.backups.t = t, t
	header := http.Header{"Authorization": {"Bearer " + b.token}}
	resp := b.contract.Do(t, "POST", "/api/manage/backups", header, nil)
	r, err := backup.NewReader(resp.Body)
	if err == nil {
		err = r.CopyDatabase(io.Discard)
	}
	if err != nil || r.Manifest.DatabaseID != "id" || b.backups.closed != 1 {
		t.Errorf("got %d, %v, %d archives closed, want a backup and 1", resp.StatusCode, err, b.backups.closed)
	}
	for kind, want := range map[fault.Kind]int{fault.Conflict: 409, fault.Unavailable: 503} {
		code := map[fault.Kind]string{fault.Conflict: "backup_running", fault.Unavailable: "backup_failed"}[kind]
		failure := fault.New(kind, code, "the reason")
		b.backups.create = func(context.Context) error { return failure }
		b.assertError("POST", "/backups", nil, want, code, forToken(failure))
	}
	b.backups.create = nil
}

// A backup may take longer than the read timeout of the server, which would otherwise
// cancel the request.
func TestCreateBackup_LongerThanReadTimeout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const readTimeout = time.Second // enough for a busy machine to send the request
	b.backups.create = func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * readTimeout): // the time that the backup takes
			return nil
		}
	}
	s := httptest.NewUnstartedServer(b.handler(b.tokens, fakePlans{}, nil))
	s.Config.ReadTimeout = readTimeout
	s.Start()
	defer s.Close()
	r, err := http.NewRequest("POST", s.URL+"/api/manage/backups", nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+b.token)
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	if body, err := io.ReadAll(resp.Body); resp.StatusCode != 200 || err != nil || int64(len(body)) != resp.ContentLength {
		t.Errorf("got %d, %d of %d bytes, %v, want 200 and all bytes", resp.StatusCode, len(body), resp.ContentLength, err)
	}
}
