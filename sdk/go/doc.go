// Package client calls a Parley server: it creates rooms and runs meetings in
// them, switches a project on and off, reports joins, and reads keys, usage,
// limits and recent requests from the Gateway.
//
// It imports the standard library and parley.example/client/sign only. A Client is for
// one project and safe for concurrent use; create one and reuse it.
//
// # Signing
//
// Every request is signed as its version requires. Versions 3 and 4 sign the
// body with the project secret if it is set, and with the API key otherwise;
// neither is sent. Version 5 and the companion routes, with which a backend
// runs a meeting, sign method, target, time and body with the Gateway secret,
// and send the API key.
// Redirects are not followed, because a signature is valid for one target only
// and the API key is meant for one host.
//
// # Retries
//
// A call is repeated after a failed connection, a lost response and the
// statuses 429, 502, 503 and 504, up to Options.MaxAttempts, if repeating it
// is safe:
//
//   - reading, always;
//   - setting a project's status, always;
//   - creating a room, only with IdempotencyKey or ClientRoomID;
//   - creating a link, starting and rescheduling a room, only with
//     IdempotencyKey; ending a room, never;
//   - a join event, within the half minute in which the server treats the same
//     event as the same join.
//
// With an IdempotencyKey a repeated creation gets the first response. With only
// a ClientRoomID it gets a conflict if the response was lost and not the
// request: if Error.Attempts is then more than 1, an earlier attempt may have
// created the room. A creation with neither is sent once.
//
// The wait doubles from a quarter of a second, with jitter, and is never
// shorter than the server's Retry-After. If the wait is longer than half a
// minute or exceeds the context's deadline, the error is returned at once.
//
// # Clock
//
// Version 5 refuses timestamps that are some minutes off. The Client compares
// the Date of each response with its own clock and signs with the server's
// time. After a 401 to a request whose timestamp was off, it makes one more
// attempt with the corrected time. Responses of proxies and caches do not
// count.
//
// # Errors
//
// An error of the server is an *Error. Test for its kind with errors.Is and ErrNotFound,
// ErrConflict and so on. Error.Remedy says what to do about a known mistake. No error
// contains a credential.
//
// # Webhooks
//
// WebhookHandler receives webhooks: it checks the signature and the time of each, and
// decodes the event.
package client
