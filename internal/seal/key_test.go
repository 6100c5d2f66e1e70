package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestParseKey(t *testing.T) {
	k := NewKey()
	for _, text := range []string{k.Reveal(), k.Reveal() + "\n", "  " + k.Reveal() + "\r\n"} {
		if got, err := ParseKey(text); err != nil || got != k {
			t.Errorf("ParseKey(%q) = %v, %v, want %v", text, got, err, k)
		}
	}
	if NewKey() == k {
		t.Error("NewKey called twice: got equal keys, want different ones")
	}
}

func TestParseKey_Refused(t *testing.T) {
	good := strings.Repeat("A", 43) + "="
	const (
		length = "the master key must be 32 bytes in standard Base64 (44 characters), not "
		format = "the master key must be 32 bytes in standard Base64, with padding and no other characters"
	)
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n", "the master key is empty: it must be 32 bytes in standard Base64 (44 characters)"},
		{"short", base64.StdEncoding.EncodeToString(make([]byte, 16)), length + "24 characters"},
		{"no padding", good[:43], length + "43 characters"},
		{"hex", strings.Repeat("ab", 32), length + "64 characters"},
		{"33 bytes", strings.Repeat("A", 44), format},
		{"URL alphabet", "_" + good[1:], format},
		{"line break within", good[:20] + "\n" + good[21:], format},
		{"stray bits", strings.Repeat("A", 42) + "B=", format},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := ParseKey(c.text)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if !k.IsZero() {
				t.Errorf("ParseKey(%q): got a key and an error, want the zero key with the error", c.text)
			}
		})
	}
}

// No printer, logger or encoder shows a key or a secret.
func TestSecret_NeverPrinted(t *testing.T) {
	k := testKey(0x5a)
	s := Secret("gs_very-secret")
	holder := struct {
		K  Key
		PK *Key
		S  Secret
		PS *Secret
		M  map[string]Secret
		L  []Secret
	}{k, &k, s, &s, map[string]Secret{"a": s}, []Secret{s}}

	var out bytes.Buffer
	for _, value := range []any{k, &k, s, &s, holder, &holder, []Key{k}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "%U", "%T", "%10.3s"} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
		fmt.Fprintln(&out, value)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", value)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", value)
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(encoded)
	}
	for _, leak := range []string{
		"very-secret", "766572792d736563726574", "766572792D736563726574", k.Reveal(), k.Reveal()[:8],
		"5a5a", "5A5A", "90 90", "ZZZ", "U+005A", "0x5a",
	} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("output: got %q in it, want no part of a secret in:\n%s", leak, out.String())
		}
	}
	if !strings.Contains(out.String(), k.ID()) || !strings.Contains(out.String(), "[secret]") {
		t.Errorf("output: got no key id %s or no [secret], want both in:\n%s", k.ID(), out.String())
	}
	if s.Reveal() != "gs_very-secret" {
		t.Errorf("Reveal() = %q, want gs_very-secret", s.Reveal())
	}
}

func TestString_EmptyValues(t *testing.T) {
	if got := fmt.Sprint(Key{}); got != "[no master key]" {
		t.Errorf("zero key: got %q, want [no master key]", got)
	}
	if got := fmt.Sprint(Secret("")); got != "" {
		t.Errorf("empty secret: got %q, want an empty string", got)
	}
}

func TestSecretValue_Refused(t *testing.T) {
	if v, err := Secret("x").Value(); err == nil || v != nil {
		t.Errorf("Value() = %v, %v, want an error", v, err)
	}
}

// Databases contain the id, so it must not change.
func TestKeyID_Stable(t *testing.T) {
	if got := testKey(1).ID(); got != "0372feda" {
		t.Errorf("got %s, want 0372feda", got)
	}
}
