// Package sign computes and checks the three signatures of Parley: those of
// version 5 requests, those of version 3 and 4 requests and join events, and
// those of Standard Webhooks. The server uses this package too.
//
// It imports the standard library only, and neither net/http nor a database. It
// must not depend on where keys are stored or how requests are answered.
//
// Every signature is an HMAC-SHA256 (RFC 2104, FIPS 180-4). For version 5 and
// for the older versions the key is the UTF-8 bytes of the credential exactly
// as shown, prefix included. Only Standard Webhooks decodes its secret first.
// Comparisons take constant time.
//
// The vectors in sdk/testdata/vectors.json are for authors of clients in
// other languages.
package sign

import "crypto/sha256"

// base64Size is the length of a signature in Base64, in characters.
const base64Size = (sha256.Size + 2) / 3 * 4
