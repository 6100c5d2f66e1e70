package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/webhook"
)

const hook = "https://example.org/hook"

// stream is one that is in nobody else's way: its lane is its own.
func (s *suite) stream(roomID string) webhook.Stream {
	return webhook.Stream{ID: NewID(), ProjectID: s.project.ID, RoomID: roomID, URL: hook, Lane: "lane of " + NewID(), Enqueued: 1, LastSequence: 1}
}

func (s *suite) delivery(st webhook.Stream, position int64) webhook.Delivery {
	return webhook.Delivery{ID: NewID(), StreamID: st.ID, Position: position, EventID: NewID(), ProjectID: st.ProjectID, RoomID: st.RoomID, URL: st.URL,
		Type: event.RoomOpened, Sequence: position + 1, Previous: position, Body: texts[0], State: webhook.Pending, CreatedAt: moment(int(position))}
}

// claimed claims what is due in a lane, as one does who says so.
func (s *suite) claimed(t *testing.T, lane, claim string, n int, now, until time.Time) (got []webhook.Stream) {
	t.Helper()
	s.write(t, func(ctx context.Context) (err error) {
		got, err = s.db.Claim(ctx, lane, n, claim, now, until)
		return err
	})
	return got
}

func (s *suite) due(t *testing.T, lane string, now time.Time) bool {
	t.Helper()
	lanes, err := s.db.DueLanes(context.Background(), now)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(lanes, lane)
}

// What is due is claimed once, until the claim ends; a release makes it due
// again when there is more, and only for who has the claim.
func (s *suite) TestWebhookClaims(t *testing.T) {
	ctx := context.Background()
	st := s.stream(NewID())
	s.write(t, func(ctx context.Context) error { return s.db.InsertStream(ctx, st, moment(10)) })
	known, err := s.db.Streams(ctx, s.project.ID, st.RoomID)
	same(t, known, err, []webhook.Stream{st})
	if s.due(t, st.Lane, moment(9)) || len(s.claimed(t, st.Lane, "early", 5, moment(9), moment(40))) > 0 {
		t.Error("due before its time")
	}
	if !s.due(t, st.Lane, moment(10)) {
		t.Error("not due at its time")
	}
	want := st
	want.Claim = "first"
	same(t, s.claimed(t, st.Lane, "first", 5, moment(10), moment(40)), nil, []webhook.Stream{want})
	if s.due(t, st.Lane, moment(39)) || len(s.claimed(t, st.Lane, "second", 5, moment(39), moment(70))) > 0 {
		t.Error("claimed twice")
	}
	want.Claim = "second"
	same(t, s.claimed(t, st.Lane, "second", 5, moment(40), moment(70)), nil, []webhook.Stream{want})
	lost := st
	lost.Claim = "first"
	refused(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.Release(ctx, lost, moment(50), moment(41)) }), fault.Conflict, "claim_lost")

	// Nothing was added since it was claimed.
	release := func(claimed webhook.Stream, due time.Time, now int) {
		t.Helper()
		s.write(t, func(ctx context.Context) error { return s.db.Release(ctx, claimed, due, moment(now)) })
	}
	release(want, time.Time{}, 42)
	if s.due(t, st.Lane, moment(1000)) {
		t.Error("due with nothing to do")
	}
	extend := func(n int64, now int) {
		st.Enqueued, st.LastSequence = n, n+1
		s.write(t, func(ctx context.Context) error { return s.db.ExtendStream(ctx, st, moment(now)) })
	}
	extend(2, 50)
	if s.due(t, st.Lane, moment(49)) || !s.due(t, st.Lane, moment(50)) {
		t.Error("not due when something was added")
	}
	// Something is added while it is claimed.
	third := s.claimed(t, st.Lane, "third", 5, moment(50), moment(80))
	if len(third) != 1 || third[0].Enqueued != 2 || third[0].LastSequence != 3 {
		t.Fatal(third)
	}
	extend(3, 51)
	if s.due(t, st.Lane, moment(79)) {
		t.Error("what is added breaks a claim")
	}
	release(third[0], time.Time{}, 55)
	if s.due(t, st.Lane, moment(54)) || !s.due(t, st.Lane, moment(55)) {
		t.Error("what was added meanwhile is forgotten")
	}
	fourth := s.claimed(t, st.Lane, "fourth", 5, moment(55), moment(85))
	release(fourth[0], moment(60), 56)
	if s.due(t, st.Lane, moment(59)) || !s.due(t, st.Lane, moment(60)) {
		t.Error("not due when it was to be")
	}
}

// The longest due of a lane come first, and no more than asked for.
func (s *suite) TestWebhookClaimOrder(t *testing.T) {
	lane := "lane of " + NewID()
	var ids []string
	for i := range 3 {
		st := s.stream(NewID())
		st.Lane = lane
		ids = append(ids, st.ID)
		s.write(t, func(ctx context.Context) error { return s.db.InsertStream(ctx, st, moment(3-i)) })
	}
	var got []string
	for _, st := range s.claimed(t, lane, "claim", 2, moment(5), moment(40)) {
		got = append(got, st.ID)
	}
	slices.Sort(got)
	same(t, got, nil, []string{ids[1], ids[2]})
}

// Of many who claim at once, each stream has one.
func (s *suite) TestWebhookClaimsAtOnce(t *testing.T) {
	lane := "lane of " + NewID()
	for range 20 {
		st := s.stream(NewID())
		st.Lane = lane
		s.write(t, func(ctx context.Context) error { return s.db.InsertStream(ctx, st, moment(0)) })
	}
	var mu sync.Mutex
	seen := map[string]int{}
	var work sync.WaitGroup
	for i := range 16 {
		work.Go(func() {
			for _, st := range s.claimed(t, lane, fmt.Sprint(i), 3, moment(1), moment(40)) {
				mu.Lock()
				seen[st.ID]++
				mu.Unlock()
			}
		})
	}
	work.Wait()
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was claimed %d times", id, n)
		}
	}
}

func (s *suite) TestWebhookDeliveries(t *testing.T) {
	ctx := context.Background()
	st := s.stream(NewID())
	first, second := s.delivery(st, 1), s.delivery(st, 2)
	second.Type, second.Replay = event.RoomEnded, true
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertDelivery(ctx, second); err != nil {
			return err
		}
		return s.db.InsertDelivery(ctx, first)
	})
	got, _, err := s.db.Head(ctx, st.ID)
	same(t, got, err, first)
	attempts := []webhook.Attempt{{N: 1, At: moment(5), Duration: 15 * time.Second, Error: texts[2]}, {N: 2, At: moment(9), Duration: time.Millisecond, Status: 204, Answer: texts[3]}}
	for i, a := range attempts {
		first.Attempts, first.Step = i+1, i+1
		if i == 1 {
			first.State, first.DoneAt = webhook.Delivered, moment(9)
		}
		s.write(t, func(ctx context.Context) error { return s.db.RecordAttempt(ctx, first, a) })
	}
	got, err = s.db.Delivery(ctx, first.ID)
	same(t, got, err, first)
	kept, err := s.db.Attempts(ctx, first.ID)
	same(t, kept, err, attempts)
	got, _, err = s.db.Head(ctx, st.ID)
	same(t, got, err, second)
	_, _, err = s.db.Head(ctx, NewID())
	refused(t, err, fault.NotFound, "delivery_not_found")
	_, err = s.db.Delivery(ctx, NewID())
	refused(t, err, fault.NotFound, "delivery_not_found")

	room := webhook.Filter{RoomID: st.RoomID, Limit: 10}
	for what, tc := range map[string]struct {
		change func(*webhook.Filter)
		want   []webhook.Delivery
	}{
		"all":       {func(*webhook.Filter) {}, []webhook.Delivery{second, first}},
		"oldest":    {func(f *webhook.Filter) { f.OldestFirst = true }, []webhook.Delivery{first, second}},
		"project":   {func(f *webhook.Filter) { f.ProjectID = NewID() }, nil},
		"event":     {func(f *webhook.Filter) { f.EventID = first.EventID }, []webhook.Delivery{first}},
		"url":       {func(f *webhook.Filter) { f.URL = hook + "/other" }, nil},
		"type":      {func(f *webhook.Filter) { f.Type = event.RoomEnded }, []webhook.Delivery{second}},
		"state":     {func(f *webhook.Filter) { f.State = webhook.Delivered }, []webhook.Delivery{first}},
		"since":     {func(f *webhook.Filter) { f.Since = moment(2) }, []webhook.Delivery{second}},
		"before":    {func(f *webhook.Filter) { f.Before = moment(2) }, []webhook.Delivery{first}},
		"cursor":    {func(f *webhook.Filter) { f.Cursor = second.ID }, []webhook.Delivery{first}},
		"limit":     {func(f *webhook.Filter) { f.Limit = 1 }, []webhook.Delivery{second}},
		"sent":      {func(f *webhook.Filter) { f.Sent = true }, []webhook.Delivery{first}},
		"from then": {func(f *webhook.Filter) { f.OldestFirst, f.Cursor = true, first.ID }, []webhook.Delivery{second}},
	} {
		f := room
		tc.change(&f)
		got, err := s.db.Deliveries(ctx, f)
		if err != nil || len(got) != len(tc.want) {
			t.Errorf("%s: %+v %v", what, got, err)
			continue
		}
		same(t, got, err, tc.want)
	}
}

func (s *suite) TestWebhookTargets(t *testing.T) {
	ctx := context.Background()
	url := hook + "/" + NewID()
	known, err := s.db.Target(ctx, s.project.ID, url)
	same(t, known, err, webhook.Target{})
	fail := func(at int) (got webhook.Target) {
		t.Helper()
		s.write(t, func(ctx context.Context) (err error) {
			got, err = s.db.TargetFailed(ctx, s.project.ID, url, moment(at))
			return err
		})
		return got
	}
	want := webhook.Target{ProjectID: s.project.ID, URL: url, Failures: 1, FailingSince: moment(1)}
	same(t, fail(1), nil, want)
	want.Failures = 2
	same(t, fail(2), nil, want)
	want.PausedAt, want.ProbeAt, want.Notice = moment(3), moment(10), texts[0]
	s.write(t, func(ctx context.Context) error { return s.db.PauseTarget(ctx, want) })
	known, err = s.db.Target(ctx, s.project.ID, url)
	same(t, known, err, want)
	for _, of := range []string{s.project.ID, ""} {
		all, err := s.db.Targets(ctx, of)
		if i := slices.IndexFunc(all, func(t webhook.Target) bool { return t.URL == url }); err != nil || i < 0 {
			t.Errorf("%v %v", all, err)
		} else {
			same(t, all[i], nil, want)
		}
	}

	probe := func(now, next int) (turn bool) {
		t.Helper()
		s.write(t, func(ctx context.Context) (err error) {
			turn, err = s.db.Probe(ctx, s.project.ID, url, moment(now), moment(next))
			return err
		})
		return turn
	}
	if probe(9, 19) || !probe(10, 20) || probe(10, 20) {
		t.Error("a probe is not one turn at its time")
	}

	// What is due waits; what is claimed, or was postponed, does not move
	// until the target takes webhooks again.
	waiting, busy := s.stream(NewID()), s.stream(NewID())
	waiting.URL, busy.URL = url, url
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertStream(ctx, waiting, moment(0)); err != nil {
			return err
		}
		if err := s.db.InsertStream(ctx, busy, moment(0)); err != nil {
			return err
		}
		return s.db.InsertDelivery(ctx, s.delivery(waiting, 1))
	})
	want.ProbeAt = moment(20)
	_, held, err := s.db.Head(ctx, waiting.ID)
	same(t, held, err, want)
	s.claimed(t, busy.Lane, "busy", 1, moment(11), moment(41))
	s.write(t, func(ctx context.Context) error { return s.db.Postpone(ctx, s.project.ID, url, moment(11), moment(20)) })
	if s.due(t, waiting.Lane, moment(19)) || !s.due(t, waiting.Lane, moment(20)) || s.due(t, busy.Lane, moment(40)) {
		t.Error("not postponed")
	}
	s.write(t, func(ctx context.Context) error { return s.db.ClearTarget(ctx, s.project.ID, url, moment(12)) })
	known, err = s.db.Target(ctx, s.project.ID, url)
	same(t, known, err, webhook.Target{})
	_, held, err = s.db.Head(ctx, waiting.ID)
	same(t, held, err, webhook.Target{})
	if !s.due(t, waiting.Lane, moment(12)) || s.due(t, busy.Lane, moment(40)) {
		t.Error("what waits is not due")
	}
}

func (s *suite) TestWebhookPruning(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	own := suite{open: s.open, db: db, project: Project(t, db)}
	over, going := own.insert(t, Room(own.project.ID)), own.insert(t, Room(own.project.ID))
	over.EndedAt = moment(1)
	var streams []webhook.Stream
	var deliveries []webhook.Delivery
	own.write(t, func(ctx context.Context) error {
		streams, deliveries = nil, nil
		if err := db.UpdateRoom(ctx, over); err != nil {
			return err
		}
		for i, roomID := range []string{over.ID, going.ID, ""} {
			st := own.stream(roomID)
			d := own.delivery(st, int64(i))
			streams, deliveries = append(streams, st), append(deliveries, d)
			if err := db.InsertStream(ctx, st, moment(1)); err != nil {
				return err
			}
			if err := db.InsertDelivery(ctx, d); err != nil {
				return err
			}
			if err := db.RecordAttempt(ctx, d, webhook.Attempt{N: 1, At: moment(0)}); err != nil {
				return err
			}
		}
		return nil
	})
	prune := func(before, limit int) (n int) {
		t.Helper()
		own.write(t, func(ctx context.Context) (err error) {
			if n, err = db.PruneDeliveries(ctx, moment(before), limit); err != nil {
				return err
			}
			return db.PruneStreams(ctx, moment(before), limit)
		})
		return n
	}
	if n := prune(1, 10); n != 1 {
		t.Errorf("%d pruned", n)
	}
	if attempts, err := db.Attempts(ctx, deliveries[0].ID); err != nil || len(attempts) != 0 {
		t.Error(attempts, err)
	}
	if n := prune(100, 1); n != 1 {
		t.Errorf("%d pruned with a limit of 1", n)
	}
	left, err := db.Deliveries(ctx, webhook.Filter{Limit: 10})
	same(t, left, err, deliveries[2:])
	has := func(roomID string) bool {
		all, err := db.Streams(ctx, own.project.ID, roomID)
		if err != nil {
			t.Fatal(err)
		}
		return len(all) == 1
	}
	if !has(over.ID) {
		t.Error("a stream that is due was pruned")
	}
	for _, st := range streams {
		for _, claimed := range own.claimed(t, st.Lane, "claim", 1, moment(2), moment(30)) {
			own.write(t, func(ctx context.Context) error { return db.Release(ctx, claimed, time.Time{}, moment(2)) })
		}
	}
	if prune(1, 10); !has(over.ID) {
		t.Error("a stream was pruned before its time")
	}
	if prune(100, 10); has(over.ID) || !has(going.ID) || !has("") {
		t.Error("the streams of rooms that are over go, and no others")
	}
}

// Marks are told to nobody, and counted over: what comes before an event is
// found before the page it is on, too.
func (s *suite) TestTold(t *testing.T) {
	ctx := context.Background()
	r, other := s.insert(t, Room(s.project.ID)), s.insert(t, Room(s.project.ID))
	var want []webhook.Told
	previous := int64(0)
	for i, kind := range []event.Type{event.AttendanceMarked, event.RoomOpened, event.AttendanceMarked, event.AttendanceMarked, event.RoomStarted, event.RoomEnded, event.AttendanceMarked} {
		e := event.Event{ID: NewID(), Type: kind, ProjectID: s.project.ID, RoomID: r.ID, Sequence: int64(i + 1), At: moment(i), Data: event.Data{RoomID: r.ID, RoomType: "video"}}
		if kind != event.AttendanceMarked {
			want = append(want, webhook.Told{Event: e, Previous: previous})
			previous = e.Sequence
		}
		elsewhere := e
		elsewhere.ID, elsewhere.RoomID = NewID(), other.ID
		s.write(t, func(ctx context.Context) error { return s.db.AppendEvents(ctx, []event.Event{e, elsewhere}) })
	}
	for _, c := range []struct {
		after int64
		limit int
		want  []webhook.Told
	}{{0, 10, want}, {0, 1, want[:1]}, {1, 2, want[:2]}, {2, 2, want[1:]}, {3, 1, want[1:2]}, {4, 2, want[1:]}, {5, 10, want[2:]}, {6, 10, nil}, {7, 10, nil}, {1 << 52, 10, nil}} {
		got, err := s.db.Told(ctx, r.ID, c.after, c.limit)
		same(t, got, err, c.want)
	}
	got, err := s.db.Told(ctx, NewID(), 0, 10)
	same(t, got, err, nil)
}

func (s *suite) TestProjectEvents(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	p := Project(t, db)
	n, err := db.ProjectSequence(ctx, p.ID)
	same(t, n, err, 0)
	yes, ends := true, moment(60)
	want := []event.OfProject{
		{ID: NewID(), Type: event.ProjectStatusChanged, ProjectID: p.ID, Sequence: 1, At: moment(1), Data: event.ProjectData{Status: "active", Suspended: &yes}},
		{ID: NewID(), Type: event.KeyRotated, ProjectID: p.ID, Sequence: 2, At: moment(2), Data: event.ProjectData{Credential: event.CredentialKey, OverlapEndsAt: &ends}},
	}
	for _, e := range want {
		if err := db.Write(ctx, func(ctx context.Context) error { return db.AppendProjectEvent(ctx, e) }); err != nil {
			t.Fatal(err)
		}
	}
	n, err = db.ProjectSequence(ctx, p.ID)
	same(t, n, err, 2)
	got, err := db.ProjectEvents(ctx, p.ID, 0)
	same(t, got, err, want)
	got, err = db.ProjectEvents(ctx, p.ID, 1)
	same(t, got, err, want[1:])
	twice := want[0]
	twice.ID = NewID()
	broken(t, db.Write(ctx, func(ctx context.Context) error { return db.AppendProjectEvent(ctx, twice) }))
}

// An overlap is told of once, while it goes on.
func (s *suite) TestNotices(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	p := Project(t, db)
	keys, err := db.APIKeys(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	k := keys[0]
	k.Slot, k.RetiringSince, k.OverlapEndsAt = key.Overlap, moment(0), moment(7200)
	secrets, err := db.ProjectSecrets(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	secret := secrets[0]
	secret.Slot, secret.RetiringSince, secret.OverlapEndsAt = key.Overlap, moment(0), moment(100)
	s2 := suite{db: db}
	s2.write(t, func(ctx context.Context) error {
		if err := db.MoveAPIKey(ctx, k, moment(0)); err != nil {
			return err
		}
		return db.MoveProjectSecret(ctx, secret, moment(0))
	})
	take := func(at int) (got []key.Notice) {
		t.Helper()
		s2.write(t, func(ctx context.Context) (err error) {
			got, err = db.TakeNotices(ctx, p.ID, moment(at))
			return err
		})
		return got
	}
	none, err := db.NoticesDue(ctx, moment(49))
	same(t, none, err, nil)
	due, err := db.NoticesDue(ctx, moment(50))
	same(t, due, err, []string{p.ID})
	same(t, take(50), nil, []key.Notice{{Credential: event.CredentialSecret, EndsAt: moment(100)}})
	same(t, take(50), nil, nil)
	due, err = db.NoticesDue(ctx, moment(3600))
	same(t, due, err, []string{p.ID})
	none, err = db.NoticesDue(ctx, moment(7200)) // it is over
	same(t, none, err, nil)
	same(t, take(3600), nil, []key.Notice{{Credential: event.CredentialKey, EndsAt: moment(7200)}})
}
