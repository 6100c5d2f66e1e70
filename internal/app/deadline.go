package app

import (
	"net/http"
	"slices"
	"time"

	"parley/internal/media"
)

const (
	// writeWithin is how long a client may take for one chunk of a response.
	writeWithin = 30 * time.Second
	// writeChunk is how much of a response has a deadline of its own, in bytes:
	// a slow phone may take minutes for a file, as long as it goes on reading.
	writeChunk = 32 << 10
)

// writeDeadlines ends responses that their clients do not read. Signalling is
// left out: it takes over its connection.
func writeDeadlines(next http.Handler, within time.Duration) http.Handler {
	signalling := media.Paths()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(signalling, r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		timed := &timedWriter{ResponseWriter: w, control: http.NewResponseController(w), within: within}
		timed.renew()
		next.ServeHTTP(timed, r)
		timed.renew() // for what is flushed after it
	})
}

// timedWriter moves the deadline on as long as the client reads.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
}

func (w *timedWriter) renew() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.within)) // tests have writers without one
}

// Write implements http.ResponseWriter.
func (w *timedWriter) Write(b []byte) (n int, err error) {
	for {
		chunk := b[n:min(n+writeChunk, len(b))]
		w.renew()
		written, err := w.ResponseWriter.Write(chunk)
		n += written
		if err != nil || n == len(b) {
			return n, err
		}
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
