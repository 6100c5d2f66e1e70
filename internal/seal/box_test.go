package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// testKey returns a key whose bytes are all the same.
func testKey(b byte) Key {
	k, err := ParseKey(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, KeySize)))
	if err != nil {
		panic(err)
	}
	return k
}

func TestBox_OpensForOwnRowOnly(t *testing.T) {
	box := NewBox(testKey(1))
	rapid.Check(t, func(t *rapid.T) {
		row, other := rapid.String().Draw(t, "row"), rapid.String().Draw(t, "other")
		plaintext := rapid.SliceOf(rapid.Byte()).Draw(t, "plaintext")
		sealed := box.Seal(row, plaintext)
		got, err := box.Open(row, sealed)
		if err != nil || !bytes.Equal(got, plaintext) {
			t.Fatalf("got %q, %v, want %q", got, err, plaintext)
		}
		if _, err := box.Open(other, sealed); other != row && !errors.Is(err, ErrTampered) {
			t.Fatalf("sealed for %q and opened for %q: got %v, want ErrTampered", row, other, err)
		}
	})
}

func TestSeal_Form(t *testing.T) {
	box := NewBox(testKey(1))
	secret := "gs_a-very-secret-value"
	sealed := box.Seal("row", []byte(secret))
	if sealed == box.Seal("row", []byte(secret)) {
		t.Errorf("a value sealed twice: got %q both times, want different texts", sealed)
	}
	if !strings.HasPrefix(sealed, "v1."+box.keyID+".") || strings.Contains(sealed, "secret") {
		t.Errorf("got %s, want v1, the key id and ciphertext", sealed)
	}
	if strings.Trim(sealed, ".-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		t.Errorf("got %s, want Base64 characters and dots only", sealed)
	}
}

// Every later version must open values of this format.
func TestOpen_KnownValue(t *testing.T) {
	const sealed = "v1.1c10a951.VwATm-eGYjFrbTkCDsKUtkPt0mhB1WeST188A8tE4g8U8dWzFQBuMLA"
	got, err := NewBox(testKey(7)).Open("0198c0de-0000-7000-8000-000000000001", sealed)
	if err != nil || string(got) != "whsec_example" {
		t.Errorf("got %q, %v, want whsec_example", got, err)
	}
}

func TestOpen_ChangedByteRefused(t *testing.T) {
	box := NewBox(testKey(1))
	sealed := box.Seal("row", []byte("secret"))
	for i := range sealed {
		for _, c := range []byte{'A', 'z', '.', '\n', 0xff} {
			changed := sealed[:i] + string([]byte{c}) + sealed[i+1:]
			if changed == sealed {
				continue
			}
			if got, err := box.Open("row", changed); err == nil {
				t.Errorf("byte %d changed to %q: got %q, want an error", i, c, got)
			}
		}
		if got, err := box.Open("row", sealed[:i]); err == nil {
			t.Errorf("the first %d bytes: got %q, want an error", i, got)
		}
	}
	for _, suffix := range []string{"A", "=", "\n", ".", " "} {
		if _, err := box.Open("row", sealed+suffix); !errors.Is(err, ErrTampered) {
			t.Errorf("%q appended: got %v, want ErrTampered", suffix, err)
		}
	}
}

func TestOpen_WrongKey(t *testing.T) {
	old, wrong := NewBox(testKey(1)), NewBox(testKey(2))
	_, err := wrong.Open("row", old.Seal("row", []byte("secret")))
	var e *WrongKeyError
	if !errors.As(err, &e) || e.SealedWith != old.keyID || e.Have != wrong.keyID {
		t.Fatalf("got %v, want a WrongKeyError with both ids", err)
	}
	const want = "the master key does not fit this database: it was sealed with key 0372feda, this one is b8da87dc"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if errors.Is(err, ErrTampered) {
		t.Errorf("open with a wrong key: got error %v, want one that is not ErrTampered", err)
	}
}

func TestOpen_Refused(t *testing.T) {
	box := NewBox(testKey(1))
	for _, sealed := range []string{
		"", "nonsense", "v1", "v1.", "v1." + box.keyID, "v1." + box.keyID + ".", "v1.XYZ.AAAA", "v1.0372FEDA.AAAA",
	} {
		if _, err := box.Open("row", sealed); !errors.Is(err, ErrTampered) {
			t.Errorf("Open(%q): got %v, want ErrTampered", sealed, err)
		}
	}
	_, err := box.Open("row", "v2."+box.keyID+".AAAA")
	var e *VersionError
	if !errors.As(err, &e) || e.Version != "v2" || !strings.Contains(err.Error(), `"v2"`) {
		t.Errorf("version v2: got %v, want a VersionError that names it", err)
	}
}

func TestNewBox_ZeroKeyPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("NewBox(Key{}): got no panic, want one")
		}
	}()
	NewBox(Key{})
}

func FuzzOpen(f *testing.F) {
	box := NewBox(testKey(1))
	f.Add("row", "v1."+box.keyID+".AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("row", "v1.00000000.AAAA")
	f.Add("", "v9..")
	f.Add("\xff", strings.Repeat(".", 100))
	f.Fuzz(func(t *testing.T, row, sealed string) {
		got, err := box.Open(row, sealed)
		if err == nil {
			t.Fatalf("Open(%q) = %q, want an error", sealed, got)
		}
		var wrong *WrongKeyError
		var version *VersionError
		if !errors.Is(err, ErrTampered) && !errors.As(err, &wrong) && !errors.As(err, &version) {
			t.Fatalf("Open(%q, %q): got error %v, want ErrTampered, a WrongKeyError or a VersionError", row, sealed, err)
		}
		if len(err.Error()) > 200 {
			t.Fatalf("Open(%q, %q): got an error of %d bytes, want at most 200, without the value: %v", row, sealed,
				len(err.Error()), err)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	box := NewBox(testKey(1))
	sealed := box.Seal("row", []byte(NewGatewaySecret(false)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := box.Open("row", sealed); err != nil {
			b.Fatal(err)
		}
	}
}
