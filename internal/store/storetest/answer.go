package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
)

func (s *suite) TestAnswer(t *testing.T) {
	ctx := context.Background()
	first := room.Answer{ID: NewID(), BodyHash: "hash", Text: "https://meet.example.org/r/1#t=token", ExpiresAt: moment(60)}
	if !s.keep(t, first, moment(0)) || s.keep(t, room.Answer{ID: first.ID, BodyHash: "other", ExpiresAt: moment(90)}, moment(59)) {
		t.Error("the first answer does not stay")
	}
	got, err := s.db.Answer(ctx, first.ID, moment(59))
	same(t, got, err, first)
	_, err = s.db.Answer(ctx, first.ID, moment(60))
	refused(t, err, fault.NotFound, "answer_not_found")
	_, err = s.db.Answer(ctx, NewID(), moment(0))
	refused(t, err, fault.NotFound, "answer_not_found")

	next := room.Answer{ID: first.ID, BodyHash: "other", ExpiresAt: moment(120)}
	if !s.keep(t, next, moment(60)) {
		t.Error("an expired answer does not give way")
	}
	got, err = s.db.Answer(ctx, next.ID, moment(60))
	same(t, got, err, next)

	old := room.Answer{ID: NewID(), BodyHash: "hash", ExpiresAt: moment(100)}
	s.keep(t, old, moment(60))
	s.write(t, func(ctx context.Context) error { return s.db.PurgeAnswers(ctx, moment(100)) })
	_, err = s.db.Answer(ctx, old.ID, moment(0))
	refused(t, err, fault.NotFound, "answer_not_found")
	got, err = s.db.Answer(ctx, next.ID, moment(60))
	same(t, got, err, next)
}

// Of many who keep an answer at once, one does.
func (s *suite) TestAnswerAtOnce(t *testing.T) {
	id := NewID()
	var fresh atomic.Int32
	var work sync.WaitGroup
	for range 32 {
		work.Go(func() {
			if s.keep(t, room.Answer{ID: id, BodyHash: "hash", ExpiresAt: moment(60)}, moment(0)) {
				fresh.Add(1)
			}
		})
	}
	work.Wait()
	if n := fresh.Load(); n != 1 {
		t.Errorf("%d of them were first", n)
	}
}

// Whoever keeps one outside a transaction is told.
func (s *suite) TestAnswerOutsideATransaction(t *testing.T) {
	if _, err := s.db.KeepAnswer(context.Background(), room.Answer{ID: NewID(), ExpiresAt: moment(60)}, moment(0)); err == nil {
		t.Error("kept")
	}
}

func (s *suite) keep(t *testing.T, a room.Answer, now time.Time) (fresh bool) {
	t.Helper()
	err := s.db.Write(context.Background(), func(ctx context.Context) (err error) {
		fresh, err = s.db.KeepAnswer(ctx, a, now)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return fresh
}
