package httpx

import (
	"encoding/base32"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

var requestIDEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

const (
	requestIDPrefix = "req_"
	requestIDBytes  = 12 // 6 of the time in Unix milliseconds, and 6 random ones
)

// newRequestID returns the ID of a request that began at a time. IDs begin with the time, so that a request is
// found by its ID without an index of all IDs.
func newRequestID(at time.Time) string {
	var raw [8 + requestIDBytes - 6]byte
	binary.BigEndian.PutUint64(raw[:], uint64(at.UnixMilli()))
	// IDs are no secrets, so they need no random numbers of package crypto/rand, which cost more than the rest.
	random := rand.Uint64()
	for i := range raw[8:] {
		raw[8+i] = byte(random >> (8 * i))
	}
	var id [len(requestIDPrefix) + (8*requestIDBytes+4)/5]byte
	requestIDEncoding.Encode(id[copy(id[:], requestIDPrefix):], raw[2:])
	return string(id[:])
}

// RequestTime returns the time at which the request with an ID began, rounded down to the millisecond, and
// whether the text is a request ID.
func RequestTime(id string) (time.Time, bool) {
	text, _ := strings.CutPrefix(id, requestIDPrefix)
	raw, err := requestIDEncoding.DecodeString(text)
	if err != nil || len(raw) != requestIDBytes || len(id) == len(text) {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(append([]byte{0, 0}, raw[:6]...)))), true
}

const headerRequestID = "X-Request-Id" // in the canonical form of net/http

// WithRequestID sets the header X-Request-ID of every response.
func WithRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()[headerRequestID] = FromContext(r.Context()).IDHeader()
		next.ServeHTTP(w, r)
	})
}
