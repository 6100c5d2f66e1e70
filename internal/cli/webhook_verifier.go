package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"parley.example/client/sign"
)

// The headers of a webhook.
const (
	headerWebhookID        = "webhook-id"
	headerWebhookTimestamp = "webhook-timestamp"
	headerWebhookSignature = "webhook-signature"
	headerWebhookReplay    = "webhook-replay"
)

// timestampLayout is RFC 3339 with milliseconds, for times in UTC.
const timestampLayout = "2006-01-02T15:04:05.000Z"

// maxRemembered is the number of webhooks whose ids are kept in memory.
const maxRemembered = 10_000

// receivedWebhook is a received delivery.
type receivedWebhook struct {
	header http.Header
	target string // path and query of the request
	body   []byte
	at     time.Time
}

// webhookReport is the result of checking a delivery.
type webhookReport struct {
	ReceivedAt string `json:"received_at"`
	Target     string `json:"target"`
	WebhookID  string `json:"webhook_id"`
	Type       string `json:"type"`
	Sequence   int64  `json:"sequence"`
	Previous   int64  `json:"previous"`
	ProjectID  string `json:"project_id"`
	RoomID     string `json:"room_id"` // empty for an event of the project itself

	Valid      bool  `json:"valid"`
	Problem    *hint `json:"problem,omitempty"` // reason why it is invalid
	Signature  int   `json:"signature"`         // position of the matching signature, from 1; 0 for none
	Signatures int   `json:"signatures"`        // number of signatures; two during the overlap of a rotation

	// The following fields are set only if Valid is true.
	Times  int  `json:"times"` // how often it was received so far
	Replay bool `json:"replay"`
	Late   bool `json:"late"` // a webhook with a higher sequence was received before
	// Missing is true if events for this target were not received, up to the one
	// with the sequence Previous.
	Missing bool  `json:"missing"`
	Last    int64 `json:"last"` // highest sequence received before; 0 for none

	Status  int             `json:"status"` // status of the response
	Payload json.RawMessage `json:"payload,omitempty"`
	Body    string          `json:"body,omitempty"` // set if the body is not JSON
}

// payload contains the fields of a body that the verifier needs.
type payload struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Sequence  int64  `json:"sequence"`
	Previous  int64  `json:"previous"`
	ProjectID string `json:"project_id"`
	Data      struct {
		RoomID string `json:"room_id"`
	} `json:"data"`
}

// webhookVerifier checks deliveries and remembers the valid ones.
type webhookVerifier struct {
	secret  string
	project string // id of the project with this secret; empty if unknown

	countByID    map[string]int               // by id
	bodyHashes   map[string][sha256.Size]byte // by id
	order        []string                     // ids, the oldest first
	lastSequence map[string]int64             // highest sequence by stream, which is target and room
	received     int
	valid        int
	duplicates   int
	gaps         int
}

func newWebhookVerifier(secret, project string) *webhookVerifier {
	return &webhookVerifier{
		secret:       secret,
		project:      project,
		countByID:    map[string]int{},
		bodyHashes:   map[string][sha256.Size]byte{},
		lastSequence: map[string]int64{},
	}
}

// record checks a delivery. It remembers only valid ones, so that messages of
// other senders cannot hide missing events.
func (l *webhookVerifier) record(d receivedWebhook) webhookReport {
	l.received++
	a := webhookReport{ReceivedAt: d.at.UTC().Format(timestampLayout), Target: d.target,
		WebhookID: d.header.Get(headerWebhookID)}
	var p payload
	if err := json.Unmarshal(d.body, &p); err == nil {
		a.Type, a.Sequence, a.Previous = p.Type, p.Sequence, p.Previous
		a.ProjectID, a.RoomID = p.ProjectID, p.Data.RoomID
		a.Payload = d.body
	} else {
		a.Body = string(d.body)
	}
	a.Signature, a.Signatures, a.Problem = l.checkSignatures(d, p)
	if a.Valid = a.Problem == nil; !a.Valid {
		return a
	}
	l.valid++
	l.remember(a.WebhookID, d.body)
	a.Times = l.countByID[a.WebhookID]
	a.Replay = d.header.Get(headerWebhookReplay) == "true"
	if a.Times > 1 {
		l.duplicates++
	}
	if a.Replay || a.Times > 1 {
		return a
	}
	stream := a.Target + " " + a.RoomID
	last, known := l.lastSequence[stream]
	a.Last = last
	a.Late = known && a.Sequence < last
	// Events before the first received one are not missing, because they were sent
	// before this command was started.
	a.Missing = known && a.Previous > last
	if a.Missing {
		l.gaps++
	}
	l.lastSequence[stream] = max(last, a.Sequence)
	return a
}

func (l *webhookVerifier) remember(id string, body []byte) {
	if l.countByID[id]++; l.countByID[id] > 1 {
		return
	}
	l.bodyHashes[id] = sha256.Sum256(body)
	if l.order = append(l.order, id); len(l.order) > maxRemembered {
		delete(l.countByID, l.order[0])
		delete(l.bodyHashes, l.order[0])
		l.order = l.order[1:]
	}
}

// checkSignatures returns the position of the matching signature, the number of
// signatures, and the problem of the delivery, which is nil for a valid one.
func (l *webhookVerifier) checkSignatures(d receivedWebhook, p payload) (match, count int, problem *hint) {
	for _, name := range []string{headerWebhookID, headerWebhookTimestamp, headerWebhookSignature} {
		if d.header.Get(name) == "" {
			return 0, 0, &hint{"header_missing", "the header " + name + " is missing"}
		}
	}
	signatures := strings.Fields(d.header.Get(headerWebhookSignature))
	for i, signature := range signatures {
		switch err := l.verifySignature(d, d.body, signature); {
		case err == nil:
			return i + 1, len(signatures), l.checkTimestamp(d)
		case !errors.Is(err, sign.ErrWebhookSignature):
			return 0, len(signatures), &hint{"header_malformed", "a header is malformed: " + err.Error()}
		}
	}
	return 0, len(signatures), l.explainMismatch(d, p, signatures)
}

func (l *webhookVerifier) verifySignature(d receivedWebhook, body []byte, signature string) error {
	return sign.VerifyWebhook([]string{l.secret}, d.header.Get(headerWebhookID),
		d.header.Get(headerWebhookTimestamp), body, signature)
}

// checkTimestamp returns the problem with the timestamp of a delivery whose
// signature matches; nil for none.
func (l *webhookVerifier) checkTimestamp(d receivedWebhook) *hint {
	limit := int(sign.DefaultSkew.Seconds())
	check := sign.CheckTimestamp(d.header.Get(headerWebhookTimestamp), d.at, sign.DefaultSkew)
	switch check.Freshness {
	case sign.Behind:
		return &hint{"timestamp_behind",
			fmt.Sprintf("the signature matches, but webhook-timestamp is %d s behind this clock, "+
				"and the limit is %d s: the webhook was delayed or repeated on the way, or a clock is wrong",
				-check.SkewSeconds, limit)}
	case sign.Ahead:
		return &hint{"timestamp_ahead",
			fmt.Sprintf("the signature matches, but webhook-timestamp is %d s ahead of this clock, "+
				"and the limit is %d s: a clock is wrong", check.SkewSeconds, limit)}
	default:
		return nil
	}
}

// explainMismatch returns the probable reason why no signature matches.
func (l *webhookVerifier) explainMismatch(d receivedWebhook, p payload, signatures []string) *hint {
	id := d.header.Get(headerWebhookID)
	if first, ok := l.bodyHashes[id]; ok && first != sha256.Sum256(d.body) {
		return &hint{"body_changed", "the body differs from that of an earlier delivery of this webhook: " +
			"it was changed on the way"}
	}
	if l.reformatted(d, signatures) {
		return &hint{"body_reformatted",
			"the body was formatted on the way: without its white space the signature matches"}
	}
	switch {
	case p.ID == "":
		return &hint{"body_changed", "the body is not an event of Parley: " +
			"it was changed or truncated on the way, or another sender uses this URL"}
	case p.ID != id:
		return &hint{"body_changed", "the header webhook-id and the id in the body differ: " +
			"one of them was changed on the way"}
	case l.project != "" && p.ProjectID != l.project:
		return &hint{"other_project", fmt.Sprintf("the body is from project %s, but the secret belongs to project %s",
			sanitizeText(p.ProjectID), l.project)}
	case l.valid > 0:
		return &hint{"body_changed", "no signature matches, but the secret has matched others: the body or a header " +
			"was changed on the way, unless the secret has been rotated and its overlap has ended"}
	default:
		return &hint{"other_secret",
			"no signature matches: the secret belongs to another project or is no longer live, " +
				"or the body was changed on the way"}
	}
}

// reformatted reports whether the signature matches the body without white space.
func (l *webhookVerifier) reformatted(d receivedWebhook, signatures []string) bool {
	var compact bytes.Buffer
	if json.Compact(&compact, d.body) != nil {
		return false
	}
	for _, signature := range signatures {
		if l.verifySignature(d, compact.Bytes(), signature) == nil {
			return true
		}
	}
	return false
}
