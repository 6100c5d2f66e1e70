// Package client calls a Parley server: it creates rooms and runs meetings in
// them, switches a project on and off, reports joins, and reads keys, usage,
// limits and recent requests from the Gateway.
//
// It imports the standard library and parley/client/sign only. A Client is for
// one project and safe for concurrent use; make one and keep it.
//
// # Signing
//
// Every request is signed as its version asks. Versions 3 and 4 sign the body,
// with the project secret if it is known and with the API key otherwise;
// neither travels. Version 5, and the calls that run a meeting, sign
// method, target, time and body with the Gateway secret, and name the API key. What is signed is what is sent, byte
// for byte. Redirects are not followed: a signature is for one target, and an
// API key for one host.
//
// # Trying again
//
// A call is made again after a failed connection, a lost answer and the
// statuses 429, 502, 503 and 504, up to Options.MaxAttempts, if it does no
// harm twice:
//
//   - reading, always;
//   - setting a project's status, always;
//   - creating a room, only with IdempotencyKey or ClientRoomID;
//   - making a link, starting and rescheduling a room, only with
//     IdempotencyKey; ending one, never;
//   - a join event, within the half minute in which the server takes the same
//     event for the same join.
//
// With an IdempotencyKey a repeated creation gets the first answer. With a
// ClientRoomID alone it gets a conflict if it was the answer that was lost and
// not the request: if Error.Attempts is then more than 1, the room can be its
// own. A creation with neither is sent once, whatever happens.
//
// The wait doubles from a quarter of a second, with jitter, and is never
// shorter than the server's Retry-After. A wait of more than half a minute, or
// past the context's deadline, is not begun: the refusal is returned at once.
//
// # Clock
//
// Version 5 refuses timestamps that are off by some minutes. The Client
// compares each answer's Date with its own clock and signs with the server's
// time. A 401 to a request whose timestamp was off is followed by one more
// attempt with the right one. Answers that are not the server's own, or come
// out of a cache, do not count.
//
// # Errors
//
// A refusal is an *Error. Test for its kind with errors.Is and ErrNotFound,
// ErrConflict and so on. No error holds a credential.
package client
