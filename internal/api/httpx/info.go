package httpx

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"parley/internal/fault"
)

// RequestInfo is what the transport and an API learn about a request.
type RequestInfo struct {
	ID        string      // identifies the request in responses and logs; not secret
	Client    netip.Addr  // the caller's address, from the forwarding headers of trusted proxies
	StartedAt time.Time   // when the headers had been read
	LogAttrs  []slog.Attr // further attributes of the access log, such as the cause of an error

	// The following is empty until an API sets it.
	Caller Caller
	Route  string // the path with the names of its parameters, such as /rooms/{room_id}
	// Cause is why the request was rejected: the code of its error, or for a wrong signature
	// what is wrong with it. The caller may not learn it.
	Cause string
	// Hint says in a sentence what is wrong with a request whose credential is valid. Explain may have a better one.
	Hint string
	// Explain returns the mistake of the client as a sentence, or an empty string, and a
	// cause that is more exact than Cause, if there is one. It is called after the response
	// was sent. It is nil if there is nothing to explain.
	Explain func(ctx context.Context) (cause, hint string)
	// Intended says that the operator wants a status of 5xx, as while a node is draining. Then it is no error in
	// the access log.
	Intended bool

	// Status is that of the response, and Duration the time until it was written. Both
	// are set when the handler has returned.
	Status   int
	Duration time.Duration

	clientText string    // of Client; empty until it is used
	idHeader   [1]string // see IDHeader
}

// Caller is who made a request, as far as an API has found out.
type Caller struct {
	ProjectID string // of the credential that the request names; empty if no project has it
	// KeySlot is the slot of that credential, such as "current". It is "token" for a
	// management token.
	KeySlot string
	// SignerSlot is the slot of the credential that signed, if the request names another one.
	SignerSlot string
	TokenID    string // of the management token
	// ClockSkew is the caller's clock minus the server's clock in seconds. It is valid only
	// if HasTimestamp.
	ClockSkew    int64
	HasTimestamp bool
}

// IDHeader returns the value of a header with ID.
func (i *RequestInfo) IDHeader() []string {
	i.idHeader[0] = i.ID
	return i.idHeader[:]
}

// ClientText returns Client as a text. The client of a local socket has no address.
func (i *RequestInfo) ClientText() string {
	if !i.Client.IsValid() {
		return "local"
	}
	if i.clientText == "" {
		i.clientText = i.Client.String()
	}
	return i.clientText
}

type requestInfoKey struct{}

// NewContext returns a context with another RequestInfo, for a request that is part of
// another one.
func NewContext(ctx context.Context, info *RequestInfo) context.Context {
	return context.WithValue(ctx, requestInfoKey{}, info)
}

// FromContext returns the RequestInfo of a request that came through Middleware,
// else an empty one.
func FromContext(ctx context.Context) *RequestInfo {
	if r, ok := ctx.Value(requestInfoKey{}).(*RequestInfo); ok {
		return r
	}
	return &RequestInfo{}
}

// LogError adds the cause of an error to the request's line in the access log.
// The caller of the API never sees it.
func LogError(r *http.Request, err error) {
	if err != nil {
		info := FromContext(r.Context())
		info.LogAttrs = append(info.LogAttrs, slog.String("error", err.Error()))
	}
}

// LogFault records why a request was rejected, in the access log and for the request log.
// A more exact cause that is already set stays.
func LogFault(r *http.Request, f *fault.Error) {
	if f.Operator != "" {
		LogError(r, f)
	} else {
		LogError(r, f.Err)
	}
	info := FromContext(r.Context())
	if info.Cause == "" {
		info.Cause = f.Code
	}
	switch f.Kind {
	case fault.Invalid, fault.Conflict, fault.Mismatch, fault.Gone, fault.NotFound, fault.Forbidden:
		info.Hint = f.Rule()
	}
}
