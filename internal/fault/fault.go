// Package fault defines the errors of the service. An Error separates the message
// for the caller from the internal cause. The package imports the standard library
// only, and every other package may import it.
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is the category of an Error. internal/api/httpx maps kinds to HTTP statuses;
// each API has its exceptions and its bodies in one file (errors.go).
type Kind int

// The kinds. The zero value is Internal, so that the details of an unclassified
// error are never sent to a caller.
const (
	Internal     Kind = iota // a failure of the service; the cause is logged and not sent
	Invalid                  // the request breaks a documented rule
	Unauthorized             // the caller is not authenticated
	Forbidden                // the caller is authenticated and not allowed
	NotFound                 // the object does not exist, or belongs to another caller
	Conflict                 // the state of the object does not allow it
	Mismatch                 // the request differs from an earlier one with the same idempotency key
	Gone                     // the object existed and does not exist any more
	Exhausted                // too many requests; retry after RetryAfter
	Unavailable              // a dependency does not answer; retry later
)

// UnavailableAfter is how long a caller waits for a dependency, such as the database,
// before it gets an Unavailable error.
const UnavailableAfter = 900 * time.Millisecond

// Error is an error with a kind. Code, Message, Reason and Limit are for the caller,
// Operator is for operators, Err is for the log only.
type Error struct {
	Kind       Kind
	Code       string        // stable and machine-readable; may be empty
	Message    string        // one sentence without secrets
	Operator   string        // replaces Message for operators, and in the log; may be empty
	Field      string        // for RenameField: name of the field with which Message begins; may be empty
	Reason     string        // machine-readable detail of Code; may be empty
	Limit      int           // machine-readable bound that Message names; 0 if there is none
	RetryAfter time.Duration // after which the call may succeed; 0 if unknown
	InDoubt    bool          // only with Unavailable: the change may have been made, or may still be
	Err        error         // the cause, for the log only; may be nil
}

// Error returns the message for operators and the cause, for the log only.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.ForOperator()
	}
	return e.ForOperator() + ": " + e.Err.Error()
}

// ForOperator returns the message for a caller who operates the service.
func (e *Error) ForOperator() string { return cmp.Or(e.Operator, e.Message) }

// WithAdvice returns a copy of the error whose messages, that for operators too, end with a formatted advice.
func (e *Error) WithAdvice(format string, args ...any) *Error {
	advised, advice := *e, "; "+fmt.Sprintf(format, args...)
	advised.Message += advice
	if e.Operator != "" {
		advised.Operator += advice
	}
	return &advised
}

// Rule returns the message up to `, not "`, without the value that the caller sent, which may be personal data.
func (e *Error) Rule() string {
	rule, _, _ := strings.Cut(e.Message, `, not "`)
	return rule
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an Error of the given kind. The message is formatted with args.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalidf returns an Invalid error. The message names the field, the rule and the
// bound.
func Invalidf(format string, args ...any) *Error {
	return New(Invalid, "invalid_request", format, args...)
}

// InvalidField returns an Invalid error about a field. The message is the name of the field and the
// formatted rest, which has the rule and the bound.
func InvalidField(field, rest string, args ...any) *Error {
	e := Invalidf("%s "+rest, append([]any{field}, args...)...)
	e.Field = field
	return e
}

// RenameField returns err with another name of its field, such as its path in a request. It returns
// err itself if it is not about a field of paths.
func RenameField(err error, paths map[string]string) error {
	var e *Error
	if !errors.As(err, &e) || e.Field == "" {
		return err
	}
	path, ok := paths[e.Field]
	if !ok {
		return err
	}
	renamed := *e
	renamed.Field, renamed.Message = path, path+strings.TrimPrefix(e.Message, e.Field)
	return &renamed
}

// From returns the Error in the chain of err. If there is none, it returns an
// Internal error that wraps err, whose message is safe to send.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Internal, Code: "internal", Message: "internal error", Err: err}
}

// Is reports whether the chain of err has an Error of the given kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// IsInDoubt reports whether err is an Unavailable error of a change that may have been made, or may still be.
func IsInDoubt(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == Unavailable && e.InDoubt
}
