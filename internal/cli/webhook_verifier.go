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

	"parley/client/sign"
)

// The headers of a webhook. Those of its signature are in the order in which
// they are signed.
const (
	headerWebhookID        = "webhook-id"
	headerWebhookTimestamp = "webhook-timestamp"
	headerWebhookSignature = "webhook-signature"
	headerWebhookReplay    = "webhook-replay"
)

// timestampLayout is how the moment of an arrival is written.
const timestampLayout = "2006-01-02T15:04:05.000Z"

// maxRemembered is of how many webhooks the ids are kept.
const maxRemembered = 10_000

// receivedWebhook is a webhook as it came.
type receivedWebhook struct {
	header http.Header
	target string // path and query it came to
	body   []byte
	at     time.Time
}

// webhookReport is what there is to say of a delivery.
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
	Problem    *hint `json:"problem,omitempty"` // why it is not
	Signature  int   `json:"signature"`         // which one fits, counted from 1; 0 for none
	Signatures int   `json:"signatures"`        // how many came: two while the secret is being rotated

	// What follows is told of valid ones only.
	Times  int  `json:"times"` // how often it has come by now
	Replay bool `json:"replay"`
	Late   bool `json:"late"` // one with a higher sequence has come before
	// Missing is true if events that were meant for this target have not come:
	// the last of them is that of Previous.
	Missing bool  `json:"missing"`
	Last    int64 `json:"last"` // sequence of the last one before; 0 for none

	Status  int             `json:"status"` // what it was answered with
	Payload json.RawMessage `json:"payload,omitempty"`
	Body    string          `json:"body,omitempty"` // where it is no JSON
}

// payload is what is read of a body.
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

// webhookVerifier judges deliveries, and remembers those that were valid.
type webhookVerifier struct {
	secret  string
	project string // whose secret it is; empty if that is not known

	countByID    map[string]int               // by id
	bodyHashes   map[string][sha256.Size]byte // by id
	order        []string                     // ids, the oldest first
	lastSequence map[string]int64             // the highest sequence, by target and room
	received     int
	valid        int
	duplicates   int
	gaps         int
}

func newWebhookVerifier(secret, project string) *webhookVerifier {
	return &webhookVerifier{secret: secret, project: project, countByID: map[string]int{}, bodyHashes: map[string][sha256.Size]byte{}, lastSequence: map[string]int64{}}
}

// record judges a delivery and, if it is valid, remembers it: what somebody else
// sent must not hide what is missing.
func (l *webhookVerifier) record(d receivedWebhook) webhookReport {
	l.received++
	a := webhookReport{ReceivedAt: d.at.UTC().Format(timestampLayout), Target: d.target, WebhookID: d.header.Get(headerWebhookID)}
	var p payload
	if err := json.Unmarshal(d.body, &p); err == nil {
		a.Type, a.Sequence, a.Previous, a.ProjectID, a.RoomID = p.Type, p.Sequence, p.Previous, p.ProjectID, p.Data.RoomID
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
	lane := a.Target + " " + a.RoomID
	last, known := l.lastSequence[lane]
	a.Last = last
	a.Late = known && a.Sequence < last
	// What went to a target before we listened there is not missing.
	a.Missing = known && a.Previous > last
	if a.Missing {
		l.gaps++
	}
	l.lastSequence[lane] = max(last, a.Sequence)
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

// checkSignatures says which of the signatures that came fits, how many came, and what is
// wrong.
func (l *webhookVerifier) checkSignatures(d receivedWebhook, p payload) (fits, came int, wrong *hint) {
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
			return 0, len(signatures), &hint{"header_malformed", "a header is not as it was sent: " + err.Error()}
		}
	}
	return 0, len(signatures), l.explainMismatch(d, p, signatures)
}

func (l *webhookVerifier) verifySignature(d receivedWebhook, body []byte, signature string) error {
	return sign.VerifyWebhook([]string{l.secret}, d.header.Get(headerWebhookID), d.header.Get(headerWebhookTimestamp), body, signature)
}

// checkTimestamp says what is wrong with the time of a delivery whose signature fits.
func (l *webhookVerifier) checkTimestamp(d receivedWebhook) *hint {
	bound := int(sign.DefaultSkew.Seconds())
	check := sign.CheckTimestamp(d.header.Get(headerWebhookTimestamp), d.at, sign.DefaultSkew)
	switch check.Freshness {
	case sign.Behind:
		return &hint{"timestamp_behind", fmt.Sprintf("the signature fits, but webhook-timestamp is %d s behind this clock, and %d s are taken: it was held up or is sent again by somebody, or a clock is wrong", -check.SkewSeconds, bound)}
	case sign.Ahead:
		return &hint{"timestamp_ahead", fmt.Sprintf("the signature fits, but webhook-timestamp is %d s ahead of this clock, and %d s are taken: a clock is wrong", check.SkewSeconds, bound)}
	default:
		return nil
	}
}

// explainMismatch looks for the reason why no signature fits. A signature itself tells
// nothing of that.
func (l *webhookVerifier) explainMismatch(d receivedWebhook, p payload, signatures []string) *hint {
	id := d.header.Get(headerWebhookID)
	if first, ok := l.bodyHashes[id]; ok && first != sha256.Sum256(d.body) {
		return &hint{"body_changed", "the body is not that of the first time this webhook came: it was changed on the way"}
	}
	if l.reformatted(d, signatures) {
		return &hint{"body_reformatted", "the body was written anew on the way: without its white space the signature fits"}
	}
	switch {
	case p.ID == "":
		return &hint{"body_changed", "the body is no event of Parley: it was changed or cut short on the way, or somebody else sends here"}
	case p.ID != id:
		return &hint{"body_changed", "the header webhook-id and the id in the body differ: one of them was changed on the way"}
	case l.project != "" && p.ProjectID != l.project:
		return &hint{"other_project", fmt.Sprintf("it says that it is from project %s, and the secret is that of project %s", sanitizeText(p.ProjectID), l.project)}
	case l.valid > 0:
		return &hint{"body_changed", "no signature fits, and the secret has fitted others: the body or a header was changed on the way, unless the secret has been rotated and its overlap has ended"}
	default:
		return &hint{"other_secret", "no signature fits: the secret is another project's or not live any more, or the body was changed on the way"}
	}
}

// reformatted reports whether white space in the body is all that is wrong.
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
