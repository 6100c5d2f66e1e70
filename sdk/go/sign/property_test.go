package sign_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley.example/client/sign"
)

// v5Parts is what a version 5 signature covers.
type v5Parts struct {
	secret, method, target, timestamp, key string
	body                                   []byte
}

// rounds is how many random cases a property is checked with.
const rounds = 1000

// newRand returns a source of random cases, and logs its seed, so that a failure can be repeated.
func newRand(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// drawText returns up to limit characters from a small alphabet, so that equal and shifted texts
// are frequent.
func drawText(r *rand.Rand, alphabet string, limit int) string {
	letters := []rune(alphabet)
	text := make([]rune, r.IntN(limit+1))
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}

func drawV5(r *rand.Rand) v5Parts {
	const line = "ab0/?&=%é\x00"
	return v5Parts{
		secret:    "gs_" + drawText(r, "abc", 4),
		method:    []string{"GET", "HEAD", "POST", "PUT"}[r.IntN(4)],
		target:    "/" + drawText(r, line, 3),
		timestamp: drawText(r, "019", 3) + "1",
		key:       drawText(r, line, 3),
		body:      []byte(drawText(r, line+"\n", 4)),
	}
}

func (p v5Parts) sign() string {
	return sign.V5(p.secret, p.method, p.target, p.timestamp, p.key, p.body)
}

func (p v5Parts) verify(signature string) bool {
	return sign.VerifyV5(p.secret, p.method, p.target, p.timestamp, p.key, p.body, signature)
}

// TestLegacy_IsHMAC compares signatures with those of crypto/hmac, with keys that are shorter and longer than a block.
// Several goroutines sign at the same time, because signing uses memory again.
func TestLegacy_IsHMAC(t *testing.T) {
	seed := newRand(t).Uint64()
	var work sync.WaitGroup
	defer work.Wait()
	for n := range uint64(4) {
		work.Go(func() {
			r := rand.New(rand.NewPCG(seed, n))
			draw := func() []byte {
				text := make([]byte, r.IntN(3*sha256.BlockSize))
				for i := range text {
					text[i] = byte(r.Uint32())
				}
				return text
			}
			for range rounds {
				key, body := draw(), draw()
				mac := hmac.New(sha256.New, key)
				mac.Write(body)
				want := base64.StdEncoding.EncodeToString(mac.Sum(nil))
				if got := sign.Legacy(string(key), body); got != want {
					t.Errorf("signature of %x with the key %x: got %s, want %s", body, key, got, want)
					return
				}
			}
		})
	}
}

// TestV5_DifferentPartsDifferentSignature checks that two requests that differ
// in any part never have the same signed text, because line feeds separate the
// parts.
func TestV5_DifferentPartsDifferentSignature(t *testing.T) {
	r := newRand(t)
	for range rounds {
		a, b := drawV5(r), drawV5(r)
		b.secret = a.secret
		same := a.method == b.method && a.target == b.target && a.timestamp == b.timestamp && a.key == b.key &&
			string(a.body) == string(b.body)
		if !a.verify(a.sign()) {
			t.Fatalf("right signature %q of %+v: got refused, want verified", a.sign(), a)
		}
		if b.verify(a.sign()) != same {
			t.Fatalf("signature of %+v for %+v: got verified %v, want %v", a, b, !same, same)
		}
	}
}

// TestVerifyV5_LineFeedInIdempotencyKey moves text over the border between two
// parts: the result changes, also if a line feed moves with it and the signed
// text stays the same.
func TestVerifyV5_LineFeedInIdempotencyKey(t *testing.T) {
	a := v5Parts{
		secret:    "gs_s",
		method:    "POST",
		target:    "/a",
		timestamp: "1",
		key:       "k",
		body:      []byte("b\nc"),
	}
	shifted := a
	shifted.key, shifted.body = "k\nb", []byte("c")
	if shifted.sign() != a.sign() {
		t.Fatalf("signatures: got %s and %s, want equal ones, because this test needs the same signed text", shifted.sign(),
			a.sign())
	}
	if shifted.verify(a.sign()) {
		t.Errorf("idempotency key %q with a line feed: got verified, want refused", shifted.key)
	}
}

func TestV5_MethodCase(t *testing.T) {
	lower := sign.V5("s", "get", "/", "1", "", nil)
	if lower != sign.V5("s", "GET", "/", "1", "", nil) {
		t.Errorf("V5 with the method get: got %s, want the signature for the method GET", lower)
	}
	if got := string(sign.V5Text("poſt", "/", "1", "", nil)); !strings.Contains(got, "POſT") {
		t.Errorf("V5Text with the method \"poſt\": got %q, want only the ASCII letters in upper case: POſT", got)
	}
}

func TestVerify_EmptyKeys(t *testing.T) {
	if sign.VerifyV5("", "GET", "/", "1", "", nil, sign.V5("", "GET", "/", "1", "", nil)) {
		t.Error("signature with an empty Gateway secret: got verified, want refused")
	}
	if sign.VerifyLegacy("", nil, sign.Legacy("", nil)) {
		t.Error("signature with an empty key: got verified, want refused")
	}
	if err := sign.VerifyWebhook(nil, "msg_1", "1", nil, ""); !errors.Is(err, sign.ErrWebhookSecret) {
		t.Errorf("VerifyWebhook without secrets: got error %v, want %v", err, sign.ErrWebhookSecret)
	}
}

// TestVerifyWebhook_SecretRotation checks that every header that was made with
// several secrets verifies with each of them.
func TestVerifyWebhook_SecretRotation(t *testing.T) {
	all := []string{projectSecret, newSecret, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
	r := newRand(t)
	draw := func() []string {
		some := slices.Clone(all)
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		return some[:1+r.IntN(len(some))]
	}
	for range rounds {
		signers, known := draw(), draw()
		body := []byte(drawText(r, "a.\x00é", 8))
		header, err := sign.Webhook(signers, "msg_1", now, body)
		if err != nil {
			t.Fatal(err)
		}
		shared := false
		for _, s := range signers {
			for _, k := range known {
				shared = shared || s == k
			}
		}
		if err := sign.VerifyWebhook(known, "msg_1", now, body, header); (err == nil) != shared {
			t.Fatalf("signed with %q, verified with %q: got error %v, want verified: %v", signers, known, err, shared)
		}
	}
}

func TestWebhook_Errors(t *testing.T) {
	long := "whsec_" + strings.Repeat("AAAA", 22)
	for _, c := range []struct {
		name, secret, id, timestamp string
		want                        error
	}{
		{"no prefix", strings.TrimPrefix(projectSecret, "whsec_"), "msg_1", now, sign.ErrWebhookSecret},
		{"not Base64", "whsec_*", "msg_1", now, sign.ErrWebhookSecret},
		{"no padding", strings.TrimRight(projectSecret, "="), "msg_1", now, sign.ErrWebhookSecret},
		{"too short", "whsec_AAAA", "msg_1", now, sign.ErrWebhookSecret},
		{"too long", long, "msg_1", now, sign.ErrWebhookSecret},
		{"line break", projectSecret + "\n", "msg_1", now, sign.ErrWebhookSecret},
		{"empty id", projectSecret, "", now, sign.ErrWebhookID},
		{"space in id", projectSecret, "msg 1", now, sign.ErrWebhookID},
		{"full stop in id", projectSecret, "msg.1", now, sign.ErrWebhookID},
		{"timestamp", projectSecret, "msg_1", "now", sign.ErrTimestamp},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := sign.Webhook([]string{c.secret}, c.id, c.timestamp, nil); !errors.Is(err, c.want) {
				t.Errorf("signing: %v, want %v", err, c.want)
			}
			if err := sign.VerifyWebhook([]string{c.secret}, c.id, c.timestamp, nil, "v1,"); !errors.Is(err, c.want) {
				t.Errorf("verifying: %v, want %v", err, c.want)
			}
		})
	}
	if _, err := sign.Webhook(nil, "msg_1", now, nil); !errors.Is(err, sign.ErrWebhookSecret) {
		t.Errorf("Webhook without secrets: got error %v, want %v", err, sign.ErrWebhookSecret)
	}
}

func TestCheckTimestamp_Milliseconds(t *testing.T) {
	at := time.UnixMilli(1767225600123)
	for text, want := range map[string]bool{
		"1767225600123": true, "1767225300000": true, "1767225299999": false,
		"1767225600": false, "1767225600000000": false, "x": false,
	} {
		if got := sign.CheckTimestamp(text, at, sign.DefaultSkew).Milliseconds; got != want {
			t.Errorf("CheckTimestamp(%q).Milliseconds: got %v, want %v", text, got, want)
		}
	}
	if got := sign.FormatTimestamp(at); got != now {
		t.Errorf("FormatTimestamp(%s): got %s, want %s", at, got, now)
	}
}
