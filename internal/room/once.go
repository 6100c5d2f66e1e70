package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/field"
	"parley/internal/seal"
)

const (
	// keepAnswers is how long a creation with a key is answered again.
	keepAnswers = 24 * time.Hour
	// markOnce is how long the same join event counts once.
	markOnce   = time.Minute
	maxOnceKey = 255
	purgeEvery = time.Minute
)

// Once makes a creation, of a room or of a link into one, happen once: the same
// key of the same project on the same route, with the same body, is the same
// creation for 24 hours, and gets the first one's answer again.
type Once struct {
	ProjectID string
	Route     string
	Key       string // 1 to 255 printable ASCII characters
	Body      []byte // raw, as it was signed
	// Signature identifies a signed request that was sent without a key. It
	// replaces Route, Key and Body: the request takes effect once within For, and
	// a repetition is refused, because its answer is not kept.
	Signature string
	For       time.Duration // as long as the signature is valid
	// Answer makes what is told of a success, which is kept with the room. It
	// is set by the time of the creation.
	Answer func(Created) ([]byte, error)
}

// Answer is what was told of a request, kept to be told again. Without a text
// it only says that the request was met.
type Answer struct {
	ID        string
	BodyHash  string
	Text      seal.Secret
	ExpiresAt time.Time
}

var errInFlight = &fault.Error{Kind: fault.Conflict, Code: "request_in_flight", RetryAfter: time.Second,
	Message: "a request with this Idempotency-Key is still under way, try again in a moment"}

var errReplayed = fault.New(fault.Conflict, "request_replayed",
	"this signed request was carried out already: sign each request with a current timestamp, "+
		"and send a different Idempotency-Key with each of two equal requests in one second")

func (o *Once) id() string {
	if o.Signature != "" {
		return seal.Hash("signature\n" + o.ProjectID + "\n" + o.Signature)
	}
	return seal.Hash(o.ProjectID + "\n" + o.Route + "\n" + o.Key)
}

// Begin takes up a request that may have been sent before: it returns the
// first one's answer, or nil when this is the first. Call end when the request
// is done. Refusals: Invalid for the key, Mismatch for another body under the
// same key, Conflict while the first is under way.
func (s *Service) Begin(ctx context.Context, o *Once) (answer []byte, end func(), err error) {
	if len(o.Key) < 1 || len(o.Key) > maxOnceKey || !isPrintable(o.Key) {
		return nil, nil, fault.Invalidf("the header Idempotency-Key must have 1 to %d printable ASCII characters", maxOnceKey)
	}
	id := o.id()
	if _, running := s.running.LoadOrStore(id, true); running {
		return nil, nil, errInFlight
	}
	end = func() { s.running.Delete(id) }
	stored, err := s.store.Answer(ctx, id, s.now())
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, end, nil
	case err == nil && stored.BodyHash != seal.Hash(string(o.Body)):
		err = fault.New(fault.Mismatch, "idempotency_key_reused", "this Idempotency-Key was used with another body")
	case err == nil:
		return []byte(stored.Text.Reveal()), end, nil
	}
	end()
	return nil, nil, err
}

// told keeps what is told of something that was made in a room that was there,
// in the transaction that made it.
func (s *Service) told(ctx context.Context, o *Once, c Created, now time.Time) error {
	if o == nil {
		return nil
	}
	answer, err := o.Answer(c)
	if err != nil {
		return err
	}
	return s.keep(ctx, o, answer, now)
}

// keep stores what is told of a success in the transaction of its room. When
// another process was first, nothing of this one may stay.
func (s *Service) keep(ctx context.Context, o *Once, answer []byte, now time.Time) error {
	taken := errInFlight
	a := Answer{ID: o.id(), BodyHash: seal.Hash(string(o.Body)), Text: seal.Secret(answer), ExpiresAt: now.Add(keepAnswers)}
	if o.Signature != "" {
		a.BodyHash, a.Text, a.ExpiresAt, taken = "", "", now.Add(o.For), errReplayed
	}
	fresh, err := s.store.KeepAnswer(ctx, a, now)
	if err == nil && !fresh {
		err = taken
	}
	return err
}

// MarkAttendance notes in a room's event log that somebody attended, as
// another system tells it. It gives no seat and moves nothing. The same body
// again within a minute changes nothing. Refusals: NotFound, Invalid for the
// name, Gone when the room is over. exclusive keeps the body from being used as
// a call to join_room that is signed over its body alone (see Invitation.Signed).
func (s *Service) MarkAttendance(ctx context.Context, roomID, name string, body []byte, exclusive bool) error {
	if err := field.Name("user_info.name", name, 1, maxText); err != nil {
		return err
	}
	return s.change(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		hash := seal.Hash(string(body))
		fresh, err := s.store.KeepAnswer(ctx, Answer{ID: seal.Hash(r.ID + "\n" + hash), BodyHash: hash, ExpiresAt: now.Add(markOnce)}, now)
		if err != nil || !fresh {
			return err
		}
		if r.Over() {
			return refusal(r)
		}
		r.marked(name, now)
		if exclusive {
			return s.usedAsEvent(ctx, r, body, now)
		}
		return nil
	})
}

// A join event {"room_id","user_info":{"name"}} is, to the byte, a call to
// join_room, and both may be signed over the body alone. Therefore the first use
// of a body decides what it is, for usedFor: longer than a meeting lasts.
const usedFor = 24 * time.Hour

var errSignedEvent = fault.New(fault.Conflict, "signed_join_event",
	"this body was sent as a join event already, so its signature cannot be used for join_room: "+
		"add user_info.client_user_id, or sign with SVC-HMAC-V5-1")

func useID(roomID, use string, body []byte) string {
	return seal.Hash(use + "\n" + roomID + "\n" + seal.Hash(string(body)))
}

// usedAsEvent remembers that a body is a join event, unless it was a call to
// join_room before.
func (s *Service) usedAsEvent(ctx context.Context, r *Room, body []byte, now time.Time) error {
	_, err := s.store.Answer(ctx, useID(r.ID, "join", body), now)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err = s.store.KeepAnswer(ctx, Answer{ID: useID(r.ID, "event", body), ExpiresAt: now.Add(usedFor)}, now)
	return err
}

// usedAsCall remembers that a body is a call to join_room, and refuses one that
// was a join event before.
func (s *Service) usedAsCall(ctx context.Context, r *Room, body []byte, now time.Time) error {
	fresh, err := s.store.KeepAnswer(ctx, Answer{ID: useID(r.ID, "join", body), ExpiresAt: now.Add(usedFor)}, now)
	if err != nil || !fresh {
		return err
	}
	_, err = s.store.Answer(ctx, useID(r.ID, "event", body), now)
	switch {
	case err == nil:
		return errSignedEvent
	case fault.Is(err, fault.NotFound):
		return nil
	}
	return err
}

func isPrintable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
