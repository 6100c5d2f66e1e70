package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"parley.example/client/sign"
)

// ErrInvalidSignature is returned for a webhook that is not from Parley, is too
// old, or was changed on its way.
var ErrInvalidSignature = errors.New("parley: invalid signature of a webhook")

// maxWebhook is how many bytes the body of a webhook may have. Parley sends less.
const maxWebhook = 1 << 20

// VerifyWebhook checks the signature and the time of a webhook and returns its
// event. secrets are the project secret, and during its rotation also the previous
// one. body is the body as it was received, byte for byte. The timestamp may
// differ from now by 5 minutes (sign.DefaultSkew). The errors are
// ErrInvalidSignature, and sign.ErrWebhookSecret for a malformed secret.
func VerifyWebhook(secrets []string, header http.Header, body []byte, now time.Time) (*RoomEvent, error) {
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		if header.Get(name) == "" {
			return nil, fmt.Errorf("%w: missing header %s", ErrInvalidSignature, name)
		}
	}
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	err := sign.VerifyWebhook(secrets, id, timestamp, body, header.Get("webhook-signature"))
	switch {
	case errors.Is(err, sign.ErrWebhookSecret):
		return nil, fmt.Errorf("parley: %w", err)
	case errors.Is(err, sign.ErrWebhookSignature):
		return nil, fmt.Errorf("%w: no signature matches", ErrInvalidSignature)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrInvalidSignature, err)
	}
	switch sign.CheckTimestamp(timestamp, now, sign.DefaultSkew).Freshness {
	case sign.Behind:
		return nil, fmt.Errorf("%w: the timestamp is too old", ErrInvalidSignature)
	case sign.Ahead:
		return nil, fmt.Errorf("%w: the timestamp is too new", ErrInvalidSignature)
	}
	received := new(RoomEvent)
	if err := decode(body, received); err != nil {
		return nil, err
	}
	return received, nil
}

// WebhookHandler returns a handler of webhooks. It calls handle for each event
// whose signature is valid, and responds 204 if handle returns nil. After an error
// of handle it responds 500, so that Parley sends the event again. It refuses other
// requests: 405 for a method other than POST, 413 for a body over 1 MiB, and 401
// for an invalid signature. Parley sends an event at least once: an event with the
// ID of an earlier one is the same event.
func WebhookHandler(secrets []string, handle func(context.Context, *RoomEvent) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "webhooks are sent with POST", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhook))
		if err != nil {
			status := http.StatusBadRequest
			if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
				status = http.StatusRequestEntityTooLarge
			}
			http.Error(w, "the body could not be read", status)
			return
		}
		received, err := VerifyWebhook(secrets, r.Header, body, time.Now())
		if errors.Is(err, ErrInvalidSignature) {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		if err == nil {
			err = handle(r.Context(), received)
		}
		if err != nil {
			http.Error(w, "the event was not handled", http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}
