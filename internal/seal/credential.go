package seal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Lengths in base62 characters of 5.954 bits each.
const (
	apiKeyLength = 32 // 190 bits; 137 bits stay hidden in lists, which show nine characters
	secretLength = 43 // 256 bits
	linkLength   = 27 // 160 bits, short enough for a link
)

// NewAPIKey returns a new API key, "pk_" and 32 letters and digits. That of a test project
// begins with "pk_test_".
func NewAPIKey(test bool) Secret { return Secret("pk_" + testMark(test) + randomString(apiKeyLength)) }

// NewGatewaySecret returns a new Gateway secret, "gs_" and 43 letters and
// digits (256 random bits). That of a test project begins with "gs_test_".
func NewGatewaySecret(test bool) Secret {
	return Secret("gs_" + testMark(test) + randomString(secretLength))
}

// testMark follows the prefix of the credentials of test projects, so that nobody takes them
// for others. Project secrets have none, because Standard Webhooks defines their form.
func testMark(test bool) string {
	if test {
		return "test_"
	}
	return ""
}

// NewProjectSecret returns a new project secret: "whsec_" and the standard
// Base64 of 32 random bytes, as Standard Webhooks 1.0 defines symmetric secrets.
func NewProjectSecret() Secret {
	var raw [32]byte
	rand.Read(raw[:]) // never fails, see crypto/rand
	return Secret("whsec_" + base64.StdEncoding.EncodeToString(raw[:]))
}

// NewManagementToken returns a new token for the management API, "pt_" and 43
// letters and digits (256 random bits).
func NewManagementToken() Secret { return Secret("pt_" + randomString(secretLength)) }

// NewSessionSecret returns a new secret of a session of the console, or of the link that
// starts one: 43 letters and digits (256 random bits).
func NewSessionSecret() Secret { return Secret(randomString(secretLength)) }

// NewLinkToken returns a new token for a room link: 27 letters and
// digits (160 random bits), safe anywhere in a URL.
func NewLinkToken() Secret { return Secret(randomString(linkLength)) }

// Hash returns the SHA-256 of a token as 64 lower-case hexadecimal digits. The
// database stores it instead of the token and finds keys by it. Use it for
// random tokens only, because a password needs a slow hash.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// randomString returns n characters of base62 with equal probability. It rejects
// the bytes that would favor some characters.
func randomString(n int) string {
	const even = 256 - 256%len(base62)
	out := make([]byte, 0, n)
	var buf [64]byte
	for len(out) < n {
		rand.Read(buf[:]) // never fails, see crypto/rand
		for _, b := range buf {
			if int(b) < even && len(out) < n {
				out = append(out, base62[int(b)%len(base62)])
			}
		}
	}
	return string(out)
}
