package client_test

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley.example/client"
)

// withinOneSecond reports whether an offset is correct within the precision of a
// Date in whole seconds.
func withinOneSecond(got, want time.Duration) bool { return (got - want).Abs() <= time.Second }

func TestClock_CorrectedBothWays(t *testing.T) {
	for _, ahead := range []time.Duration{0, 10 * time.Minute, -10 * time.Minute,
		300 * 24 * time.Hour, -20 * time.Second} {
		t.Run(ahead.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				s.setAhead(ahead)
				c := newSynctestClient(t, s, client.Options{MaxAttempts: 1})
				expected := 1
				if ahead.Abs() > s.skew {
					expected = 2 // refused, corrected
				}
				for range 3 {
					if err := keys(t.Context(), c); err != nil {
						t.Fatal(err)
					}
				}
				if got := len(s.requestsSeen()); got != expected+2 {
					t.Errorf("three calls: got %d requests, want %d", got, expected+2)
				}
				if !withinOneSecond(c.ClockOffset(), ahead) {
					t.Errorf("got the offset %s, want %s", c.ClockOffset(), ahead)
				}
			})
		})
	}
}

// TestClock_FollowsServer sets the server's clock and ours forward and back
// during the life of a client.
func TestClock_FollowsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		c := newSynctestClient(t, s, client.Options{})
		for _, ahead := range []time.Duration{0, time.Hour, 0, -time.Hour, time.Hour} {
			s.setAhead(ahead)
			if err := keys(t.Context(), c); err != nil {
				t.Fatalf("%s ahead: got error %v, want none", ahead, err)
			}
			if !withinOneSecond(c.ClockOffset(), ahead) {
				t.Errorf("got the offset %s, want %s", c.ClockOffset(), ahead)
			}
		}
	})
}

// TestClock_UpdatedByEveryResponse checks that responses of other versions and
// error responses correct the clock too.
func TestClock_UpdatedByEveryResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.setAhead(time.Hour)
		c := newSynctestClient(t, s, client.Options{})
		s.respondWith(errorResponse(403, "the project is suspended"))
		if err := status(t.Context(), c); !client.IsForbidden(err) {
			t.Fatalf("response 403: got error %v, want one for which IsForbidden is true", err)
		}
		if err := keys(t.Context(), c); err != nil || len(s.requestsSeen()) != 2 {
			t.Errorf("got %d requests, error %v, want 2 requests and no error", len(s.requestsSeen()), err)
		}
	})
}

func TestClock_StableWhenCorrect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSynctestClient(t, newServer(), client.Options{})
		for range 50 {
			time.Sleep(370 * time.Millisecond)
			if err := keys(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if c.ClockOffset() != 0 {
				t.Fatalf("got the offset %s, want 0", c.ClockOffset())
			}
		}
	})
}

// TestClock_NoRetryForWrongSecret checks that a 401 with another cause is not
// repeated.
func TestClock_NoRetryForWrongSecret(t *testing.T) {
	for _, test := range []struct {
		name  string
		ahead time.Duration
		sent  int
	}{{"clock right", 0, 1}, {"clock off", time.Hour, 2}} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer()
			s.setAhead(test.ahead)
			wrong := credentials
			wrong.GatewaySecret = "gs_another"
			if err := keys(t.Context(), start(t, s, wrong, client.Options{})); !client.IsUnauthorized(err) ||
				len(s.requestsSeen()) != test.sent {
				t.Errorf("got %d requests, error %v, want %d and Unauthorized", len(s.requestsSeen()), err, test.sent)
			}
		})
	}
}

// TestClock_JumpingServerRetriedOnce checks that a server whose clock jumps with
// each answer does not cause endless attempts.
func TestClock_JumpingServerRetriedOnce(t *testing.T) {
	s := newServer()
	for _, date := range []string{"Thu, 01 Jan 2015 00:00:00 GMT", "Fri, 01 Jan 2016 00:00:00 GMT",
		"Sun, 01 Jan 2017 00:00:00 GMT"} {
		s.respondWith(errorResponseV5(401, client.CodeUnauthorized, "not accepted", "Date", date))
	}
	err := keys(t.Context(), start(t, s, credentials, client.Options{MaxAttempts: 5}))
	failure, ok := errors.AsType[*client.Error](err)
	if !ok || !client.IsUnauthorized(err) || failure.Attempts != 2 || len(s.requestsSeen()) != 2 {
		t.Errorf("got %d requests, error %+v, want 2 and Unauthorized after 2 attempts", len(s.requestsSeen()), err)
	}
}

func TestClock_IgnoredDates(t *testing.T) {
	const old = "Thu, 01 Jan 2015 00:00:00 GMT"
	const refused = `{"error":{"code":"SVC_UNAUTHORIZED","message":"not accepted","request_id":"r"}}`
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
	}{
		{"out of a cache", reply(401, refused, "Date", old, "Age", "5")},
		{"no date", reply(401, refused, "Date", "yesterday")},
		{"not the server's", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Del("X-Gateway-Request-ID")
			reply(401, "<html>", "Date", old)(w, r)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer()
			s.respondWith(test.answer)
			c := start(t, s, credentials, client.Options{})
			if err := keys(t.Context(), c); !client.IsUnauthorized(err) ||
				len(s.requestsSeen()) != 1 || c.ClockOffset() != 0 {
				t.Errorf("got %d requests, offset %s, error %v, want 1 request, offset 0 and Unauthorized",
					len(s.requestsSeen()), c.ClockOffset(), err)
			}
		})
	}
}

// TestClock_ConcurrentCorrections checks that concurrent calls are all
// corrected, also if the answer to another call has already corrected the clock.
func TestClock_ConcurrentCorrections(t *testing.T) {
	s := newServer()
	s.setAhead(time.Hour)
	c := start(t, s, credentials, client.Options{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := keys(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
