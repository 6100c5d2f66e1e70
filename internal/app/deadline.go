package app

import (
	"net/http"
	"slices"
	"time"

	"parley/internal/media"
)

const (
	// chunkWriteTimeout is the time that a client has to read one chunk of a
	// response.
	chunkWriteTimeout = 30 * time.Second
	// writeChunkSize is the number of bytes with a deadline of their own, so that a
	// slow phone may take minutes for a file as long as it keeps reading.
	writeChunkSize = 32 << 10
)

// withWriteDeadlines ends responses that their clients do not read. It does not
// apply to signaling, which hijacks its connections.
func withWriteDeadlines(next http.Handler, timeout time.Duration) http.Handler {
	signaling := media.SignalingPaths()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(signaling, r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		timed := &deadlineWriter{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}
		timed.extendDeadline()
		next.ServeHTTP(timed, r)
		timed.extendDeadline() // for the flush after the handler returns
	})
}

// deadlineWriter extends the write deadline with each chunk.
type deadlineWriter struct {
	http.ResponseWriter
	control  *http.ResponseController
	timeout  time.Duration
	extended time.Time // when the deadline was set last
}

// extendDeadline gives the client the timeout from now. A deadline that is still
// almost as far ahead stays, because setting one costs as much as a small response.
func (w *deadlineWriter) extendDeadline() {
	now := time.Now()
	if now.Sub(w.extended) < w.timeout/8 {
		return
	}
	w.extended = now
	// The error is ignored because the response writers of tests have no deadline.
	_ = w.control.SetWriteDeadline(now.Add(w.timeout))
}

// Write writes b in chunks of writeChunkSize, each with its own deadline.
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
