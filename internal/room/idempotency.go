package room

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/seal"
	"parley/internal/validate"
)

const (
	// idempotencyTTL is how long a repeated creation gets the saved result.
	idempotencyTTL = 24 * time.Hour
	// markDedupeWindow is how long the same join event counts once.
	markDedupeWindow  = time.Minute
	maxIdempotencyKey = 255
	purgeInterval     = time.Minute
)

// IdempotencyKey makes the creation of a room or of a link, or a simulation, take effect once. The
// same key of the same project on the same route, with the same body, means the
// same creation for 24 hours, and gets the result of the first one.
type IdempotencyKey struct {
	ProjectID string
	Route     string
	Key       string // 1 to 255 printable ASCII characters
	Body      []byte // raw, as it was signed
	// Signature identifies a signed request that was sent without a key. It
	// replaces Route, Key and Body: the request takes effect once within ValidFor,
	// and a repetition is refused, because its result is not saved.
	Signature string
	ValidFor  time.Duration // as long as the signature is valid

	saved *Created // the result of the first request; nil if this is the first
}

// savedResult returns the result of an earlier request with the key; nil if
// there is none, or no key.
func (k *IdempotencyKey) savedResult() *Created {
	if k == nil {
		return nil
	}
	return k.saved
}

// IdempotencyRecord is the stored result of a request. Without SavedResult it
// only says that the request took effect.
type IdempotencyRecord struct {
	ID          string
	BodyHash    string
	SavedResult seal.Secret // a Created in JSON, because it contains a link
	ExpiresAt   time.Time
}

var errInFlight = &fault.Error{Kind: fault.Conflict, Code: "request_in_flight", RetryAfter: time.Second,
	Message: "a request with this Idempotency-Key is still under way, try again in a moment"}

var errReplayed = fault.New(fault.Conflict, "request_replayed",
	"this signed request was carried out already: sign each request with a current timestamp, "+
		"and send a different Idempotency-Key with each of two equal requests in one second")

func (k *IdempotencyKey) recordID() string {
	if k.Signature != "" {
		return seal.Hash("signature\n" + k.ProjectID + "\n" + k.Signature)
	}
	return seal.Hash(k.ProjectID + "\n" + k.Route + "\n" + k.Key)
}

// BeginIdempotent begins a request with a key, and loads the result of an earlier
// request with the same key, which CreateQuick, Schedule, Reschedule, Invite,
// OpenEarly and Simulate then return again. Call end when the request is done. It does nothing
// if the key is nil or a signature. Errors: Invalid for the key, Mismatch if the
// key was used with another body, Conflict while the first request is in flight.
func (s *Bookings) BeginIdempotent(ctx context.Context, k *IdempotencyKey) (end func(), err error) {
	if k == nil || k.Signature != "" {
		return func() {}, nil
	}
	if len(k.Key) < 1 || len(k.Key) > maxIdempotencyKey || !isPrintable(k.Key) {
		return nil, fault.InvalidField("idempotency_key", "must have 1 to %d printable ASCII characters", maxIdempotencyKey)
	}
	id := k.recordID()
	if _, running := s.inFlight.LoadOrStore(id, true); running {
		return nil, errInFlight
	}
	if k.saved, err = s.loadResult(ctx, id, k.Body); err != nil {
		s.inFlight.Delete(id)
		return nil, err
	}
	return func() { s.inFlight.Delete(id) }, nil
}

// loadResult returns the saved result of a request with the body; nil if there
// is none.
func (s *Bookings) loadResult(ctx context.Context, id string, body []byte) (*Created, error) {
	stored, err := s.store.IdempotencyRecord(ctx, id, s.now())
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case stored.BodyHash != seal.Hash(string(body)):
		return nil, fault.New(fault.Mismatch, "idempotency_key_reused", "this Idempotency-Key was used with another body")
	}
	return decodeResult([]byte(stored.SavedResult.Reveal()))
}

// decodeResult reads a saved result. Earlier releases saved the response of the
// API instead, under "body"; such a record is at most 24 hours old.
func decodeResult(text []byte) (*Created, error) {
	var saved struct {
		Created
		Adjusted string `json:"adjusted"`
		Body     *struct {
			RoomID         string    `json:"room_id"`
			RoomType       Type      `json:"room_type"`
			StartTime      time.Time `json:"start_time"`
			ClientRoomID   string    `json:"client_room_id"`
			FinalLink      string    `json:"final_link"`
			InvitationLink string    `json:"invitation_link"`
		} `json:"body"`
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, fmt.Errorf("room: read the saved result of a request: %w", err)
	}
	if b := saved.Body; b != nil {
		saved.Created = Created{
			ID:           b.RoomID,
			ClientRoomID: b.ClientRoomID,
			Type:         b.RoomType,
			StartAt:      b.StartTime,
			FinalLink:    cmp.Or(b.FinalLink, b.InvitationLink),
		}
		if saved.Adjusted != "" {
			saved.Created.Adjusted = strings.Split(saved.Adjusted, ", ")
		}
	}
	return &saved.Created, nil
}

// saveResult stores the result of a request in the transaction that creates it,
// so that nothing is created if another process was first. It does nothing if the
// key is nil.
func (s *Bookings) saveResult(ctx context.Context, k *IdempotencyKey, c Created, now time.Time) error {
	if k == nil {
		return nil
	}
	record, taken := IdempotencyRecord{ID: k.recordID()}, errInFlight
	if k.Signature != "" {
		record.ExpiresAt, taken = now.Add(k.ValidFor), errReplayed
	} else {
		text, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("room: write the result of a request: %w", err)
		}
		record.BodyHash, record.SavedResult, record.ExpiresAt = seal.Hash(string(k.Body)), seal.Secret(text),
			now.Add(idempotencyTTL)
	}
	fresh, err := s.store.InsertIdempotencyRecord(ctx, record, now)
	if err == nil && !fresh {
		err = taken
	}
	return err
}

// MarkAttendance records in a room's event log that a person attended, as another
// system reports it. It reserves no seat. The same body within a minute has no
// effect. Errors: NotFound, Invalid for the name, Gone when the room is over. With
// exclusive, the body cannot be used as a call to join_room that is signed over its
// body alone (see Invitation.SignedBody).
func (s *Bookings) MarkAttendance(
	ctx context.Context, p project.Project, roomID, name string, body []byte, exclusive bool,
) error {
	if err := validate.Name("name", name, 1, validate.MaxText); err != nil {
		return err
	}
	allowed, err := s.entitlements(ctx, p)
	if err != nil {
		return err
	}
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		hash := seal.Hash(string(body))
		fresh, err := s.store.InsertIdempotencyRecord(ctx,
			IdempotencyRecord{ID: seal.Hash(r.ID + "\n" + hash), BodyHash: hash, ExpiresAt: now.Add(markDedupeWindow)}, now)
		if err != nil || !fresh {
			return err
		}
		if r.Over() {
			return checkOpen(r)
		}
		if err := s.useQuota(ctx, p, QuotaJoinEvents, allowed.Quotas.JoinEvents, now); err != nil {
			return err
		}
		r.emitAttendanceMark(name, now)
		if exclusive {
			return s.markBodyAsEvent(ctx, r, body, now)
		}
		return nil
	})
}

// signedBodyTTL is how long the first use of a body decides what it is: a join event
// {"room_id","user_info":{"name"}} has the same bytes as a call to join_room, and both
// may be signed over the body alone. It is longer than any meeting.
const signedBodyTTL = 24 * time.Hour

var errSignedEvent = fault.New(fault.Conflict, "signed_join_event",
	"this body was sent as a join event already, so its signature cannot be used for join_room: "+
		"add user_info.client_user_id, or sign with SVC-HMAC-V5-1")

func signedBodyID(roomID, use string, body []byte) string {
	return seal.Hash(use + "\n" + roomID + "\n" + seal.Hash(string(body)))
}

// markBodyAsEvent records that a body is a join event, unless it was used as a call
// to join_room before.
func (s *Bookings) markBodyAsEvent(ctx context.Context, r *Room, body []byte, now time.Time) error {
	_, err := s.store.IdempotencyRecord(ctx, signedBodyID(r.ID, "join", body), now)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err = s.store.InsertIdempotencyRecord(ctx,
		IdempotencyRecord{ID: signedBodyID(r.ID, "event", body), ExpiresAt: now.Add(signedBodyTTL)}, now)
	return err
}

// markBodyAsCall records that a body is a call to join_room. The error is Conflict if
// it was used as a join event before.
func (s *Bookings) markBodyAsCall(ctx context.Context, r *Room, body []byte, now time.Time) error {
	fresh, err := s.store.InsertIdempotencyRecord(ctx,
		IdempotencyRecord{ID: signedBodyID(r.ID, "join", body), ExpiresAt: now.Add(signedBodyTTL)}, now)
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
