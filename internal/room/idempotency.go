package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/seal"
	"parley/internal/validate"
)

const (
	// idempotencyTTL is how long a creation with a key is answered again.
	idempotencyTTL = 24 * time.Hour
	// markDedupeWindow is how long the same join event counts once.
	markDedupeWindow  = time.Minute
	maxIdempotencyKey = 255
	purgeInterval     = time.Minute
)

// IdempotencyKey makes a creation, of a room or of a link into one, happen once: the same
// key of the same project on the same route, with the same body, is the same
// creation for 24 hours, and gets the first one's answer again.
type IdempotencyKey struct {
	ProjectID string
	Route     string
	Key       string // 1 to 255 printable ASCII characters
	Body      []byte // raw, as it was signed
	// Signature identifies a signed request that was sent without a key. It
	// replaces Route, Key and Body: the request takes effect once within For, and
	// a repetition is refused, because its answer is not kept.
	Signature string
	ValidFor  time.Duration // as long as the signature is valid
	// Answer makes what is told of a success, which is kept with the room. It
	// is set by the time of the creation.
	Render func(Created) ([]byte, error)
}

// IdempotencyRecord is what was told of a request, kept to be told again. Without a text
// it only says that the request was met.
type IdempotencyRecord struct {
	ID          string
	BodyHash    string
	SavedResult seal.Secret
	ExpiresAt   time.Time
}

var errInFlight = &fault.Error{Kind: fault.Conflict, Code: "request_in_flight", RetryAfter: time.Second,
	Message: "a request with this Idempotency-Key is still under way, try again in a moment"}

var errReplayed = fault.New(fault.Conflict, "request_replayed",
	"this signed request was carried out already: sign each request with a current timestamp, "+
		"and send a different Idempotency-Key with each of two equal requests in one second")

func (o *IdempotencyKey) recordID() string {
	if o.Signature != "" {
		return seal.Hash("signature\n" + o.ProjectID + "\n" + o.Signature)
	}
	return seal.Hash(o.ProjectID + "\n" + o.Route + "\n" + o.Key)
}

// BeginIdempotent takes up a request that may have been sent before: it returns the
// first one's answer, or nil when this is the first. Call end when the request
// is done. Refusals: Invalid for the key, Mismatch for another body under the
// same key, Conflict while the first is under way.
func (s *Service) BeginIdempotent(ctx context.Context, o *IdempotencyKey) (answer []byte, end func(), err error) {
	if len(o.Key) < 1 || len(o.Key) > maxIdempotencyKey || !isPrintable(o.Key) {
		return nil, nil, fault.Invalidf("the header Idempotency-Key must have 1 to %d printable ASCII characters", maxIdempotencyKey)
	}
	id := o.recordID()
	if _, running := s.inFlight.LoadOrStore(id, true); running {
		return nil, nil, errInFlight
	}
	end = func() { s.inFlight.Delete(id) }
	stored, err := s.store.IdempotencyRecord(ctx, id, s.now())
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, end, nil
	case err == nil && stored.BodyHash != seal.Hash(string(o.Body)):
		err = fault.New(fault.Mismatch, "idempotency_key_reused", "this Idempotency-Key was used with another body")
	case err == nil:
		return []byte(stored.SavedResult.Reveal()), end, nil
	}
	end()
	return nil, nil, err
}

// saveResult keeps what is told of something that was made in a room that was there,
// in the transaction that made it.
func (s *Service) saveResult(ctx context.Context, o *IdempotencyKey, c Created, now time.Time) error {
	if o == nil {
		return nil
	}
	answer, err := o.Render(c)
	if err != nil {
		return err
	}
	return s.saveIdempotencyRecord(ctx, o, answer, now)
}

// saveIdempotencyRecord stores what is told of a success in the transaction of its room. When
// another process was first, nothing of this one may stay.
func (s *Service) saveIdempotencyRecord(ctx context.Context, o *IdempotencyKey, answer []byte, now time.Time) error {
	taken := errInFlight
	a := IdempotencyRecord{ID: o.recordID(), BodyHash: seal.Hash(string(o.Body)), SavedResult: seal.Secret(answer), ExpiresAt: now.Add(idempotencyTTL)}
	if o.Signature != "" {
		a.BodyHash, a.SavedResult, a.ExpiresAt, taken = "", "", now.Add(o.ValidFor), errReplayed
	}
	fresh, err := s.store.InsertIdempotencyRecord(ctx, a, now)
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
	if err := validate.Name("user_info.name", name, 1, maxText); err != nil {
		return err
	}
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		hash := seal.Hash(string(body))
		fresh, err := s.store.InsertIdempotencyRecord(ctx, IdempotencyRecord{ID: seal.Hash(r.ID + "\n" + hash), BodyHash: hash, ExpiresAt: now.Add(markDedupeWindow)}, now)
		if err != nil || !fresh {
			return err
		}
		if r.Over() {
			return checkOpen(r)
		}
		r.emitAttendanceMark(name, now)
		if exclusive {
			return s.markBodyAsEvent(ctx, r, body, now)
		}
		return nil
	})
}

// A join event {"room_id","user_info":{"name"}} is, to the byte, a call to
// join_room, and both may be signed over the body alone. Therefore the first use
// of a body decides what it is, for signedBodyTTL: longer than a meeting lasts.
const signedBodyTTL = 24 * time.Hour

var errSignedEvent = fault.New(fault.Conflict, "signed_join_event",
	"this body was sent as a join event already, so its signature cannot be used for join_room: "+
		"add user_info.client_user_id, or sign with SVC-HMAC-V5-1")

func signedBodyID(roomID, use string, body []byte) string {
	return seal.Hash(use + "\n" + roomID + "\n" + seal.Hash(string(body)))
}

// markBodyAsEvent remembers that a body is a join event, unless it was a call to
// join_room before.
func (s *Service) markBodyAsEvent(ctx context.Context, r *Room, body []byte, now time.Time) error {
	_, err := s.store.IdempotencyRecord(ctx, signedBodyID(r.ID, "join", body), now)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err = s.store.InsertIdempotencyRecord(ctx, IdempotencyRecord{ID: signedBodyID(r.ID, "event", body), ExpiresAt: now.Add(signedBodyTTL)}, now)
	return err
}

// markBodyAsCall remembers that a body is a call to join_room, and refuses one that
// was a join event before.
func (s *Service) markBodyAsCall(ctx context.Context, r *Room, body []byte, now time.Time) error {
	fresh, err := s.store.InsertIdempotencyRecord(ctx, IdempotencyRecord{ID: signedBodyID(r.ID, "join", body), ExpiresAt: now.Add(signedBodyTTL)}, now)
	if err != nil || !fresh {
		return err
	}
	_, err = s.store.IdempotencyRecord(ctx, signedBodyID(r.ID, "event", body), now)
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
