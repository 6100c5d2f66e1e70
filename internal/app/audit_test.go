package app

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/operator"
	"parley/internal/room"
	"parley/internal/testkit"
)

// TestAudit_ChangesByServiceAndCommands checks what a server and the commands that open
// its database record, from the first start to a restart after a crash.
func TestAudit_ChangesByServiceAndCommands(t *testing.T) {
	s := startServer(t, nil)
	ctx := t.Context()
	expect := func(s *server, after int64, kind audit.Kind, node string, want ...audit.Action) []audit.Entry {
		t.Helper()
		entries, err := s.app.db.AuditEntriesAfter(ctx, after, 100)
		if err != nil || len(entries) != len(want) {
			t.Fatalf("got the entries %+v, %v, want %v", entries, err, want)
		}
		for i, e := range entries {
			if e.Action != want[i] || e.Kind != kind || e.Node != node {
				t.Errorf("entry %d: got %+v, want %s by %s on the node %q", e.N, e, want[i], kind, node)
			}
		}
		return entries
	}
	created := expect(s, 0, audit.KindService, s.app.rooms.NodeID(), audit.OrganizationCreated, audit.ProjectCreated,
		audit.TokenCreated)
	if created[1].Subject != s.ProjectID || created[1].ProjectID != s.ProjectID {
		t.Errorf("got %+v, want the creation of the project %s", created[1], s.ProjectID)
	}
	testkit.Eventually(t, "the head is logged", func() bool {
		return strings.Contains(s.log.String(), "head of audit log") && strings.Contains(s.log.String(), created[2].Hash)
	})
	s.createRoom(2, 300) // integrators are not recorded

	token, _, err := instance.CreateLocalToken(ctx, s.cfg.Storage, operator.NewToken{Name: "night shift"})
	if err != nil {
		t.Fatal(err)
	}
	local := expect(s, 3, audit.KindLocal, "", audit.TokenCreated)
	if local[0].Subject != token.ID || local[0].After != `{"name":"night shift","role":"owner"}` ||
		local[0].ActorName == "" {
		t.Errorf("got %+v, want the creation of the token %s by a user", local[0], token.ID)
	}
	err = s.app.db.Write(ctx, func(ctx context.Context) error {
		return s.app.db.RecordHeartbeat(ctx, room.Node{ID: "crashed", LastAlive: time.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	resealed, err := instance.Reseal(ctx, s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	again := startServer(t, func(c *config.Config) { c.DataDir = s.cfg.DataDir })
	entries, err := again.app.db.AuditEntriesAfter(ctx, 4, 100)
	if err != nil || len(entries) != 2 {
		t.Fatalf("got the entries %+v, %v, want two", entries, err)
	}
	master, err := again.cfg.LoadMasterKey(false)
	if err != nil {
		t.Fatal(err)
	}
	// With the saved response of the room, which has its link.
	if e := entries[0]; e.Action != audit.DatabaseResealed || e.Kind != audit.KindLocal ||
		e.After != `{"master_key":"`+master.ID()+`","secrets":5}` || resealed.Secrets != 5 {
		t.Errorf("got %+v, want 5 secrets under the key %s", e, master.ID())
	}
	if e := entries[1]; e.Action != audit.NodeLost || e.Subject != "crashed" || e.Node != again.app.rooms.NodeID() {
		t.Errorf("got %+v, want the loss of the node crashed", e)
	}
	if report, err := again.app.audit.Verify(ctx); err != nil || report.Problem != nil || report.Rows != 6 {
		t.Errorf("verify: got %+v, %v, want 6 intact entries", report, err)
	}
}

// TestAudit_Backup checks that a backup is recorded, because it contains everything.
func TestAudit_Backup(t *testing.T) {
	s := startServer(t, nil)
	n, _, err := s.app.audit.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byOps := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindToken, ActorName: "ops"})
	archive, err := s.app.backups.Create(byOps)
	if err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := s.app.db.AuditEntriesAfter(t.Context(), n, 10)
	if err != nil || len(entries) != 1 || entries[0].Action != audit.BackupCreated || entries[0].ActorName != "ops" {
		t.Errorf("got the entries %+v, %v, want the backup by ops", entries, err)
	}
}

func (s *server) databaseID() string {
	s.t.Helper()
	id, err := s.app.db.ID(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// checkAuditEntry checks that the audit log is intact, and has one entry with an action, by a
// command on this machine.
func (s *server) checkAuditEntry(action audit.Action, subject, after string) {
	s.t.Helper()
	entries, err := s.app.db.AuditEntriesAfter(s.t.Context(), 0, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	entries = slices.DeleteFunc(entries, func(e audit.Entry) bool { return e.Action != action })
	if len(entries) != 1 || entries[0].Kind != audit.KindLocal || entries[0].ActorName == "" ||
		entries[0].Subject != subject || entries[0].After != after {
		s.t.Errorf("entries of %s: got %+v, want one of %s by a user with %s", action, entries, subject, after)
	}
	report, err := s.app.audit.Verify(s.t.Context())
	if err != nil || report.Problem != nil {
		s.t.Errorf("verify: got %+v, %v, want no problem", report, err)
	}
}
