package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"parley.example/client/sign"
	"parley/internal/api/roomapi"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
)

// operation is an operation whose allocations are counted, with the maximum that is allowed:
// the current count, plus a margin if batches and pools affect it. Lower the maximum whenever
// a change lowers the count.
type operation struct {
	name      string
	maxAllocs float64
	run       func() error
}

// allocations counts the allocations of each operation. They do not depend on the machine
// and its load, so these figures show regressions that the noise of the others hides.
func (b *bench) allocations(ctx context.Context) ([]figure, error) {
	dir := filepath.Join(b.dir, "allocations")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, "", dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	if err := db.Unlock(ctx, seal.NewBox(seal.NewKey())); err != nil {
		return nil, err
	}
	d, err := newDomain(ctx, db)
	if err != nil {
		return nil, err
	}
	operations := append([]operation{
		{"create a room, above the domain", 66, d.createRoomCall(stubRooms{})},
		{"create a room, SQLite, one caller", 155, d.createRoomCall(d.rooms)},
	}, verifyOperations()...)
	var figures []figure
	for _, o := range operations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := o.count()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		figures = append(figures, f)
	}
	return figures, nil
}

func (o operation) count() (figure, error) {
	var failed error
	r := testing.Benchmark(func(t *testing.B) {
		for t.Loop() {
			if failed = o.run(); failed != nil {
				t.FailNow()
			}
		}
	})
	return figure{Of: "allocations for each operation", Name: o.name, Value: float64(r.AllocsPerOp()),
		Comment: number(float64(r.AllocedBytesPerOp()), "bytes")}.atMost(o.maxAllocs), failed
}

func verifyOperations() []operation {
	body := bytes.Repeat([]byte("x"), 1<<10)
	const target, timestamp = "/api/v5/keys", "1767225600"
	legacy, v5 := sign.Legacy("key", body), sign.V5("key", "GET", target, timestamp, "", nil)
	requireValid := func(valid bool) error {
		if !valid {
			return errors.New("a valid signature was refused")
		}
		return nil
	}
	return []operation{
		{"verify versions 3 and 4, 1 KiB", 0,
			func() error { return requireValid(sign.VerifyLegacy("key", body, legacy)) }},
		{"verify version 5, no body", 1,
			func() error { return requireValid(sign.VerifyV5("key", "GET", target, timestamp, "", nil, v5)) }},
	}
}

// stubRooms responds immediately, so that only the cost above the domain remains:
// transport, parsing, signature, response, access log.
type stubRooms struct{ roomapi.Rooms }

// CreateQuick implements roomapi.Rooms.
func (stubRooms) CreateQuick(context.Context, project.Project, room.Spec, *room.IdempotencyKey) (room.Created, error) {
	return room.Created{ID: "019a0000-0000-7000-8000-000000000000", FinalLink: "http://127.0.0.1:8080/r/x#t=y"}, nil
}

// BeginIdempotent implements roomapi.Rooms.
func (stubRooms) BeginIdempotent(context.Context, *room.IdempotencyKey) (func(), error) {
	return func() {}, nil
}

// createRoomCall returns a function that sends the same request to the handler.
func (d *domain) createRoomCall(service roomapi.Rooms) func() error {
	handler := d.handler(service, io.Discard)
	wire := createRoom(d.serverInfo())(nil, 1)
	body := wire[bytes.Index(wire, []byte("\r\n\r\n"))+4:]
	in := &reusableBody{Reader: bytes.NewReader(body)}
	r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:8080/api/v3/rooms/create_quick_audio_room", in)
	if err != nil {
		return func() error { return err }
	}
	r.RemoteAddr, r.ContentLength = "127.0.0.1:4000", int64(len(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("hash-signature", sign.Legacy(d.issued.APIKey.Reveal(), body))
	out := &discardResponse{header: http.Header{}}
	return func() error {
		in.Reset(body)
		clear(out.header)
		out.status = 0
		handler.ServeHTTP(out, r)
		if out.status != http.StatusOK {
			return fmt.Errorf("create a room: status %d", out.status)
		}
		return nil
	}
}

// reusableBody is a request body that can be read many times.
type reusableBody struct{ *bytes.Reader }

// Close does nothing.
func (reusableBody) Close() error { return nil }

// discardResponse is a response writer that discards the body.
type discardResponse struct {
	header http.Header
	status int
}

// Header returns the header.
func (n *discardResponse) Header() http.Header { return n.header }

// Write discards b and sets the status to 200 if there is none yet.
func (n *discardResponse) Write(b []byte) (int, error) {
	if n.status == 0 {
		n.status = http.StatusOK
	}
	return len(b), nil
}

// WriteHeader sets the status.
func (n *discardResponse) WriteHeader(status int) { n.status = status }
