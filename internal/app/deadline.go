package app

import (
	"net/http"
	"slices"
	"time"

	"parley/internal/media"
)

const (
	// chunkWriteTimeout is how long a client may take for one chunk of a response.
	chunkWriteTimeout = 30 * time.Second
	// writeChunkSize is how much of a response has a deadline of its own, in bytes:
	// a slow phone may take minutes for a file, as long as it goes on reading.
	writeChunkSize = 32 << 10
)

// withWriteDeadlines ends responses that their clients do not read. Signalling is
// left out: it takes over its connection.
func withWriteDeadlines(next http.Handler, within time.Duration) http.Handler {
	signalling := media.SignalingPaths()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(signalling, r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		timed := &deadlineWriter{ResponseWriter: w, control: http.NewResponseController(w), timeout: within}
		timed.extendDeadline()
		next.ServeHTTP(timed, r)
		timed.extendDeadline() // for what is flushed after it
	})
}

// deadlineWriter moves the deadline on as long as the client reads.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func (w *deadlineWriter) extendDeadline() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.timeout)) // tests have writers without one
}

// Write implements http.ResponseWriter.
func (w *deadlineWriter) Write(b []byte) (n int, err error) {
	for {
		chunk := b[n:min(n+writeChunkSize, len(b))]
		w.extendDeadline()
		written, err := w.ResponseWriter.Write(chunk)
		n += written
		if err != nil || n == len(b) {
			return n, err
		}
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *deadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
