// Package fault is the error model: what may be told to a stranger, and the
// cause that may not. It imports the standard library only; every other
// package may import it.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of refusal an error is. Each API version maps kinds to
// its own statuses and bodies, in one place (its errors.go).
type Kind int

// The kinds of refusal. The zero value is Internal, so that an error nobody
// classified is never told to a stranger.
const (
	Internal     Kind = iota // our failure; the cause is logged, never told
	Invalid                  // the request breaks a stated rule
	Unauthorized             // the caller has not shown who they are
	Forbidden                // known caller, not allowed
	NotFound                 // no such thing, or not the caller's
	Conflict                 // the state of the thing forbids it
	Mismatch                 // it contradicts an earlier request of the same name
	Gone                     // it existed and is over for ever
	Exhausted                // too many requests; RetryAfter says when
	Unavailable              // something we depend on does not answer; retry later
)

// Error is a refusal. Code and Message are meant for the caller, Err for the
// log alone.
type Error struct {
	Kind       Kind
	Code       string        // stable, machine readable, may be empty
	Message    string        // one sentence in plain words, no secrets
	Reason     string        // why, for machines, where Code alone says too little; may be empty
	RetryAfter time.Duration // with Exhausted and Unavailable; 0 when unknown
	Err        error         // the cause, for the log; may be nil
}

// Error returns the message and, for the log, the cause behind it.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns a refusal of the given kind. The message is a format string.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalidf returns an Invalid refusal whose sentence names the field and the bound.
func Invalidf(format string, args ...any) *Error {
	return New(Invalid, "invalid_request", format, args...)
}

// From returns the refusal inside err, or an Internal one wrapping err, so
// that the caller of From always has something safe to tell.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Internal, Code: "internal", Message: "internal error", Err: err}
}

// Is reports whether err is a refusal of the given kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}
