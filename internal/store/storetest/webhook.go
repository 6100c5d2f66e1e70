package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/validate"
	"parley/internal/webhook"
)

const hookURL = "https://example.org/hook"

func (s *suite) newDelivery(st webhook.Stream, position int64) webhook.Delivery {
	return webhook.Delivery{
		ID:        NewID(),
		StreamID:  st.ID,
		Position:  position,
		EventID:   NewID(),
		ProjectID: st.ProjectID,
		RoomID:    st.RoomID,
		URL:       st.URL,
		Type:      event.RoomOpened,
		Sequence:  position + 1,
		Previous:  position,
		Body:      trickyTexts[0],
		State:     webhook.Pending,
		CreatedAt: testTime(int(position)),
	}
}

func (s *suite) testWebhookDeliveries(t *testing.T) {
	ctx := patient()
	st := s.newStream(NewID())
	first, second := s.newDelivery(st, 1), s.newDelivery(st, 2)
	second.Type, second.Replay = event.RoomEnded, true
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertDelivery(ctx, second); err != nil {
			return err
		}
		return s.db.InsertDelivery(ctx, first)
	})
	got, _, err := s.db.NextDelivery(ctx, st.ID)
	requireEqual(t, got, err, first)
	attempts := []webhook.Attempt{
		{N: 1, At: testTime(5), Duration: 15 * time.Second, Error: trickyTexts[2]},
		{N: 2, At: testTime(9), Duration: time.Millisecond, Status: 204, ResponseBody: trickyTexts[3]},
	}
	for i, a := range attempts {
		first.Attempts, first.Step = i+1, i+1
		if i == 1 {
			first.State, first.DoneAt = webhook.Delivered, testTime(9)
		}
		s.write(t, func(ctx context.Context) error { return s.db.RecordAttempt(ctx, first, a) })
	}
	got, err = s.db.Delivery(ctx, first.ID)
	requireEqual(t, got, err, first)
	stored, err := s.db.Attempts(ctx, first.ID)
	requireEqual(t, stored, err, attempts)
	statuses, err := s.db.LastStatuses(ctx, []string{first.ID, second.ID, NewID()})
	requireEqual(t, statuses, err, map[string]int{first.ID: 204})
	statuses, err = s.db.LastStatuses(ctx, nil)
	requireEqual(t, statuses, err, map[string]int{})
	got, _, err = s.db.NextDelivery(ctx, st.ID)
	requireEqual(t, got, err, second)
	_, _, err = s.db.NextDelivery(ctx, NewID())
	requireFault(t, err, fault.NotFound, "delivery_not_found")
	_, err = s.db.Delivery(ctx, NewID())
	requireFault(t, err, fault.NotFound, "delivery_not_found")

	bodies, err := s.db.DeliveryBodies(ctx, []string{second.ID, NewID(), first.ID})
	requireEqual(t, bodies, err, map[string]string{first.ID: first.Body, second.ID: second.Body})
	bodies, err = s.db.DeliveryBodies(ctx, nil)
	requireEqual(t, bodies, err, map[string]string{})

	room := webhook.Filter{RoomID: st.RoomID, Limit: 10}
	for name, tc := range map[string]struct {
		change func(*webhook.Filter)
		want   []webhook.Delivery
	}{
		"all":         {func(*webhook.Filter) {}, []webhook.Delivery{second, first}},
		"oldest":      {func(f *webhook.Filter) { f.OldestFirst = true }, []webhook.Delivery{first, second}},
		"project":     {func(f *webhook.Filter) { f.ProjectID = NewID() }, nil},
		"event":       {func(f *webhook.Filter) { f.EventID = first.EventID }, []webhook.Delivery{first}},
		"state":       {func(f *webhook.Filter) { f.State = webhook.Delivered }, []webhook.Delivery{first}},
		"since":       {func(f *webhook.Filter) { f.Since = testTime(2) }, []webhook.Delivery{second}},
		"before":      {func(f *webhook.Filter) { f.Before = testTime(2) }, []webhook.Delivery{first}},
		"cursor":      {func(f *webhook.Filter) { f.Cursor = second.ID }, []webhook.Delivery{first}},
		"limit":       {func(f *webhook.Filter) { f.Limit = 1 }, []webhook.Delivery{second}},
		"next oldest": {func(f *webhook.Filter) { f.OldestFirst, f.Cursor = true, first.ID }, []webhook.Delivery{second}},
	} {
		f := room
		tc.change(&f)
		got, err := s.db.Deliveries(ctx, f)
		if err != nil || len(got) != len(tc.want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, tc.want)
			continue
		}
		requireEqual(t, got, err, tc.want)
	}
	states := map[webhook.State][]webhook.Delivery{"": {second, first}, webhook.Pending: {second},
		webhook.Delivered: {first}, webhook.Failed: nil}
	for state, all := range states {
		for _, f := range []webhook.Filter{
			{RoomID: st.RoomID}, {RoomID: st.RoomID, ProjectID: s.project.ID}, {EventID: second.EventID},
			{EventID: second.EventID, ProjectID: s.project.ID}, {ProjectID: s.project.ID}, {},
		} {
			f.State, f.Limit = state, 1000
			got, err := s.db.Deliveries(ctx, f)
			var ours []webhook.Delivery // of all that match; other tests have deliveries too
			for _, d := range got {
				if d.RoomID == st.RoomID {
					ours = append(ours, d)
				}
			}
			want := all
			if f.EventID != "" {
				want = slices.DeleteFunc(slices.Clone(all), func(d webhook.Delivery) bool { return d.EventID != f.EventID })
			}
			diff := cmp.Diff(want, ours, Exact)
			if err != nil || len(ours)+len(want) > 0 && diff != "" {
				t.Errorf("%+v: error %v, deliveries (-want +got):\n%s", f, err, diff)
			}
		}
	}
}

// A person was erased while an attempt ran: the response may contain what was erased, so it is not stored.
func (s *suite) testRecordAttempt_Erased(t *testing.T) {
	ctx := patient()
	d := s.newDelivery(s.newStream(NewID()), 1)
	s.write(t, func(ctx context.Context) error { return s.db.InsertDelivery(ctx, d) })
	s.write(t, func(ctx context.Context) error { return s.db.EraseDelivery(ctx, d.ID, "{}") })
	d.Attempts, d.State, d.DoneAt = 1, webhook.Delivered, testTime(9)
	a := webhook.Attempt{N: 1, At: testTime(5), Status: 200, ResponseBody: d.Body}
	s.write(t, func(ctx context.Context) error { return s.db.RecordAttempt(ctx, d, a) })
	a.ResponseBody = ""
	stored, err := s.db.Attempts(ctx, d.ID)
	requireEqual(t, stored, err, []webhook.Attempt{a})
	d.Body = "{}"
	got, err := s.db.Delivery(ctx, d.ID)
	requireEqual(t, got, err, d)
}

// An attempt whose delivery was deleted while it ran does not fail, so that the rest of its transaction is stored.
func (s *suite) testRecordAttempt_Deleted(t *testing.T) {
	ctx := patient()
	d := s.newDelivery(s.newStream(NewID()), 1)
	s.write(t, func(ctx context.Context) error {
		return s.db.RecordAttempt(ctx, d, webhook.Attempt{N: 1, At: testTime(5), Status: 200})
	})
	stored, err := s.db.Attempts(ctx, d.ID)
	requireEqual(t, stored, err, nil)
	_, err = s.db.Delivery(ctx, d.ID)
	requireFault(t, err, fault.NotFound, "delivery_not_found")
}

// Deliveries of a period of a project are found also if their IDs are of a later time, as after the clock
// was set back.
func (s *suite) testWebhookDeliveries_ClockSetBack(t *testing.T) {
	p, now := Project(t, s.db), time.Now().UTC().Truncate(time.Millisecond)
	st := s.newStream(NewID())
	st.ProjectID = p.ID
	set, later := s.newDelivery(st, 1), s.newDelivery(st, 2)
	set.CreatedAt, later.CreatedAt = now.Add(-3*time.Hour), now // both have IDs of now
	s.write(t, func(ctx context.Context) error {
		return errors.Join(s.db.InsertDelivery(ctx, set), s.db.InsertDelivery(ctx, later))
	})
	for _, oldestFirst := range []bool{false, true} {
		got, err := s.db.Deliveries(context.Background(), webhook.Filter{
			ProjectID:   p.ID,
			Since:       now.Add(-4 * time.Hour),
			Before:      now.Add(-2 * time.Hour),
			Limit:       10,
			OldestFirst: oldestFirst,
		})
		requireEqual(t, got, err, []webhook.Delivery{set})
	}
}

// The other tests of the suite run at the same time, so the deliveries of this one are older
// than theirs.
func (s *suite) testWebhookBacklog(t *testing.T) {
	early := testTime(-1_000_000)
	st := s.newStream(NewID())
	deliveries := []webhook.Delivery{s.newDelivery(st, 1), s.newDelivery(st, 2), s.newDelivery(st, 3)}
	deliveries[0].State, deliveries[0].CreatedAt = webhook.Delivered, early.Add(-time.Hour)
	deliveries[1].CreatedAt = early
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertStream(ctx, st, early); err != nil {
			return err
		}
		for _, d := range deliveries {
			if err := s.db.InsertDelivery(ctx, d); err != nil {
				return err
			}
		}
		target, err := s.db.RecordTargetFailure(ctx, s.project.ID, "https://paused.example.org/"+st.ID, early)
		if err != nil {
			return err
		}
		target.PausedAt = early
		return s.db.PauseTarget(ctx, target)
	})
	got, err := s.db.WebhookBacklog(patient(), 10_000)
	if err != nil || got.Pending < 2 || got.PausedTargets < 1 {
		t.Errorf("backlog: got %+v, %v, want at least 2 pending deliveries and 1 paused target", got, err)
	}
	if !got.OldestPending.Equal(early) || !got.NextAttempt.Equal(early) {
		t.Errorf("backlog: got the oldest delivery of %v and the next attempt at %v, want %v for both",
			got.OldestPending, got.NextAttempt, early)
	}
	if got, err := s.db.WebhookBacklog(patient(), 1); err != nil || got.Pending != 1 {
		t.Errorf("backlog with a limit of 1: got %d pending, %v, want 1", got.Pending, err)
	}
}

func (s *suite) testWebhookTargets(t *testing.T) {
	ctx := patient()
	url := hookURL + "/" + NewID()
	known, err := s.db.Target(ctx, s.project.ID, url)
	requireEqual(t, known, err, webhook.Target{})
	fail := func(at int) (got webhook.Target) {
		t.Helper()
		s.write(t, func(ctx context.Context) (err error) {
			got, err = s.db.RecordTargetFailure(ctx, s.project.ID, url, testTime(at))
			return err
		})
		return got
	}
	want := webhook.Target{ProjectID: s.project.ID, URL: url, Failures: 1, FailingSince: testTime(1)}
	requireEqual(t, fail(1), nil, want)
	want.Failures = 2
	requireEqual(t, fail(2), nil, want)
	want.PausedAt, want.ProbeAt, want.Notice = testTime(3), testTime(10), trickyTexts[0]
	s.write(t, func(ctx context.Context) error { return s.db.PauseTarget(ctx, want) })
	known, err = s.db.Target(ctx, s.project.ID, url)
	requireEqual(t, known, err, want)
	for _, projectID := range []string{s.project.ID, ""} {
		all, err := s.db.Targets(ctx, projectID)
		i := slices.IndexFunc(all, func(t webhook.Target) bool { return t.URL == url })
		if err != nil || i < 0 {
			t.Errorf("Targets(%q): got %v, %v, want one with URL %s", projectID, all, err, url)
		} else {
			requireEqual(t, all[i], nil, want)
		}
	}

	probe := func(now, next int) (acquired bool) {
		t.Helper()
		s.write(t, func(ctx context.Context) (err error) {
			acquired, err = s.db.AcquireProbe(ctx, s.project.ID, url, testTime(now), testTime(next))
			return err
		})
		return acquired
	}
	if early, due, again := probe(9, 19), probe(10, 20), probe(10, 20); early || !due || again {
		t.Errorf("AcquireProbe at 9, 10, 10: got %v, %v, %v, want false, true, false", early, due, again)
	}

	// Postpone delays a stream that is due and does not change one that is
	// leased. ClearTarget makes the delayed stream due again.
	waiting, busy := s.newStream(NewID()), s.newStream(NewID())
	waiting.URL, busy.URL = url, url
	s.write(t, func(ctx context.Context) error {
		if err := s.db.InsertStream(ctx, waiting, testTime(0)); err != nil {
			return err
		}
		if err := s.db.InsertStream(ctx, busy, testTime(0)); err != nil {
			return err
		}
		return s.db.InsertDelivery(ctx, s.newDelivery(waiting, 1))
	})
	want.ProbeAt = testTime(20)
	_, held, err := s.db.NextDelivery(ctx, waiting.ID)
	requireEqual(t, held, err, want)
	s.leaseStreams(t, busy.Bucket, "busy", 1, testTime(11), testTime(41))
	s.write(t, func(ctx context.Context) error {
		return s.db.Postpone(ctx, s.project.ID, url, testTime(11), testTime(20))
	})
	early, due := s.isDue(t, waiting.Bucket, testTime(19)), s.isDue(t, waiting.Bucket, testTime(20))
	if leased := s.isDue(t, busy.Bucket, testTime(40)); early || !due || leased {
		t.Errorf("waiting stream due at 19 and 20, leased stream due: got %v, %v, %v, want false, true, false",
			early, due, leased)
	}

	// RetryStreams makes the delayed stream due too, and does not change the leased one.
	checkStates := func(waitingDue time.Time) {
		t.Helper()
		got, err := s.db.StreamStates(ctx, []string{waiting.ID, busy.ID, NewID()})
		requireEqual(t, got, err, map[string]webhook.StreamState{
			waiting.ID: {DueAt: waitingDue, Paused: true, FirstPending: 1},
			busy.ID:    {DueAt: testTime(41), Paused: true, Leased: true},
		})
	}
	checkStates(testTime(20))
	pending := webhook.PendingStream{ID: waiting.ID, ProjectID: s.project.ID, URL: url, Deliveries: 1}
	created := s.newDelivery(waiting, 1).CreatedAt
	for _, tc := range []struct {
		q    webhook.Retry
		want []webhook.PendingStream
	}{
		{webhook.Retry{ProjectID: s.project.ID, URL: url}, []webhook.PendingStream{pending}},
		{webhook.Retry{URL: url, Since: created, Before: created.Add(time.Second)}, []webhook.PendingStream{pending}},
		{webhook.Retry{URL: url, Since: created.Add(time.Second)}, nil},
		{webhook.Retry{URL: url, Before: created}, nil},
		{webhook.Retry{ProjectID: NewID()}, nil},
	} {
		got, err := s.db.PendingStreams(ctx, tc.q)
		requireEqual(t, got, err, tc.want)
	}
	s.write(t, func(ctx context.Context) error {
		return s.db.RetryStreams(ctx, []string{waiting.ID, busy.ID}, testTime(13))
	})
	checkStates(testTime(13))
	s.write(t, func(ctx context.Context) error {
		return s.db.Postpone(ctx, s.project.ID, url, testTime(13), testTime(20))
	})
	s.write(t, func(ctx context.Context) error { return s.db.ClearTarget(ctx, s.project.ID, url, testTime(12)) })
	known, err = s.db.Target(ctx, s.project.ID, url)
	requireEqual(t, known, err, webhook.Target{})
	_, held, err = s.db.NextDelivery(ctx, waiting.ID)
	requireEqual(t, held, err, webhook.Target{})
	due, leased := s.isDue(t, waiting.Bucket, testTime(12)), s.isDue(t, busy.Bucket, testTime(40))
	if !due || leased {
		t.Errorf("waiting and leased stream due after ClearTarget: got %v, %v, want true, false", due, leased)
	}
}

// The longest webhook URL that is accepted can be stored, also if PostgreSQL cannot compress it.
func (s *suite) testWebhookURL_Longest(t *testing.T) {
	url := "https://example.org/"
	for len(url) < validate.MaxWebhookURL {
		url += rand.Text()
	}
	url = url[:validate.MaxWebhookURL]
	if err := validate.WebhookURL("url", url); err != nil {
		t.Fatal(err)
	}
	st := s.newStream(NewID())
	st.URL, st.Replay = url, NewID()
	s.write(t, func(ctx context.Context) error { return s.db.InsertStream(ctx, st, testTime(1)) })
}

func (s *suite) testWebhooks_Prune(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	own := suite{open: s.open, db: db, project: Project(t, db)}
	over, open := own.insertRoom(t, Room(own.project.ID)), own.insertRoom(t, Room(own.project.ID))
	over.EndedAt = testTime(1)
	var streams []webhook.Stream
	var deliveries []webhook.Delivery
	own.write(t, func(ctx context.Context) error {
		streams, deliveries = nil, nil
		if err := db.UpdateRoom(ctx, over); err != nil {
			return err
		}
		for i, roomID := range []string{over.ID, open.ID, ""} {
			st := own.newStream(roomID)
			d := own.newDelivery(st, int64(i))
			streams, deliveries = append(streams, st), append(deliveries, d)
			if err := db.InsertStream(ctx, st, testTime(1)); err != nil {
				return err
			}
			if err := db.InsertDelivery(ctx, d); err != nil {
				return err
			}
			if err := db.RecordAttempt(ctx, d, webhook.Attempt{N: 1, At: testTime(0)}); err != nil {
				return err
			}
		}
		return nil
	})
	prune := func(before, limit int) (n int) {
		t.Helper()
		own.write(t, func(ctx context.Context) (err error) {
			if n, err = db.DeleteDeliveries(ctx, own.project.ID, testTime(before), limit); err != nil {
				return err
			}
			_, err = db.PruneStreams(ctx, testTime(before), limit)
			return err
		})
		return n
	}
	if n := prune(1, 10); n != 1 {
		t.Errorf("DeleteDeliveries: got %d, want 1", n)
	}
	if attempts, err := db.Attempts(ctx, deliveries[0].ID); err != nil || len(attempts) != 0 {
		t.Errorf("attempts of a pruned delivery: got %v, %v, want none", attempts, err)
	}
	if n := prune(100, 1); n != 1 {
		t.Errorf("DeleteDeliveries with limit 1: got %d, want 1", n)
	}
	left, err := db.Deliveries(ctx, webhook.Filter{Limit: 10})
	requireEqual(t, left, err, deliveries[2:])
	has := func(roomID string) bool {
		all, err := db.Streams(ctx, own.project.ID, roomID)
		if err != nil {
			t.Fatal(err)
		}
		return len(all) == 1
	}
	if !has(over.ID) {
		t.Error("PruneStreams with a due stream: got it deleted, want it kept")
	}
	for _, st := range streams {
		for _, leased := range own.leaseStreams(t, st.Bucket, "lease", 1, testTime(2), testTime(30)) {
			own.write(t, func(ctx context.Context) error {
				return db.ReleaseStream(ctx, leased, time.Time{}, testTime(2))
			})
		}
	}
	if prune(1, 10); !has(over.ID) {
		t.Error("PruneStreams with a stream updated after the given time: got it deleted, want it kept")
	}
	prune(100, 10)
	if ofOver, ofOpen, ofNone := has(over.ID), has(open.ID), has(""); ofOver || !ofOpen || !ofNone {
		t.Errorf("streams of a room that is over, of an open one, of none after PruneStreams: got %v, %v, %v, "+
			"want false, true, true", ofOver, ofOpen, ofNone)
	}
}

// ConsumeNotices returns the notice of an overlap once, before the overlap ends.
func (s *suite) testNotices(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p := Project(t, db)
	keys, err := db.APIKeys(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	k := keys[0]
	k.Slot, k.RetiringSince, k.OverlapEndsAt = key.Overlap, testTime(0), testTime(7200)
	secrets, err := db.ProjectSecrets(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	secret := secrets[0]
	secret.Slot, secret.RetiringSince, secret.OverlapEndsAt = key.Overlap, testTime(0), testTime(100)
	s2 := suite{db: db}
	s2.write(t, func(ctx context.Context) error {
		if err := db.UpdateAPIKey(ctx, k, testTime(0)); err != nil {
			return err
		}
		return db.UpdateProjectSecret(ctx, secret, testTime(0))
	})
	consume := func(at int) (got []key.Notice) {
		t.Helper()
		s2.write(t, func(ctx context.Context) (err error) {
			got, err = db.ConsumeNotices(ctx, p.ID, testTime(at))
			return err
		})
		return got
	}
	none, err := db.ProjectsWithDueNotices(ctx, testTime(49))
	requireEqual(t, none, err, nil)
	due, err := db.ProjectsWithDueNotices(ctx, testTime(50))
	requireEqual(t, due, err, []string{p.ID})
	requireEqual(t, consume(50), nil, []key.Notice{{Credential: event.CredentialSecret, EndsAt: testTime(100)}})
	requireEqual(t, consume(50), nil, nil)
	due, err = db.ProjectsWithDueNotices(ctx, testTime(3600))
	requireEqual(t, due, err, []string{p.ID})
	none, err = db.ProjectsWithDueNotices(ctx, testTime(7200)) // the overlap has ended
	requireEqual(t, none, err, nil)
	requireEqual(t, consume(3600), nil, []key.Notice{{Credential: event.CredentialKey, EndsAt: testTime(7200)}})
}
