package connlimit

import (
	"net/http"
	"time"

	"parley/internal/refusal"
)

// streamWriter writes a response of HTTP/2. A client can refuse to take the data of a stream while
// its connection works, so that the deadlines of connection.Write do not apply. Each chunk
// therefore has a deadline of its own.
type streamWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	limits  *Limits
}

func newStreamWriter(w http.ResponseWriter, c *Limits) *streamWriter {
	return &streamWriter{ResponseWriter: w, control: http.NewResponseController(w), limits: c}
}

// Unwrap returns the writer below, for http.ResponseController.
func (w *streamWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes b in chunks of writeChunkSize.
func (w *streamWriter) Write(b []byte) (n int, err error) {
	for {
		err := w.within(func() error {
			written, err := w.ResponseWriter.Write(b[n:min(n+writeChunkSize, len(b))])
			n += written
			return err
		})
		if err != nil || n == len(b) {
			return n, err
		}
	}
}

// FlushError sends what was written.
func (w *streamWriter) FlushError() error { return w.within(w.control.Flush) }

// Flush is FlushError for code that uses http.Flusher.
func (w *streamWriter) Flush() { _ = w.FlushError() }

// within runs write under a deadline, and removes the deadline afterwards, because a response may
// pause for any time.
func (w *streamWriter) within(write func() error) error {
	began := time.Now()
	w.extendDeadline()
	err := write()
	if err != nil && time.Since(began) >= w.limits.writeTimeout {
		w.limits.refusals.Record(refusal.SlowReaders, "a response was not read in time")
	}
	_ = w.control.SetWriteDeadline(time.Time{})
	return err
}

// extendDeadline gives the client the write timeout from now. The error is ignored because it means
// that the stream is closed, which the write reports.
func (w *streamWriter) extendDeadline() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.limits.writeTimeout))
}
