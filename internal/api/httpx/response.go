package httpx

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
)

// statusRecorder records the status and the size of the response. It also holds the
// RequestInfo, which saves an allocation.
type statusRecorder struct {
	http.ResponseWriter
	info   RequestInfo
	status int
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (r *statusRecorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *statusRecorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Hijack implements http.Hijacker so that a WebSocket can take over the
// connection.
func (r *statusRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil && r.status == 0 {
		r.status = http.StatusSwitchingProtocols
	}
	return conn, buffered, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *statusRecorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

var jsonType = []string{"application/json"}

// WriteJSON writes a response with the status and v as JSON.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable because the callers pass only types of this module
	}
	body = append(body, '\n')
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))} // because Middleware flushes some responses
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
