package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"parley/internal/webhook"
)

// testWebhookTargets_PausedByHand checks that a pause by hand needs no earlier failure, replaces the
// pause of a target that fails, and is not lifted by a delivery that succeeds.
func (s *suite) testWebhookTargets_PausedByHand(t *testing.T) {
	ctx := patient()
	const url = "https://held.example.org/hook"
	held := webhook.Target{
		ProjectID:    s.project.ID,
		URL:          url,
		FailingSince: testTime(1),
		PausedAt:     testTime(1),
		Notice:       trickyTexts[0],
	}
	check := func(when string, want webhook.Target) {
		t.Helper()
		if got, err := s.db.Target(ctx, s.project.ID, url); err != nil || got != want {
			t.Errorf("target %s: got %+v, %v, want %+v", when, got, err, want)
		}
		var paused bool
		s.write(t, func(ctx context.Context) (err error) {
			paused, err = s.db.LockPausedTarget(ctx, s.project.ID, url)
			return err
		})
		if paused != want.Paused() {
			t.Errorf("LockPausedTarget %s: got %t, want %t", when, paused, want.Paused())
		}
	}
	st := s.newStream(NewID())
	st.URL = url
	isDue := func() bool {
		t.Helper()
		states, err := s.db.StreamStates(ctx, []string{st.ID})
		if err != nil {
			t.Fatal(err)
		}
		return states[st.ID].DueAt.Equal(testTime(1))
	}
	s.write(t, func(ctx context.Context) error {
		return errors.Join(s.db.InsertStream(ctx, st, testTime(1)), s.db.InsertDelivery(ctx, s.newDelivery(st, 1)))
	})
	before := isDue()
	s.write(t, func(ctx context.Context) error { return s.db.HoldTarget(ctx, held) })
	if after := isDue(); !before || after {
		t.Errorf("stream due before and after the pause: got %t, %t, want true, false", before, after)
	}
	check("without a failure", held)
	_, read, err := s.db.NextDelivery(ctx, st.ID)
	requireEqual(t, read, err, held)
	clearRecovered := func(at int) (cleared webhook.Target) {
		t.Helper()
		s.write(t, func(ctx context.Context) (err error) {
			cleared, err = s.db.ClearRecoveredTarget(ctx, s.project.ID, url, testTime(at))
			return err
		})
		return cleared
	}
	if cleared := clearRecovered(2); cleared != (webhook.Target{}) {
		t.Errorf("ClearRecoveredTarget of a target that is paused by hand: got %+v, want none", cleared)
	}
	check("after a success", held)
	s.write(t, func(ctx context.Context) error { return s.db.ClearTarget(ctx, s.project.ID, url, testTime(3)) })
	check("after the resumption", webhook.Target{})

	var failing webhook.Target
	s.write(t, func(ctx context.Context) (err error) {
		if failing, err = s.db.RecordTargetFailure(ctx, s.project.ID, url, testTime(4)); err != nil {
			return err
		}
		failing.PausedAt, failing.ProbeAt, failing.Notice = testTime(5), testTime(6), "20 attempts in a row failed"
		return s.db.PauseTarget(ctx, failing)
	})
	check("after failures", failing)
	if !isDue() {
		t.Error("stream to a target that is probed: got it not due, want it due")
	}
	byHand := failing
	byHand.PausedAt, byHand.ProbeAt, byHand.Notice = testTime(7), held.ProbeAt, held.Notice
	s.write(t, func(ctx context.Context) error { return s.db.HoldTarget(ctx, byHand) })
	check("paused by hand after failures", byHand)
	s.write(t, func(ctx context.Context) error { return s.db.ClearTarget(ctx, s.project.ID, url, testTime(8)) })

	s.write(t, func(ctx context.Context) (err error) {
		if failing, err = s.db.RecordTargetFailure(ctx, s.project.ID, url, testTime(9)); err != nil {
			return err
		}
		failing.PausedAt, failing.ProbeAt = testTime(10), testTime(11)
		return s.db.PauseTarget(ctx, failing)
	})
	if cleared := clearRecovered(12); cleared != failing {
		t.Errorf("ClearRecoveredTarget: got %+v, want %+v", cleared, failing)
	}
	check("after a probe that succeeded", webhook.Target{})

	s.write(t, func(ctx context.Context) (err error) {
		if err := s.db.Postpone(ctx, s.project.ID, url, testTime(20), testTime(30)); err != nil {
			return err
		}
		failing, err = s.db.RecordTargetFailure(ctx, s.project.ID, url, testTime(13))
		return err
	})
	if cleared := clearRecovered(14); cleared != failing {
		t.Errorf("ClearRecoveredTarget of a target that is not paused: got %+v, want %+v", cleared, failing)
	}
	states, err := s.db.StreamStates(ctx, []string{st.ID})
	if due := states[st.ID].DueAt; err != nil || !due.Equal(testTime(30)) {
		t.Errorf("the stream to it: got %v, %v, want due at %v as before", due, err, testTime(30))
	}
}

// testWebhookTargets_Prune checks that old failure records are deleted, except those that hold deliveries back.
func (s *suite) testWebhookTargets_Prune(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	own := suite{open: s.open, db: db, project: Project(t, db)}
	const url = "https://pruned.example.org/"
	fail := func(ctx context.Context, path string, at int) error {
		_, err := db.RecordTargetFailure(ctx, own.project.ID, url+path, testTime(at))
		return err
	}
	own.write(t, func(ctx context.Context) error {
		probed := webhook.Target{ProjectID: own.project.ID, URL: url + "probed", PausedAt: testTime(1), ProbeAt: testTime(2)}
		held := webhook.Target{
			ProjectID:    own.project.ID,
			URL:          url + "held",
			FailingSince: testTime(1),
			PausedAt:     testTime(1),
		}
		waiting := own.newStream(NewID())
		waiting.URL = url + "waiting"
		return errors.Join(fail(ctx, "old", 1), fail(ctx, "new", 5), fail(ctx, "waiting", 1), fail(ctx, "probed", 1),
			db.PauseTarget(ctx, probed), db.HoldTarget(ctx, held), db.InsertStream(ctx, waiting, testTime(1)))
	})
	prune := func(limit int) (n int) {
		t.Helper()
		own.write(t, func(ctx context.Context) (err error) {
			n, err = db.PruneTargets(ctx, testTime(5), limit)
			return err
		})
		return n
	}
	if one, rest, none := prune(1), prune(10), prune(10); one != 1 || rest != 1 || none != 0 {
		t.Errorf("PruneTargets with a limit of 1, 10, 10: got %d, %d, %d, want 1, 1, 0", one, rest, none)
	}
	var left []string
	all, err := db.Targets(ctx, own.project.ID)
	for _, target := range all {
		left = append(left, strings.TrimPrefix(target.URL, url))
	}
	requireEqual(t, left, err, []string{"held", "new", "waiting"})
}
