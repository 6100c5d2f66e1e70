package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// receiver receives webhooks on loopback and records when the first webhook of each room
// arrived.
type receiver struct {
	url    string
	server *http.Server

	mu        sync.Mutex
	arrived   map[string]time.Time
	unblocked chan struct{} // closed while responses are not blocked
	failed    error
}

func startReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + listener.Addr().String() + "/", arrived: map[string]time.Time{},
		unblocked: make(chan struct{})}
	close(r.unblocked)
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: startTime}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

func (r *receiver) close() { _ = r.server.Close() }

// ServeHTTP records a webhook and responds when responses are not blocked.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	now := time.Now()
	var event struct {
		Data struct {
			RoomID string `json:"room_id"`
		} `json:"data"`
	}
	body, err := io.ReadAll(q.Body)
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	r.mu.Lock()
	unblocked := r.unblocked
	if _, repeated := r.arrived[event.Data.RoomID]; repeated && err == nil {
		err = errors.New("a webhook arrived twice")
	}
	if err != nil {
		r.failed = err
	}
	r.arrived[event.Data.RoomID] = now
	r.mu.Unlock()
	<-unblocked
	w.WriteHeader(http.StatusNoContent)
}

// blockResponses blocks all responses until the returned function is called.
func (r *receiver) blockResponses() (unblock func()) {
	unblocked := make(chan struct{})
	r.mu.Lock()
	r.unblocked = unblocked
	r.mu.Unlock()
	return sync.OnceFunc(func() { close(unblocked) })
}

var errLate = errors.New("not all webhooks arrived in time")

// await waits until webhooks of the given number of rooms have arrived. It returns errLate
// after the timeout.
func (r *receiver) await(ctx context.Context, rooms int, timeout time.Duration) error {
	late := time.After(timeout)
	for {
		r.mu.Lock()
		arrived, failed := len(r.arrived), r.failed
		r.mu.Unlock()
		if failed != nil || arrived >= rooms {
			return failed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return errLate
		case <-time.After(time.Millisecond):
		}
	}
}

// collect returns the arrival times by room, and clears them.
func (r *receiver) collect() map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	arrived := r.arrived
	r.arrived = map[string]time.Time{}
	return arrived
}
