package conncheck_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"parley/internal/conncheck"
	"parley/internal/fault"
	"parley/internal/store/storetest"
)

// media returns one token for everybody.
type media struct{}

func (media) PreflightToken(context.Context, netip.Addr) (string, error) { return "token", nil }

// A code starts a check for an hour, and the key of a check is valid for ten minutes.
func TestService_Expires(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := conncheck.NewService(storetest.SQLite(t), media{}, func() time.Time { return now }, storetest.NewID)
	ctx := t.Context()
	late, lateCode, err := s.Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c, code, err := s.Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(id string, want conncheck.State) {
		t.Helper()
		if _, got, err := s.Get(ctx, id); err != nil || got != want {
			t.Errorf("after %s: got the state %s, %v, want %s", now.Sub(c.CreatedAt), got, err, want)
		}
	}
	expect(c.ID, conncheck.Waiting)
	now = now.Add(time.Hour - time.Second)
	key, err := s.Start(ctx, code.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	expect(c.ID, conncheck.Running)
	now = now.Add(time.Second)
	expect(late.ID, conncheck.Expired)
	if _, err := s.Start(ctx, lateCode.Reveal()); !fault.Is(err, fault.NotFound) {
		t.Errorf("start with an expired code: got %v, want NotFound", err)
	}
	now = now.Add(10*time.Minute - 2*time.Second)
	if token, err := s.MediaToken(ctx, key.Reveal(), netip.Addr{}); err != nil || token != "token" {
		t.Errorf("a token in time: got %q, %v, want one", token, err)
	}
	now = now.Add(time.Second)
	expect(c.ID, conncheck.Expired)
	if _, err := s.MediaToken(ctx, key.Reveal(), netip.Addr{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a token too late: got %v, want NotFound", err)
	}
	err = s.Finish(ctx, key.Reveal(), conncheck.Paths{{Name: "udp", Offered: true, Works: true}})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("a report too late: got %v, want NotFound", err)
	}
	for _, paths := range []conncheck.Paths{{{Name: "pigeon"}}, make(conncheck.Paths, 5)} {
		if err := s.Finish(ctx, key.Reveal(), paths); !fault.Is(err, fault.Invalid) {
			t.Errorf("the report %v: got %v, want Invalid", paths, err)
		}
	}
}
