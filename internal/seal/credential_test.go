package seal

import (
	"encoding/base64"
	"math"
	"regexp"
	"strings"
	"testing"
)

func TestCredential_Forms(t *testing.T) {
	for name, c := range map[string]struct {
		make func() Secret
		form string
		bits float64 // what docs/adr/0002-secrets-are-sealed-at-rest.md promises, at least
	}{
		"API key":          {func() Secret { return NewAPIKey(false) }, `^pk_[0-9A-Za-z]{32}$`, 128},
		"test API key":     {func() Secret { return NewAPIKey(true) }, `^pk_test_[0-9A-Za-z]{32}$`, 128},
		"Gateway secret":   {func() Secret { return NewGatewaySecret(false) }, `^gs_[0-9A-Za-z]{43}$`, 256},
		"test secret":      {func() Secret { return NewGatewaySecret(true) }, `^gs_test_[0-9A-Za-z]{43}$`, 256},
		"management token": {NewManagementToken, `^pt_[0-9A-Za-z]{43}$`, 256},
		"link token":       {NewLinkToken, `^[0-9A-Za-z]{27}$`, 160},
	} {
		t.Run(name, func(t *testing.T) {
			form := regexp.MustCompile(c.form)
			seen := map[Secret]bool{}
			for range 100 {
				s := c.make()
				if !form.MatchString(s.Reveal()) || seen[s] {
					t.Fatalf("got %s, want a new value that matches %s", s.Reveal(), c.form)
				}
				seen[s] = true
				random := s.Reveal()[strings.LastIndex(s.Reveal(), "_")+1:]
				if bits := float64(len(random)) * math.Log2(62); bits < c.bits {
					t.Fatalf("got %.1f bits, want at least %.0f", bits, c.bits)
				}
			}
		})
	}
}

func TestNewProjectSecret_Form(t *testing.T) {
	s := NewProjectSecret().Reveal()
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(s, "whsec_"))
	if err != nil || len(raw) != 32 || !strings.HasPrefix(s, "whsec_") || s == NewProjectSecret().Reveal() {
		t.Errorf("got %s with %d bytes, %v, want whsec_ and 32 bytes", s, len(raw), err)
	}
}

// A masked API key shows its prefix, five more characters and its last four. The rest
// has at least 128 bits.
func TestNewAPIKey_StrengthWhenMasked(t *testing.T) {
	hidden := len(NewAPIKey(false).Reveal()) - 8 - 4
	if bits := float64(hidden) * math.Log2(62); bits < 128 {
		t.Errorf("got %.1f hidden bits, want at least 128", bits)
	}
}

func TestRandomString_Uniform(t *testing.T) {
	const n = 62 * 4000
	counts := map[rune]int{}
	for _, c := range randomString(n) {
		counts[c]++
	}
	if len(counts) != 62 {
		t.Errorf("got %d different characters, want 62", len(counts))
	}
	for c, count := range counts {
		if count < 3500 || count > 4500 { // eight standard deviations
			t.Errorf("%c: got %d times, want about 4000", c, count)
		}
	}
}

func TestHash(t *testing.T) {
	// FIPS 180-4, the example "abc".
	if got := Hash("abc"); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("Hash(\"abc\"): got %s, want ba7816bf... as in FIPS 180-4", got)
	}
}
