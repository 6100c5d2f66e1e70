package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley.example/client"
)

// waits returns the time between consecutive requests.
func waits(requests []received) []time.Duration {
	var all []time.Duration
	for i := 1; i < len(requests); i++ {
		all = append(all, requests[i].at.Sub(requests[i-1].at))
	}
	return all
}

func unavailable(header ...string) http.HandlerFunc {
	return errorResponse(503, "the database does not answer, try again in a moment", header...)
}

func withClientRoomID(room client.QuickRoomRequest) client.QuickRoomRequest {
	room.ClientRoomID = "standup-1"
	return room
}

func withIdempotencyKey(room client.QuickRoomRequest) client.QuickRoomRequest {
	room.IdempotencyKey = "order-1"
	return room
}

func create(room client.QuickRoomRequest) func(context.Context, *client.Client) error {
	return func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateQuickAudioRoom(ctx, room)
		return err
	}
}

func keys(ctx context.Context, c *client.Client) error {
	_, err := c.Keys(ctx)
	return err
}

func status(ctx context.Context, c *client.Client) error {
	_, err := c.UpdateProjectStatus(ctx, client.Active)
	return err
}

func joinEvent(ctx context.Context, c *client.Client) error {
	_, err := c.SendJoinEvent(ctx, client.JoinEvent{RoomID: roomID, Name: "Zoë"})
	return err
}

// TestRetry_ByCallAndError checks which calls are repeated after which failures.
func TestRetry_ByCallAndError(t *testing.T) {
	inFlight := errorResponse(409, "a call with the same Idempotency-Key is under way", "Retry-After", "1")
	taken := errorResponse(409, "client_room_id is taken")
	calls := map[string]func(context.Context, *client.Client) error{
		"read": keys, "status": status, "event": joinEvent, "bare": create(quickRoom()),
		"client_room_id": create(withClientRoomID(quickRoom())), "idempotency key": create(
			withIdempotencyKey(quickRoom())),
	}
	safe := []string{"read", "status", "event", "client_room_id", "idempotency key"}
	for _, test := range []struct {
		name  string
		first http.HandlerFunc
		again []string // the calls that are then sent a second time
	}{
		{"429", errorResponse(429, "too many calls"), safe},
		{"502", reply(502, "<html>"), safe},
		{"503", unavailable(), safe},
		{"504", reply(504, ""), safe},
		{"answer lost", dropConnection, safe},
		{"answer cut off", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			reply(200, "{")(w, r)
		}, safe},
		{"under way", inFlight, []string{"idempotency key"}},
		{"taken", taken, nil},
		{"400", errorResponse(400, "name must not be blank"), nil},
		{"401", errorResponse(401, "invalid signature"), nil},
		{"403", errorResponse(403, "the project is inactive"), nil},
		{"404", errorResponse(404, "there is no such room"), nil},
		{"500", errorResponse(500, "our failure"), nil},
		{"no JSON", reply(200, "<html>"), nil},
		{"another success", reply(204, ""), nil},
		{"redirect", reply(307, "", "Location", "http://parley.test/elsewhere"), nil},
	} {
		for name, call := range calls {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newServer()
					s.respondWith(test.first)
					err := call(t.Context(), newSynctestClient(t, s, client.Options{}))
					expected := 1
					for _, again := range test.again {
						if again == name {
							expected = 2
						}
					}
					if got := len(s.requestsSeen()); got != expected || (err == nil) != (expected == 2) {
						t.Errorf("got %d requests, error %v, want %d requests", got, err, expected)
					}
				})
			})
		}
	}
}

func TestRetry_SendsSameRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.respondWith(dropConnection, unavailable())
		if err := create(withIdempotencyKey(quickRoom()))(t.Context(),
			newSynctestClient(t, s, client.Options{})); err != nil {
			t.Fatal(err)
		}
		all := s.requestsSeen()
		for _, again := range all[1:] {
			if again.body != all[0].body || again.header.Get("Idempotency-Key") != "order-1" ||
				again.target != all[0].target {
				t.Errorf("got the repeated request %+v, want the body, target and key of %+v", again, all[0])
			}
		}
		if len(all) != 3 {
			t.Errorf("got %d requests, want 3", len(all))
		}
	})
}

func TestRetry_AttemptsRevealOwnConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.respondWith(dropConnection, errorResponse(409, "client_room_id is taken"))
		err := create(withClientRoomID(quickRoom()))(t.Context(), newSynctestClient(t, s, client.Options{}))
		failure, ok := errors.AsType[*client.Error](err)
		if !ok || !client.IsConflict(err) || failure.Attempts != 2 {
			t.Errorf("got %+v, want a conflict after 2 attempts", err)
		}
	})
}

func TestBackoff_DoublesWithJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		for range 10 {
			s.respondWith(unavailable())
		}
		err := keys(t.Context(), newSynctestClient(t, s, client.Options{MaxAttempts: 10}))
		failure, ok := errors.AsType[*client.Error](err)
		if !ok || failure.Attempts != 10 || !client.IsUnavailable(err) {
			t.Errorf("got %+v, want unavailable after 10 attempts", err)
		}
		span := 250 * time.Millisecond
		for i, wait := range waits(s.requestsSeen()) {
			if wait < span/2 || wait > span {
				t.Errorf("wait %d: got %s, want %s to %s", i+1, wait, span/2, span)
			}
			span = min(2*span, 30*time.Second)
		}
		if len(s.requestsSeen()) != 10 {
			t.Errorf("got %d requests, want 10", len(s.requestsSeen()))
		}
	})
}

func TestRetryAfter_Respected(t *testing.T) {
	in20s := func(layout string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			date, err := http.ParseTime(w.Header().Get("Date"))
			if err != nil {
				t.Error(err)
			}
			unavailable("Retry-After", date.Add(20*time.Second).UTC().Format(layout))(w, r)
		}
	}
	for _, test := range []struct {
		name       string
		first      http.HandlerFunc
		retryAfter time.Duration
		sent       int
		least      time.Duration
	}{
		{"seconds", unavailable("Retry-After", "7"), 7 * time.Second, 2, 7 * time.Second},
		{"a date, by the server's clock", in20s(http.TimeFormat), 20 * time.Second, 2, 20 * time.Second},
		{"a date of RFC 850", in20s("Monday, 02-Jan-06 15:04:05 GMT"), 20 * time.Second, 2, 20 * time.Second},
		{"a date of asctime", in20s(time.ANSIC), 20 * time.Second, 2, 20 * time.Second},
		{"none", unavailable(), 0, 2, 0},
		{"zero", unavailable("Retry-After", "0"), 0, 2, 0},
		{"negative", unavailable("Retry-After", "-5"), 0, 2, 0},
		{"past", unavailable("Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT"), 0, 2, 0},
		{"nonsense", unavailable("Retry-After", "soon"), 0, 2, 0},
		{"longer than we wait", unavailable("Retry-After", "31"), 31 * time.Second, 1, 0},
		{"absurd", unavailable("Retry-After", "99999999999999999999"), 24 * time.Hour, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				s.setAhead(time.Hour) // a date is compared with the server's time, not ours
				s.respondWith(test.first)
				err := status(t.Context(), newSynctestClient(t, s, client.Options{}))
				if len(s.requestsSeen()) != test.sent {
					t.Fatalf("got %d requests, error %v, want %d requests", len(s.requestsSeen()), err, test.sent)
				}
				if test.sent == 1 {
					failure, ok := errors.AsType[*client.Error](err)
					if !ok || failure.RetryAfter != test.retryAfter {
						t.Errorf("got %+v, want RetryAfter %s", err, test.retryAfter)
					}
					return
				}
				if wait := waits(s.requestsSeen())[0]; wait < test.least || wait > test.least+250*time.Millisecond {
					t.Errorf("got a wait of %s, want %s and at most 250 ms more", wait, test.least)
				}
			})
		})
	}
}

// TestRetryAfter_Jitter checks that the jitter spreads clients that were refused
// at the same time.
func TestRetryAfter_Jitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		for range 19 {
			s.respondWith(unavailable("Retry-After", "29"))
		}
		if err := keys(t.Context(), newSynctestClient(t, s, client.Options{MaxAttempts: 20})); err != nil {
			t.Fatal(err)
		}
		different := map[time.Duration]bool{}
		for _, wait := range waits(s.requestsSeen())[:3] { // before the backoff is longer
			different[wait] = true
		}
		if len(different) != 3 {
			t.Errorf("got the waits %v, want three different ones first", waits(s.requestsSeen()))
		}
	})
}

func TestRetry_MaxAttemptsOne(t *testing.T) {
	s := newServer()
	s.respondWith(unavailable())
	if err := keys(t.Context(), start(t, s, credentials, client.Options{MaxAttempts: 1})); !client.IsUnavailable(err) ||
		len(s.requestsSeen()) != 1 {
		t.Errorf("got %d requests, error %v, want 1 and Unavailable", len(s.requestsSeen()), err)
	}
}

// TestSendJoinEvent_NoLateRetry checks that a join event is repeated only while
// the server treats it as the same event.
func TestSendJoinEvent_NoLateRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.respondWith(unavailable("Retry-After", "20"), unavailable("Retry-After", "20"))
		err := joinEvent(t.Context(), newSynctestClient(t, s, client.Options{}))
		if !client.IsUnavailable(err) || len(s.requestsSeen()) != 2 {
			t.Errorf("got %d requests, error %v, want 2 and Unavailable", len(s.requestsSeen()), err)
		}
	})
}

func TestRetry_DeadlineBeforeWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.respondWith(unavailable("Retry-After", "10"))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		err := keys(ctx, newSynctestClient(t, s, client.Options{}))
		if !client.IsUnavailable(err) || time.Since(began) > time.Second {
			t.Errorf("got error %v after %s, want Unavailable within a second", err, time.Since(began))
		}
	})
}

func TestRetry_CanceledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.respondWith(unavailable("Retry-After", "10"))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		began := time.Now()
		err := keys(ctx, newSynctestClient(t, s, client.Options{}))
		if !errors.Is(err, context.Canceled) || !client.IsUnavailable(err) || time.Since(began) != 3*time.Second {
			t.Errorf("got error %v after %s, want Canceled and Unavailable after 3s", err, time.Since(began))
		}
	})
}

func TestClient_DeadlineDuringRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.respondWith(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		err := keys(ctx, newSynctestClient(t, s, client.Options{}))
		if !errors.Is(err, context.DeadlineExceeded) || len(s.requestsSeen()) != 1 {
			t.Errorf("got %d requests, error %v, want 1 and DeadlineExceeded", len(s.requestsSeen()), err)
		}
	})
}

func TestClient_CanceledBeforeRequest(t *testing.T) {
	s := newServer()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := keys(ctx, start(t, s, credentials, client.Options{})); !errors.Is(err, context.Canceled) ||
		len(s.requestsSeen()) != 0 {
		t.Errorf("got %d requests, error %v, want none and Canceled", len(s.requestsSeen()), err)
	}
}

// TestRetry_AttemptTimeout checks that each attempt has the timeout of the
// injected client.
func TestRetry_AttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		stuck := &http.Client{Timeout: 5 * time.Second,
			Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				attempts++
				<-r.Context().Done()
				return nil, r.Context().Err()
			})}
		c := connect(t, "https://parley.test", credentials, client.Options{HTTPClient: stuck})
		began := time.Now()
		err := keys(t.Context(), c)
		if elapsed := time.Since(began); err == nil || attempts != 3 ||
			elapsed < 15*time.Second || elapsed > 16*time.Second {
			t.Errorf("got %d attempts in %s, error %v, want 3 in 15s to 16s and an error", attempts, elapsed, err)
		}
	})
}

func TestRetry_BadCertificate(t *testing.T) {
	attempts := 0
	bad := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		attempts++
		return nil, &tls.CertificateVerificationError{Err: errors.New("unknown authority")}
	})}
	err := keys(t.Context(), connect(t, "https://parley.test", credentials, client.Options{HTTPClient: bad}))
	if err == nil || attempts != 1 || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("got %d attempts, error %v, want 1 and unknown authority", attempts, err)
	}
}

// TestClient_IgnoresRedirects checks that redirects are not followed, because
// they would send the API key to another host.
func TestClient_IgnoresRedirects(t *testing.T) {
	elsewhere := newServer()
	other := httptest.NewServer(elsewhere)
	defer other.Close()
	s := newServer()
	s.respondWith(reply(302, "", "Location", other.URL+"/api/v5/keys"))
	injected := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
	err := keys(t.Context(), start(t, s, credentials, client.Options{HTTPClient: injected}))
	failure, ok := errors.AsType[*client.Error](err)
	if !ok || failure.Status != 302 || len(elsewhere.requestsSeen()) != 0 {
		t.Errorf("got %d requests elsewhere, error %v, want none and the status 302", len(elsewhere.requestsSeen()), err)
	}
	if injected.CheckRedirect(nil, nil) != nil {
		t.Error("the injected client: got a changed CheckRedirect, want its own")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestClock_CorrectionIsNotCounted checks that an attempt with a corrected clock leaves the attempts
// for other failures.
func TestClock_CorrectionIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.setAhead(time.Hour)
		s.respondWith(nil, unavailable())
		if err := keys(t.Context(), newSynctestClient(t, s, client.Options{MaxAttempts: 2})); err != nil {
			t.Errorf("got error %v, want none after a correction and one repetition", err)
		}
		if sent := len(s.requestsSeen()); sent != 3 {
			t.Errorf("got %d requests, want 3", sent)
		}
	})
}
