package upgrade

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley.example/client"
	"parley/internal/quickstart"
	"parley/internal/store"
	"parley/internal/store/filltest"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/usage"
	"parley/test/parleytest"
)

const (
	// earlyCommit is from before backups, retention and the audit log. Its program rolls up usage by hour only.
	earlyCommit = "e55c6a994fe9be13c92ea8e1debedacde21518b7"
	historyDays = 30
	// historyTimeout is long, because UPGRADE_MEETINGS may be large.
	historyTimeout = 5 * time.Minute
	// comparedRooms is the number of rooms of each project whose events and attendance are compared.
	comparedRooms = 12
)

// The program of an early commit makes an installation with two projects and a month of meetings. This program opens it
// in place. All that the API says about the meetings stays the same, and usage equals the sums of the rows that the
// early program had stored. The variable UPGRADE_MEETINGS is the number of meetings.
func TestUpgrade_FromEarlyCommit(t *testing.T) {
	testkit.Slow(t)
	if !parleytest.HasRevision(earlyCommit) {
		t.Skipf("this clone is shallow: it does not have commit %s", earlyCommit)
	}
	meetings := 400
	if text := os.Getenv("UPGRADE_MEETINGS"); text != "" {
		var err error
		if meetings, err = strconv.Atoi(text); err != nil || meetings < 1 {
			t.Fatalf("UPGRADE_MEETINGS must be a number from 1, got %q", text)
		}
	}
	early := parleytest.BuildRelease(t, earlyCommit)
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		d.Dir = t.TempDir()
		testFromEarlyCommit(t, d, early.Binary, meetings)
	})
}

func testFromEarlyCommit(t *testing.T, d storetest.Database, early string, meetings int) {
	h := &history{Database: d, begin: time.Now().UTC().AddDate(0, 0, -historyDays).Truncate(time.Second)}
	h.create(t, early)
	h.fill(t, meetings)

	server := parleytest.Start(t, options(d, early))
	h.await(t, `SELECT count(*) = 1 FROM usage_progress WHERE organization_id = $1 AND rolled_up_until > $2`,
		h.organizationID, time.Now().Add(-2*time.Hour).UnixMilli())
	for _, c := range h.clients(t, server.URL) {
		if err := c.EndRoom(t.Context(), holdWith(t, server.URL, c)); err != nil {
			t.Fatal(err)
		}
	}
	h.await(t, `SELECT count(*) = 0 FROM attendance WHERE left_at IS NULL`)
	h.await(t, `SELECT count(*) = 0 FROM rooms WHERE ended_at IS NULL`)
	before := h.read(t, server.URL)
	rows := d.ReadRawUsage(t)
	for i, past := range before.Past {
		if want := rows.Totals(h.projects[i].ProjectID, h.begin, time.Now()).RoomsCreated; len(past) != int(want) {
			t.Errorf("past rooms of project %d before the upgrade: got %d, want %d", i, len(past), want)
		}
	}
	requireUsage(t, "before the upgrade", before.usage, rows)
	if err := server.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, server.Log)
	}

	began := time.Now()
	server = parleytest.Start(t, options(d, ""))
	healthy := time.Since(began)
	h.await(t, `SELECT count(*) = 1 FROM usage_progress WHERE organization_id = $1 AND rolled_up_until > $2
			AND days_version = version AND days_until > rolled_up_until - $3`,
		h.organizationID, began.Add(-2*time.Hour).UnixMilli(), usage.DayLength.Milliseconds())
	t.Logf("%d meetings: healthy after %s, and all usage folded by day after %s", meetings,
		healthy.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	after := h.read(t, server.URL)
	if diff := cmp.Diff(before.answers, after.answers); diff != "" {
		t.Errorf("answers before the upgrade and after it (-before +after):\n%s", diff)
	}
	requireUsage(t, "after the upgrade", after.usage, rows)
	upgraded := time.Now().UTC().Truncate(time.Millisecond)
	for _, c := range h.clients(t, server.URL) { // all credentials work
		holdWith(t, server.URL, c)
	}
	if err := server.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, server.Log)
	}
	h.requireUsageByDay(t, rows, upgraded)
}

// history is an installation with two projects and meetings since a time.
type history struct {
	storetest.Database
	begin          time.Time
	organizationID string
	projects       []client.Credentials
}

// create makes the installation with an earlier program.
func (h *history) create(t *testing.T, binary string) {
	t.Helper()
	o := options(h.Database, binary)
	server := parleytest.Start(t, o)
	f, err := quickstart.Read(h.Dir)
	if err != nil {
		t.Fatal(err)
	}
	h.organizationID = f.OrganizationID
	create := o.Command("project", "create", "--org", f.OrganizationID, "--name", "Second", "--json",
		"--data-dir", h.Dir, "--url", server.URL)
	var stderr bytes.Buffer
	create.Stderr = &stderr
	out, err := create.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", create, err, &stderr)
	}
	var second client.Credentials
	if err := json.Unmarshal(out, &second); err != nil {
		t.Fatal(err)
	}
	h.projects = []client.Credentials{
		{ProjectID: f.ProjectID, ProjectSecret: f.ProjectSecret, APIKey: f.APIKey, GatewaySecret: f.GatewaySecret},
		second,
	}
	if err := server.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, server.Log)
	}
}

// fill adds meetings as the early program has stored them. It removes the progress of the rollups, so that the program
// rolls up these meetings at its next start.
func (h *history) fill(t *testing.T, meetings int) {
	t.Helper()
	raw := h.Raw(t)
	defer func() { _ = raw.Close() }()
	step := (time.Since(h.begin) - 2*time.Hour) / time.Duration(meetings)
	err := filltest.MeetingsWithoutRollups(t.Context(), raw,
		[]string{h.projects[0].ProjectID, h.projects[1].ProjectID}, meetings, h.begin, step)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		`UPDATE attendance SET project_id = (SELECT project_id FROM rooms WHERE id = room_id),
			room_type = (SELECT type FROM rooms WHERE id = room_id)`,
		`UPDATE sessions SET project_id = (SELECT project_id FROM rooms WHERE id = room_id)`,
		`DELETE FROM usage_progress`,
	} {
		if _, err := raw.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

func (h *history) clients(t *testing.T, url string) (clients []*client.Client) {
	t.Helper()
	for _, credentials := range h.projects {
		clients = append(clients, newClient(t, url, credentials))
	}
	return clients
}

// await waits until a query returns true.
func (h *history) await(t *testing.T, query string, args ...any) {
	t.Helper()
	raw := h.Raw(t)
	defer func() { _ = raw.Close() }()
	testkit.EventuallyWithin(t, historyTimeout, query, func() bool {
		var done sql.NullBool
		err := raw.QueryRowContext(t.Context(), query, args...).Scan(&done)
		return err == nil && done.Bool
	})
}

// answers are what the API says about the meetings of each project.
type answers struct {
	Past      [][]client.PastRoom
	Events    map[string][]client.RoomEvent // by ID of the room
	Analytics map[string]client.Analytics   // by ID of the room
	Keys      []client.CurrentKey
}

type result struct {
	answers
	usage *client.Usage // of the organization
}

// read reads all past rooms, and the events and the attendance of some.
func (h *history) read(t *testing.T, url string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), historyTimeout)
	defer cancel()
	all := result{answers: answers{Events: map[string][]client.RoomEvent{}, Analytics: map[string]client.Analytics{}}}
	for _, c := range h.clients(t, url) {
		var past []client.PastRoom
		for r, err := range c.AllPastRooms(ctx, client.PastRoomsRequest{Limit: 100}) {
			if err != nil {
				t.Fatal(err)
			}
			past = append(past, r)
		}
		all.Past = append(all.Past, past)
		for i := 0; i < len(past); i += max(1, len(past)/comparedRooms) {
			id := past[i].RoomID
			for e, err := range c.RoomEvents(ctx, id, 0) {
				if err != nil {
					t.Fatal(err)
				}
				all.Events[id] = append(all.Events[id], e)
			}
			a, err := c.Analytics(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			a.AsOf = time.Time{}
			if len(a.Reported) == 0 {
				a.Reported = nil // the early program does not send the empty list
			}
			all.Analytics[id] = *a
		}
		keys, err := c.Keys(ctx)
		if err != nil {
			t.Fatal(err)
		}
		keys.Current.LastUsedAt = nil // reading the keys is a use
		all.Keys = append(all.Keys, keys.Current)
		if all.usage, err = c.Usage(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// requireUsage compares what the API says about this month with the rows.
func requireUsage(t *testing.T, when string, got *client.Usage, rows *storetest.RawUsage) {
	t.Helper()
	minutes := func(millis int64) float64 { return math.Floor(float64(millis)/600+0.5) / 100 }
	sum := rows.Totals("", got.Period.Start, got.AsOf)
	want := client.UsageTotals{
		ParticipantMinutes:         minutes(sum.AudioMillis + sum.VideoMillis),
		AudioParticipantMinutes:    minutes(sum.AudioMillis),
		VideoParticipantMinutes:    minutes(sum.VideoMillis),
		RoomsCreated:               sum.RoomsCreated,
		Sessions:                   sum.Sessions,
		PeakConcurrentParticipants: sum.Peak,
	}
	if diff := cmp.Diff(want, got.Totals); diff != "" {
		t.Errorf("usage of the month %s (-rows +API):\n%s", when, diff)
	}
}

// requireUsageByDay compares the usage until a time with the rows: of the organization and of each project, on each day
// and in total. No server may run.
func (h *history) requireUsageByDay(t *testing.T, rows *storetest.RawUsage, until time.Time) {
	t.Helper()
	s, err := store.Open(t.Context(), h.URL, h.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	service := usage.NewService(s, usage.NoProvider{}, func() time.Time { return until })
	projects := []string{h.projects[0].ProjectID, h.projects[1].ProjectID}
	if err := rows.Compare(t.Context(), service, h.organizationID, projects, h.begin, until); err != nil {
		t.Error(err)
	}
}
