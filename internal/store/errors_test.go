package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"parley/internal/fault"
)

// What means that the database cannot be reached is Unavailable; what is wrong
// with a statement is not, because it will not be right a moment later.
func TestTranslate(t *testing.T) {
	t.Parallel()
	code := func(c string) error { return &pgconn.PgError{Code: c} }
	for _, c := range []struct {
		err         error
		unavailable bool
	}{
		{code("57P01"), true},  // the server stops
		{code("57P03"), true},  // or starts
		{code("57014"), true},  // it has given up on a statement
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
				t.Errorf("%v became %v", err, got)
			}
		}
	}
	told := fault.New(fault.Conflict, "taken", "taken")
	if translate(told) != told || translate(nil) != nil {
		t.Error("a refusal of ours is changed")
	}
}
