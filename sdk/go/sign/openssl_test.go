package sign_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os/exec"
	"strings"
	"testing"

	"parley.example/client/sign"
)

// TestSignatures_MatchOpenSSL checks every vector with a program that shares no
// code with this package. It needs the command openssl and does not skip
// itself: vectors that nothing else has checked are not to be published.
func TestSignatures_MatchOpenSSL(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Fatalf("this test needs the command openssl: %v", err)
	}
	eachVector(t, func(t *testing.T, profile string, c vectorCase) {
		text := raw(t, c.SignedText, c.SignedTextBase64)
		fits := false
		for _, secret := range c.Secrets {
			for _, want := range opensslSignatures(t, profile, secret, text) {
				for _, got := range strings.Split(c.Signature, " ") {
					fits = fits || got == want
				}
			}
		}
		// A case may be refused for its form although the bytes are right.
		if fits != c.Valid && !formOnly[c.Name] {
			t.Errorf("openssl confirms the signature %q: got %v, want %v as in the vector", c.Signature, fits, c.Valid)
		}
	})
}

// formOnly names the negative vectors whose signature is right, but which are
// refused all the same.
var formOnly = map[string]bool{
	"line-feed-in-target": true,
	"full-stop-in-id":     true,
}

// opensslSignatures returns what openssl makes of a text, in the forms that
// the profile accepts.
func opensslSignatures(t *testing.T, profile, secret string, text []byte) []string {
	t.Helper()
	switch profile {
	case sign.Profile:
		sum := openssl(t, text, "-hmac", secret)
		if other := openssl(t, text, "-mac", "HMAC", "-macopt",
			"hexkey:"+hex.EncodeToString([]byte(secret))); !bytes.Equal(sum, other) {
			t.Fatalf("openssl dgst of %q with -hmac and with hexkey: got %x and %x, want equal", text, sum, other)
		}
		return []string{hex.EncodeToString(sum), strings.ToUpper(hex.EncodeToString(sum))}
	case profileLegacy:
		return []string{base64.StdEncoding.EncodeToString(openssl(t, text, "-hmac", secret))}
	default:
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		sum := openssl(t, text, "-mac", "HMAC", "-macopt", "hexkey:"+hex.EncodeToString(key))
		return []string{"v1," + base64.StdEncoding.EncodeToString(sum)}
	}
}

// openssl runs "openssl dgst" over a text and returns the 32 bytes.
func openssl(t *testing.T, text []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("openssl", append([]string{"dgst", "-sha256", "-binary"}, args...)...)
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.Output()
	if err != nil || len(out) != 32 {
		t.Fatalf("openssl %q: got %d bytes, error %v, want 32 bytes", cmd.Args, len(out), err)
	}
	return out
}
