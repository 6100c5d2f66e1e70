package sign

import (
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"strings"
)

// WebhookSecretPrefix is the prefix of every project secret, which Standard
// Webhooks 1.0 ("Signature scheme") requires of symmetric secrets.
const WebhookSecretPrefix = "whsec_"

// Bounds of a decoded webhook secret in bytes, from the same place.
const (
	minWebhookSecret = 24
	maxWebhookSecret = 64
)

// webhookVersion is the prefix of every symmetric signature in the header.
const webhookVersion = "v1,"

// Errors of the webhook functions. None repeats a secret.
var (
	ErrWebhookSecret    = errors.New(`a webhook secret is "whsec_" and the standard Base64 of 24 to 64 bytes`)
	ErrWebhookID        = errors.New("a webhook id must not be empty or contain a full stop or a space")
	ErrWebhookSignature = errors.New("no signature in the header matches")
)

// WebhookText returns the text that a webhook signature covers (Standard
// Webhooks 1.0, "Signature scheme"): id, timestamp and raw body with full
// stops between them.
func WebhookText(id, timestamp string, body []byte) []byte {
	return append(webhookHead(len(body), id, timestamp), body...)
}

func webhookHead(extra int, id, timestamp string) []byte {
	head := make([]byte, 0, len(id)+len(timestamp)+2+extra)
	head = append(head, id...)
	head = append(head, '.')
	head = append(head, timestamp...)
	return append(head, '.')
}

// Webhook returns the value of the header "webhook-signature" for one
// delivery: "v1," and the standard Base64 of the HMAC-SHA256. With several
// secrets, during a rotation, it contains one signature for each in their order,
// separated by spaces. id goes into "webhook-id" and
// timestamp, Unix seconds in ASCII digits, into "webhook-timestamp". The
// errors are ErrWebhookSecret, ErrWebhookID and ErrTimestamp.
func Webhook(secrets []string, id, timestamp string, body []byte) (string, error) {
	if err := checkWebhook(id, timestamp); err != nil {
		return "", err
	}
	if len(secrets) == 0 {
		return "", ErrWebhookSecret
	}
	head := webhookHead(0, id, timestamp)
	var header strings.Builder
	for i, secret := range secrets {
		sum, err := webhookSum(secret, head, body)
		if err != nil {
			return "", err
		}
		if i > 0 {
			header.WriteByte(' ')
		}
		header.WriteString(webhookVersion)
		header.Write(sum[:])
	}
	return header.String(), nil
}

// VerifyWebhook returns nil if one of the signatures in header, the value of
// "webhook-signature", was made with one of the secrets. It skips signatures of
// versions other than v1. The errors are ErrWebhookSecret for a malformed secret
// or none, ErrWebhookID and ErrTimestamp for malformed headers, and ErrWebhookSignature. It
// does not check whether the timestamp is recent; also use CheckTimestamp against
// replays.
func VerifyWebhook(secrets []string, id, timestamp string, body []byte, header string) error {
	if err := checkWebhook(id, timestamp); err != nil {
		return err
	}
	if len(secrets) == 0 {
		return ErrWebhookSecret
	}
	head := webhookHead(0, id, timestamp)
	found := false
	for _, secret := range secrets {
		want, err := webhookSum(secret, head, body)
		if err != nil {
			return err
		}
		for signature := range strings.SplitSeq(header, " ") {
			encoded, ok := strings.CutPrefix(signature, webhookVersion)
			if ok && hmac.Equal(want[:], []byte(encoded)) {
				found = true
			}
		}
	}
	if !found {
		return ErrWebhookSignature
	}
	return nil
}

// checkWebhook refuses an id and a timestamp that would make the signed text
// ambiguous, as the specification advises.
func checkWebhook(id, timestamp string) error {
	if id == "" || strings.ContainsAny(id, ". \r\n") {
		return ErrWebhookID
	}
	_, err := ParseTimestamp(timestamp)
	return err
}

func webhookSum(secret string, head, body []byte) (encoded [base64Size]byte, err error) {
	key, err := webhookKey(secret)
	if err != nil {
		return encoded, err
	}
	sum := macOf(key, head, body)
	base64.StdEncoding.Encode(encoded[:], sum[:])
	return encoded, nil
}

// webhookKey returns the decoded bytes of a secret.
func webhookKey(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, WebhookSecretPrefix)
	if !ok || strings.ContainsAny(text, "\r\n") { // the decoder skips line breaks
		return nil, ErrWebhookSecret
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(key) < minWebhookSecret || len(key) > maxWebhookSecret {
		return nil, ErrWebhookSecret
	}
	return key, nil
}
