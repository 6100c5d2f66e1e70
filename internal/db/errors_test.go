package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"parley/internal/fault"
)

// A database that cannot be reached is Unavailable. An error in a statement is
// not, because a retry does not help.
func TestTranslate(t *testing.T) {
	t.Parallel()
	code := func(c string) error { return &pgconn.PgError{Code: c} }
	for _, c := range []struct {
		err         error
		unavailable bool
	}{
		{code("57P01"), true},  // the server is shutting down
		{code("57P03"), true},  // the server is starting
		{code("57014"), true},  // the statement was canceled
		{code("53300"), true},  // too many connections
		{code("53100"), true},  // its disk is full
		{code("08006"), true},  // the connection broke
		{code("25006"), true},  // a standby
		{code("23505"), false}, // a unique index
		{code("42601"), false}, // a wrong statement
		{code(""), false},
		{&pgconn.ConnectError{Config: &pgconn.Config{}}, true},
		{&net.OpError{Op: "read", Err: errors.New("reset by peer")}, true},
		{io.ErrUnexpectedEOF, true},
		{context.DeadlineExceeded, true},
		{context.Canceled, true},
		{errors.New("something else"), false},
	} {
		for _, err := range []error{c.err, fmt.Errorf("wrapped: %w", c.err)} {
			got := translate(err)
			if fault.Is(got, fault.Unavailable) != c.unavailable || !errors.Is(got, c.err) {
				t.Errorf("translate(%v) = %v, want Unavailable %t", err, got, c.unavailable)
			}
		}
	}
	conflict := fault.New(fault.Conflict, "taken", "taken")
	if translate(conflict) != conflict || translate(nil) != nil {
		t.Errorf("translate of a fault and of nil: got %v and %v, want %v and nil", translate(conflict), translate(nil),
			conflict)
	}
}

// TestTranslate_NamesWhatPreventsWrites tests the text for operators. The message for callers stays the same.
func TestTranslate_NamesWhatPreventsWrites(t *testing.T) {
	t.Parallel()
	const message = "the database does not answer, try again in a moment"
	for _, c := range []struct {
		err      error
		operator string
	}{
		{&pgconn.PgError{Code: "53100"}, "the database accepts no writes, because the disk of the PostgreSQL server is full"},
		{&pgconn.PgError{Code: "25006"}, "the database accepts no writes"},
		{&pgconn.PgError{Code: "57P01"}, message},
	} {
		got := fault.From(translate(c.err))
		if got.Message != message || got.ForOperator() != c.operator || !strings.HasPrefix(got.Error(), c.operator+": ") {
			t.Errorf("translate(%v): got the message %q and %q for operators, want %q and %q", c.err, got.Message, got.Error(),
				message, c.operator)
		}
	}
}

// The error of a connection is on one line, and has the same attempt with and without TLS once.
func TestReachError_OneLine(t *testing.T) {
	t.Parallel()
	_, err := pgx.Connect(t.Context(), "postgres://parley:secret@127.0.0.1:1/parley")
	if err == nil || !strings.Contains(err.Error(), "\n") {
		t.Fatalf("pgx: got error %q, want one with several lines", err)
	}
	const want = "reach PostgreSQL: failed to connect to `user=parley database=parley`: " +
		"127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused"
	if got := reachError(err); got.Error() != want || !isUnavailable(got) {
		t.Errorf("got %q (unavailable: %v), want %q", got, isUnavailable(got), want)
	}
	if got := translate(err); strings.Contains(got.Error(), "\n") {
		t.Errorf("translate: got %q, want one line", got)
	}
}
