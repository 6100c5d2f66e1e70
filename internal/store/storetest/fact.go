package storetest

import (
	"context"
	"testing"
	"time"
)

func (s *suite) TestLastAlive(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	got, err := db.LastAlive(ctx)
	same(t, got, err, time.Time{})
	for _, at := range []time.Time{moment(5), moment(9), moment(7)} {
		if err := db.Write(ctx, func(ctx context.Context) error { return db.SetLastAlive(ctx, at) }); err != nil {
			t.Fatal(err)
		}
		got, err := db.LastAlive(ctx)
		same(t, got, err, at)
	}
}

func (s *suite) TestMediaSecret(t *testing.T) {
	ctx := context.Background()
	first, err := s.db.MediaSecret(ctx)
	if err != nil || first == "" {
		t.Fatal(first, err)
	}
	again, err := s.db.MediaSecret(ctx)
	same(t, again, err, first)
	other, err := s.open(t).MediaSecret(ctx)
	if err != nil || other == first {
		t.Fatal("two installations share a secret", err)
	}
}

func (s *suite) TestPing(t *testing.T) {
	if err := s.db.Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
}
