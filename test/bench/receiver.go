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

// receiver takes webhooks on loopback and knows when the first of each room
// came.
type receiver struct {
	url    string
	server *http.Server

	mu        sync.Mutex
	arrived   map[string]time.Time
	unblocked chan struct{} // closed while nobody is kept waiting
	failed    error
}

func startReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + listener.Addr().String() + "/", arrived: map[string]time.Time{}, unblocked: make(chan struct{})}
	close(r.unblocked)
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: startTime}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

func (r *receiver) close() { _ = r.server.Close() }

// ServeHTTP implements http.Handler.
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
	held := r.unblocked
	if _, again := r.arrived[event.Data.RoomID]; again && err == nil {
		err = errors.New("a webhook came twice")
	}
	if err != nil {
		r.failed = err
	}
	r.arrived[event.Data.RoomID] = now
	r.mu.Unlock()
	<-held
	w.WriteHeader(http.StatusNoContent)
}

// blockResponses keeps whoever comes waiting until the function it returns is called.
func (r *receiver) blockResponses() (goOn func()) {
	held := make(chan struct{})
	r.mu.Lock()
	r.unblocked = held
	r.mu.Unlock()
	return sync.OnceFunc(func() { close(held) })
}

var errLate = errors.New("not all webhooks came in time")

// await waits until so many rooms have been told of.
func (r *receiver) await(ctx context.Context, rooms int, atMost time.Duration) error {
	late := time.After(atMost)
	for {
		r.mu.Lock()
		came, failed := len(r.arrived), r.failed
		r.mu.Unlock()
		if failed != nil || came >= rooms {
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

// collect returns what came, and forgets it.
func (r *receiver) collect() map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	came := r.arrived
	r.arrived = map[string]time.Time{}
	return came
}
