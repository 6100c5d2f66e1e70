package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/internal/key"
	"parley/internal/live"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

// fillDatabase puts something into every text column of every table, through the
// services, and returns every secret that any of them gave out or was given.
func fillDatabase(t *testing.T, db *store.DB) (projectID string, secrets []string) {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	keep := func(s ...seal.Secret) {
		for _, s := range s {
			secrets = append(secrets, s.Reveal())
		}
	}
	media, err := db.MediaSecret(ctx)
	must(err)
	keep(media)

	projects := project.NewService(db, time.Now, storetest.NewID, func(string) {})
	hooks := webhook.NewService(db, time.Now, storetest.NewID)
	keys := key.NewService(db, projects, time.Now, storetest.NewID, key.WithEventRecorder(hooks.ProjectChanged))
	o, err := projects.CreateOrganization(ctx, "Example", project.Payg)
	must(err)
	text := func(s string) *string { return &s }
	_, err = projects.SetOrganization(ctx, o.ID, project.OrganizationChanges{Plan: text("team"), Currency: text("EUR"), UnitPrice: text("0.004")})
	must(err)
	p, issued, err := keys.CreateProject(ctx, o.ID, "Example")
	must(err)
	p.Settings.Locks.Camera = true
	must(db.Write(ctx, func(ctx context.Context) error {
		_, err := db.AddCounts(ctx, []live.CounterKey{{Subject: o.ID, Period: "2026-11-21"}}, []live.Count{{N: 1}})
		return errors.Join(err, db.InsertCalls(ctx, []requestlog.Block{{ProjectID: p.ID, Calls: []requestlog.NumberedCall{{N: 1, Call: requestlog.Call{Method: "GET", Path: "/api/v5/keys"}}}}}))
	}))
	keep(issued.APIKey, issued.GatewaySecret, issued.ProjectSecret)
	rotated, err := keys.RotateKey(ctx, p.ID, key.Rotation{Overlap: time.Hour})
	must(err)
	keep(rotated.APIKey, rotated.GatewaySecret)
	secret, err := keys.RotateSecret(ctx, p.ID, key.Rotation{Overlap: time.Hour})
	must(err)
	keep(secret.ProjectSecret)

	_, token, err := operator.NewService(db, time.Now, storetest.NewID).Create(ctx, "console")
	must(err)
	keep(token)

	rooms := room.NewService(db, fakeMedia{}, func() string { return "https://example.com" }, time.Now, storetest.NewID, slog.New(slog.DiscardHandler))
	rooms.UseWebhooks(hooks)
	created, err := rooms.CreateQuick(ctx, p, room.CreateRequest{Type: room.Video, Name: "Ada", MaxParticipants: 5, ClientRoomID: "mine", Title: "Title", WelcomeMessage: "Welcome",
		ExternalUserID: "7", LogoutURL: "https://example.com/bye", WebhookURL: "https://example.com/hook",
		IdempotencyKey: &room.IdempotencyKey{ProjectID: p.ID, Route: "route", Key: "key", Render: func(c room.Created) ([]byte, error) { return []byte(c.FinalLink), nil }}})
	must(err)
	link := created.FinalLink[strings.Index(created.FinalLink, "#t=")+3:]
	seatKey := strings.Repeat("seat-key", 4)
	secrets = append(secrets, link, seatKey)
	admission, err := rooms.ReserveSeat(ctx, created.ID, room.JoinRequest{LinkToken: link, SeatKey: seatKey, Name: "Ada", ExpectedRole: room.Host})
	must(err)
	rooms.ParticipantJoined(admission.SessionID, admission.Seat.ID, "PA_1", time.Now())
	_, err = rooms.OpenBreakouts(ctx, created.ID, seatKey, room.OpenBreakoutsRequest{Names: []string{"One"}})
	must(err)
	personal, err := rooms.Invite(ctx, p, created.ID, room.Invitation{Role: room.Guest, SingleUse: true, Name: "Bob", UserID: "8"})
	must(err)
	personal = personal[strings.Index(personal, "#t=")+3:]
	secrets = append(secrets, personal, seatKey+"2")
	_, err = rooms.ReserveSeat(ctx, created.ID, room.JoinRequest{LinkToken: personal, SeatKey: seatKey + "2", Name: "Bob"})
	must(err)
	made, err := rooms.InviteAsHost(ctx, created.ID, seatKey, room.CoHost)
	must(err)
	secrets = append(secrets, made[strings.Index(made, "#t=")+3:], seatKey+"3")
	on := true
	must(rooms.UpdateLocks(ctx, created.ID, seatKey, room.LockChange{WaitingRoom: &on}))
	_, err = rooms.ReserveSeat(ctx, created.ID, room.JoinRequest{SeatKey: seatKey + "3", Name: "Chen"})
	must(err)
	rooms.ParticipantLeft(admission.SessionID, admission.Seat.ID, "PA_1", time.Now(), room.LeftByChoice)
	must(db.Write(ctx, func(ctx context.Context) error {
		ended, err := db.LockRoom(ctx, created.ID)
		if err != nil {
			return err
		}
		ended.State, ended.EndReason = room.Ended, room.EndedEmpty
		return errors.Join(db.UpdateRoom(ctx, ended), db.RecordHeartbeat(ctx, rooms.NodeID(), time.Now()))
	}))
	must(db.Write(ctx, func(ctx context.Context) error { return insertFailedDelivery(ctx, db, p.ID, created.ID) }))
	return p.ID, secrets
}

// insertFailedDelivery leaves behind what deliveries do that fail.
func insertFailedDelivery(ctx context.Context, db *store.DB, projectID, roomID string) error {
	streams, err := db.Streams(ctx, projectID, roomID)
	if err != nil {
		return err
	}
	now, replay := time.Now(), streams[0]
	d, _, err := db.NextDelivery(ctx, streams[0].ID)
	if err != nil {
		return err
	}
	t, err := db.RecordTargetFailure(ctx, projectID, d.URL, now)
	if err != nil {
		return err
	}
	replay.ID, replay.Replay, t.Notice = storetest.NewID(), storetest.NewID(), "it is paused"
	_, err = db.LeaseStreams(ctx, streams[0].Bucket, 1, "claim", now.Add(time.Second), now.Add(time.Minute))
	return errors.Join(err, db.PauseTarget(ctx, t), db.InsertStream(ctx, replay, now),
		db.RecordAttempt(ctx, d, webhook.Attempt{N: 1, At: now, Error: "no answer"}), db.RecordAttempt(ctx, d, webhook.Attempt{N: 2, At: now, ResponseBody: "no"}))
}

// fakeMedia is a media engine in which nothing happens.
type fakeMedia struct{ room.Media }

func (fakeMedia) Open(context.Context, room.MediaSession) error { return nil }
func (fakeMedia) UpdatePermissions(context.Context, string, string, room.Role, room.Grants) error {
	return nil
}
func (fakeMedia) UpdateMetadata(context.Context, string, room.Metadata) error      { return nil }
func (fakeMedia) Admit(string)                                                     {}
func (fakeMedia) Participants(context.Context, string) ([]room.Participant, error) { return nil, nil }
func (fakeMedia) AccessToken(room.AccessTokenSpec) (string, error)                 { return "token", nil }

// textColumns returns every text column there is, as "table.column", with its
// values.
func textColumns(t *testing.T, p testDatabase) map[string][]string {
	t.Helper()
	q := `SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.type = 'TEXT'`
	if p.url != "" {
		q = `SELECT table_name, column_name FROM information_schema.columns
			WHERE table_schema = 'public' AND data_type IN ('text', 'character varying', 'bytea')`
	}
	raw := p.raw(t)
	columns := map[string][]string{}
	for _, row := range queryStrings(t, raw, q, 2) {
		table, column := row[0], row[1]
		columns[table+"."+column] = nil
		for _, value := range queryStrings(t, raw, fmt.Sprintf(`SELECT coalesce(%s, '') FROM %s`, column, table), 1) {
			if value[0] != "" {
				columns[table+"."+column] = append(columns[table+"."+column], value[0])
			}
		}
	}
	return columns
}

func queryStrings(t *testing.T, db *sql.DB, q string, width int) (table [][]string) {
	t.Helper()
	rows, err := db.Query(q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		row, into := make([]string, width), make([]any, width)
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		table = append(table, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return table
}

var sealedPattern = regexp.MustCompile(`v\d+\.[0-9a-f]{8}\.`)

// After a reseal everything opens with the new key and nothing with the old
// one. A sealed column that Reseal does not know of would be found here: the
// test fills every text column, and fails for one that it leaves empty.
func TestReseal(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		ctx := context.Background()
		db := p.open(t)
		projectID, _ := fillDatabase(t, db)
		read := func(db *store.DB) [3]any {
			t.Helper()
			keys, err1 := db.APIKeys(ctx, projectID)
			secrets, err2 := db.ProjectSecrets(ctx, projectID)
			media, err3 := db.MediaSecret(ctx)
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			return [3]any{keys, secrets, media}
		}
		before := read(db)
		n, err := db.Reseal(ctx, storetest.Box(2))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for column, values := range textColumns(t, p) {
			if len(values) == 0 {
				t.Errorf("fill leaves %s empty: nobody would notice if it held a secret", column)
			}
			for _, v := range values {
				if !sealedPattern.MatchString(v) {
					continue
				}
				found++
				if id, err := seal.KeyID(v); err != nil || id != storetest.Box(2).KeyID() {
					t.Errorf("Reseal has left out %s", column)
				}
			}
		}
		if found != n || n < 7 {
			t.Errorf("%d values are sealed, and Reseal counts %d", found, n)
		}
		var wrong *seal.WrongKeyError
		if err := db.Unlock(ctx, storetest.Box(1)); !errors.As(err, &wrong) {
			t.Errorf("the old key still opens: %v", err)
		}
		if _, err := db.APIKeys(ctx, projectID); !errors.As(err, &wrong) {
			t.Errorf("the old key still opens: %v", err)
		}
		if _, err := db.ProjectSecrets(ctx, projectID); !errors.As(err, &wrong) {
			t.Errorf("the old key still opens: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db, err = store.Open(ctx, p.url, p.dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if err := db.Unlock(ctx, storetest.Box(2)); err != nil {
			t.Fatal(err)
		}
		if after := read(db); !reflect.DeepEqual(after, before) {
			t.Error("secrets are not what they were")
		}
	})
}

// A reseal that meets a damaged value changes nothing at all.
func TestReseal_DamagedValueChangesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		ctx := context.Background()
		db := p.open(t)
		projectID, _ := fillDatabase(t, db)
		if _, err := p.raw(t).Exec(`UPDATE facts SET value = substr(value, 1, 30) WHERE name = 'media_signing_secret'`); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Reseal(ctx, storetest.Box(2)); !errors.Is(err, seal.ErrTampered) {
			t.Fatalf("got %v", err)
		}
		if keys, err := db.APIKeys(ctx, projectID); err != nil || len(keys) != 2 {
			t.Error(keys, err)
		}
	})
}

// A sealed value opens where it was put, and nowhere else.
func TestSealedValue_MovedRefused(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		ctx := context.Background()
		for _, move := range []string{
			`UPDATE api_keys SET sealed_key = sealed_gateway_secret`,
			`UPDATE api_keys SET sealed_key = (SELECT k.sealed_key FROM api_keys k WHERE k.id <> api_keys.id)`,
		} {
			db := p.open(t)
			projectID, _ := fillDatabase(t, db)
			if _, err := p.raw(t).Exec(move + ` WHERE project_id = '` + projectID + `'`); err != nil {
				t.Fatal(err)
			}
			if _, err := db.APIKeys(ctx, projectID); !errors.Is(err, seal.ErrTampered) {
				t.Errorf("%s: %v", move, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := p.raw(t).Exec(`DELETE FROM api_keys`); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestFresh(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		ctx := context.Background()
		db, err := store.Open(ctx, p.url, p.dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if fresh, err := db.Fresh(ctx); err != nil || !fresh {
			t.Fatal(fresh, err)
		}
		if err := db.Unlock(ctx, storetest.Box(1)); err != nil {
			t.Fatal(err)
		}
		if fresh, err := db.Fresh(ctx); err != nil || fresh {
			t.Fatal(fresh, err)
		}
	})
}

// No secret is in clear in any value, and on SQLite in no byte of any file,
// before a checkpoint and after.
func TestStore_NoPlaintextSecrets(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p testDatabase) {
		db := p.open(t)
		_, secrets := fillDatabase(t, db)
		for column, values := range textColumns(t, p) {
			for _, v := range values {
				for _, s := range secrets {
					if strings.Contains(v, s) {
						t.Errorf("a secret is in clear in %s", column)
					}
				}
			}
		}
		if p.url != "" {
			return
		}
		scan := func(when string, atLeast int) {
			files, err := filepath.Glob(p.file() + "*")
			if err != nil || len(files) < atLeast {
				t.Fatal(files, err)
			}
			for _, file := range files {
				content, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range secrets {
					if bytes.Contains(content, []byte(s)) {
						t.Errorf("%s: a secret is in clear in %s", when, filepath.Base(file))
					}
				}
			}
		}
		scan("while open", 2) // with the write-ahead log
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		scan("closed", 1)
	})
}
