package sign_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
)

func FuzzVerifyV5(f *testing.F) {
	f.Add("gs_secret", "GET", "/api/v5/keys?limit=1", "1767225600", "", []byte(nil), "00", 0)
	f.Add("gs_secret", "POST", "/api/v4/rooms/end_room", "1767225600", "order-1",
		[]byte(`{"room_id":"x"}`), strings.Repeat("f", 64), 70)
	f.Add("", "", "", "", "", []byte{0xff, '\n'}, strings.Repeat("é", 32), 5)
	f.Fuzz(func(t *testing.T, secret, method, target, timestamp, key string, body []byte,
		signature string, position int) {
		right := sign.V5(secret, method, target, timestamp, key, body)
		verifies := func(signature string) bool {
			return sign.VerifyV5(secret, method, target, timestamp, key, body, signature)
		}
		possible := secret != "" && !strings.Contains(method+target+timestamp+key, "\n")
		if verifies(right) != possible || verifies(strings.ToUpper(right)) != possible {
			t.Fatalf("right signature %s: got verified %v in lower case, %v in upper case, want both %v", right,
				verifies(right), verifies(strings.ToUpper(right)), possible)
		}
		if verifies(signature) && !strings.EqualFold(signature, right) {
			t.Fatalf("signature %q: got verified, want refused; the right one is %q", signature, right)
		}
		if changed := changeByte(right, position); !strings.EqualFold(changed, right) && verifies(changed) {
			t.Fatalf("changed signature %q: got verified, want refused; the right one is %q", changed, right)
		}
		if len(body) > 0 {
			other := []byte(changeByte(string(body), position))
			if sign.VerifyV5(secret, method, target, timestamp, key, other, right) {
				t.Fatalf("body %q with the signature of %q: got verified, want refused", other, body)
			}
		}
	})
}

func FuzzVerifyLegacy(f *testing.F) {
	f.Add("pk_key", []byte(`{"status":"active"}`), "AAAA", 0)
	f.Add("", []byte{}, strings.Repeat("=", 44), 43)
	f.Add("k\xff", []byte("\r\n"), "\x00", 3)
	f.Fuzz(func(t *testing.T, key string, body []byte, signature string, position int) {
		right := sign.Legacy(key, body)
		if sign.VerifyLegacy(key, body, right) != (key != "") {
			t.Fatalf("the signature %q: got verified %t, want %t", right, key == "", key != "")
		}
		if signature != right && sign.VerifyLegacy(key, body, signature) {
			t.Fatalf("signature %q: got verified, want refused; the right one is %q", signature, right)
		}
		if changed := changeByte(right, position); sign.VerifyLegacy(key, body, changed) {
			t.Fatalf("changed signature %q: got verified, want refused; the right one is %q", changed, right)
		}
		if sign.VerifyLegacy(key, append(body, 'x'), right) {
			t.Fatalf("body %q plus one byte, with the signature of the body alone: got verified, want refused", body)
		}
	})
}

func FuzzVerifyWebhook(f *testing.F) {
	f.Add(projectSecret, "msg_1", "1767225600", []byte(`{}`), "v1,AAAA v1a,BBBB", 3)
	f.Add("whsec_", "", "", []byte{}, " ", 0)
	f.Add("whsec_AAAA\n", "a.b", "-1", []byte{0}, "v1,", 9)
	f.Fuzz(func(t *testing.T, secret, id, timestamp string, body []byte, header string, position int) {
		secrets := []string{secret}
		right, err := sign.Webhook(secrets, id, timestamp, body)
		if err != nil {
			if sign.VerifyWebhook(secrets, id, timestamp, body, header) == nil {
				t.Fatalf("signature %q of a message that cannot be signed (%v): got verified, want refused", header, err)
			}
			return
		}
		if err := sign.VerifyWebhook(secrets, id, timestamp, body, right); err != nil {
			t.Fatal(err)
		}
		if sign.VerifyWebhook(secrets, id, timestamp, body, changeByte(right, position)) == nil {
			t.Fatalf("changed signature %q: got verified, want refused; the right one is %q", changeByte(right, position),
				right)
		}
		if !strings.Contains(header, right) && sign.VerifyWebhook(secrets, id, timestamp, body, header) == nil {
			t.Fatalf("signature %q: got verified, want refused; the right one is %q", header, right)
		}
	})
}

func FuzzTimestamp(f *testing.F) {
	for _, s := range []string{"0", "1767225600", "1767225600000", "-1", "1e9", "", " 1", "99999999999999999999", "١"} {
		f.Add(s, int64(1767225600))
	}
	f.Fuzz(func(t *testing.T, text string, now int64) {
		n, err := sign.ParseTimestamp(text)
		digits := text != "" && len(text) <= 18 && strings.Trim(text, "0123456789") == ""
		if (err == nil) != digits {
			t.Fatalf("ParseTimestamp(%q): got error %v, want success: %v", text, err, digits)
		}
		if err == nil {
			if want, _ := strconv.ParseInt(text, 10, 64); n != want {
				t.Fatalf("ParseTimestamp(%q): got %d, want %d", text, n, want)
			}
		}
		now = now % (1 << 40)
		check := sign.CheckTimestamp(text, time.Unix(now, 0), sign.DefaultSkew)
		near := err == nil && n-now >= -300 && n-now <= 300
		if (check.Freshness == sign.Fresh) != near {
			t.Fatalf("CheckTimestamp(%q) at %d: got %s, want fresh: %v", text, now, check.Freshness, near)
		}
	})
}

// changeByte returns text with one byte changed, at any position.
func changeByte(text string, position int) string {
	b := bytes.Clone([]byte(text))
	b[uint(position)%uint(len(b))] ^= 1
	return string(b)
}
