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
		"API key":          {NewAPIKey, `^pk_[0-9A-Za-z]{32}$`, 128},
		"Gateway secret":   {NewGatewaySecret, `^gs_[0-9A-Za-z]{43}$`, 256},
		"management token": {NewManagementToken, `^pt_[0-9A-Za-z]{43}$`, 256},
		"session token":    {NewSessionToken, `^[0-9A-Za-z]{43}$`, 256},
		"link token":       {NewLinkToken, `^[0-9A-Za-z]{27}$`, 160},
	} {
		t.Run(name, func(t *testing.T) {
			form := regexp.MustCompile(c.form)
			seen := map[Secret]bool{}
			for range 100 {
				s := c.make()
				if !form.MatchString(s.Reveal()) || seen[s] {
					t.Fatalf("%s", s.Reveal())
				}
				seen[s] = true
				random := s.Reveal()[strings.LastIndex(s.Reveal(), "_")+1:]
				if bits := float64(len(random)) * math.Log2(62); bits < c.bits {
					t.Fatalf("%.1f bits, promised %.0f", bits, c.bits)
				}
			}
		})
	}
}

func TestNewProjectSecret_Form(t *testing.T) {
	s := NewProjectSecret().Reveal()
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(s, "whsec_"))
	if err != nil || len(raw) != 32 || !strings.HasPrefix(s, "whsec_") || s == NewProjectSecret().Reveal() {
		t.Errorf("%s: %d bytes, %v", s, len(raw), err)
	}
}

// What lists show of an API key, its first eight characters and its last
// four, leaves at least 128 bits to guess.
func TestNewAPIKey_StrengthWhenMasked(t *testing.T) {
	hidden := len(NewAPIKey().Reveal()) - 8 - 4
	if bits := float64(hidden) * math.Log2(62); bits < 128 {
		t.Errorf("%.1f bits", bits)
	}
}

// Every character is as likely as every other one.
func TestRandomString_Uniform(t *testing.T) {
	const n = 62 * 4000
	counts := map[rune]int{}
	for _, c := range randomString(n) {
		counts[c]++
	}
	if len(counts) != 62 {
		t.Errorf("%d characters of 62", len(counts))
	}
	for c, count := range counts {
		if count < 3500 || count > 4500 { // eight standard deviations
			t.Errorf("%c: %d times, expected about 4000", c, count)
		}
	}
}

func TestHash(t *testing.T) {
	// FIPS 180-4, the example "abc".
	if got := Hash("abc"); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("%s", got)
	}
}
