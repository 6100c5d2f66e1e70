package validate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"parley/internal/fault"
)

func TestRange(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		1:           "",
		1000:        "",
		0:           "seats must be between 1 and 1000, not 0",
		-5:          "seats must be between 1 and 1000, not -5",
		1001:        "seats must be between 1 and 1000, not 1001",
		99_999_999:  "seats must be between 1 and 1000, not 99999999",
		100_000_000: "seats must be between 1 and 1000", // may not be the number that was sent
		math.MaxInt: "seats must be between 1 and 1000",
		math.MinInt: "seats must be between 1 and 1000",
	} {
		err := Range("seats", n, 1, 1000)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && (got != want || !fault.Is(err, fault.Invalid)) {
			t.Errorf("%d: got %v, want Invalid: %q", n, err, want)
		}
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	const (
		form   = "embed_origins must contain origins such as https://example.org or https://example.org:8443, not "
		scheme = "embed_origins must contain origins with https, or with http or the scheme of an app for localhost, not "
	)
	for text, want := range map[string]string{
		"https://example.org":           "https://example.org",
		"HTTPS://Example.ORG:8443":      "https://example.org:8443",
		"https://example.org:443":       "https://example.org",
		"https://xn--mnchen-3ya.de":     "https://xn--mnchen-3ya.de",
		"https://192.0.2.7:8443":        "https://192.0.2.7:8443",
		"http://localhost:3000":         "http://localhost:3000",
		"http://app.localhost":          "http://app.localhost",
		"http://127.0.0.1:80":           "http://127.0.0.1",
		"https://localhost:80":          "https://localhost:80",
		"Capacitor://localhost":         "capacitor://localhost",
		"ionic://localhost":             "ionic://localhost",
		"com.example.app+x://localhost": "com.example.app+x://localhost",
		"capacitor://example.org":       scheme + `"capacitor://example.org"`,
		"capacitor://localhost:80":      scheme + `"capacitor://localhost:80"`,
		"file://localhost":              scheme + `"file://localhost"`,
		"javascript://localhost":        scheme + `"javascript://localhost"`,
		"capacitor://localhost/a":       form + `"capacitor://localhost/a"`,
		"capacitor://":                  form + `"capacitor://"`,
		"a b://localhost":               form + `"a b://localhost"`,
		"*://localhost":                 form + `"*://localhost"`,
		"http://example.org":            scheme + `"http://example.org"`,
		"http://10.0.0.1":               scheme + `"http://10.0.0.1"`,
		"ftp://example.org":             scheme + `"ftp://example.org"`,
		"":                              form + `""`,
		"example.org":                   form + `"example.org"`,
		"https://example.org/":          form + `"https://example.org/"`,
		"https://example.org/a":         form + `"https://example.org/a"`,
		"https://example.org?a":         form + `"https://example.org?a"`,
		"https://example.org#a":         form + `"https://example.org#a"`,
		"https://a:b@example.org":       form + `"https://a:b@example.org"`,
		"https://example.org:":          form + `"https://example.org:"`,
		"https://example.org:0":         form + `"https://example.org:0"`,
		"https://example.org:0443":      form + `"https://example.org:0443"`,
		"https://example.org:65536":     form + `"https://example.org:65536"`,
		"https://":                      form + `"https://"`,
		"https://a..b":                  form + `"https://a..b"`,
		"https://*.example.org":         form + `"https://*.example.org"`,
		"https://a; script-src *":       form + `"https://a; script-src *"`,
		"https://a,b":                   form + `"https://a,b"`,
		"https://münchen.de":            form + `"https://münchen.de"`,
		"http://[::1]:3000":             form + `"http://[::1]:3000"`,
		" https://example.org":          form + `" https://example.org"`,
		"null":                          form + `"null"`,
		"https://" + long(64) + ".org":  form + `"https://` + long(64) + `.org"`,
		"https://" + long(300) + ".org": form + `"https://` + long(92) + `…"`,
	} {
		got, err := Origin("embed_origins", text)
		if strings.HasPrefix(want, "embed_origins") {
			if !fault.Is(err, fault.Invalid) || err.Error() != want {
				t.Errorf("Origin(%q): got error %v, want %s", text, err, want)
			}
		} else if err != nil || got != want {
			t.Errorf("Origin(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }

// A valid origin can be written into a Content-Security-Policy without quoting,
// and normalizing it again does not change it.
func FuzzOrigin(f *testing.F) {
	f.Add("https://example.org:8443")
	f.Add("http://localhost;")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Origin("f", text)
		if err != nil {
			return
		}
		if strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789-.:/") != "" {
			t.Errorf("Origin(%q) = %q, want URL characters only", text, got)
		}
		if again, err := Origin("f", got); err != nil || again != got {
			t.Errorf("Origin(%q) = %q, a second Origin: got %q, error %v, want no change", text, got, again, err)
		}
	})
}
