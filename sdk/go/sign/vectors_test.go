package sign_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"parley.example/client/sign"
)

const vectorsPath = "../../testdata/vectors.json"

var update = flag.Bool("update", false, "write sdk/testdata/vectors.json anew from vectorcases_test.go")

// vectorFile is the structure of vectors.json. Its own description says what
// the fields mean.
type vectorFile struct {
	Description []string        `json:"description"`
	Fields      json.RawMessage `json:"fields"`
	Profiles    []vectorProfile `json:"profiles"`
	Timestamps  timestampGroup  `json:"timestamps"`
}

type vectorProfile struct {
	Profile     string       `json:"profile"`
	Description []string     `json:"description"`
	Cases       []vectorCase `json:"cases"`
}

type vectorCase struct {
	Name             string   `json:"name"`
	Why              string   `json:"why,omitempty"`
	Valid            bool     `json:"valid"`
	Secrets          []string `json:"secrets"`
	SignedWith       []string `json:"signed_with,omitempty"`
	Method           *string  `json:"method,omitempty"`
	Target           *string  `json:"target,omitempty"`
	ID               *string  `json:"id,omitempty"`
	Timestamp        *string  `json:"timestamp,omitempty"`
	IdempotencyKey   *string  `json:"idempotency_key,omitempty"`
	Body             *string  `json:"body,omitempty"`
	BodyBase64       string   `json:"body_base64,omitempty"`
	SignedText       *string  `json:"signed_text,omitempty"`
	SignedTextBase64 string   `json:"signed_text_base64,omitempty"`
	Signature        string   `json:"signature"`
}

type timestampGroup struct {
	Description []string        `json:"description"`
	Cases       []timestampCase `json:"cases"`
}

type timestampCase struct {
	Name        string `json:"name"`
	Timestamp   string `json:"timestamp"`
	Now         int64  `json:"now"`
	BoundSecs   int64  `json:"bound_seconds"`
	Result      string `json:"result"`
	SkewSeconds int64  `json:"skew_seconds"`
}

// raw returns the bytes of a field that stands as text, as Base64 or as both.
func raw(t *testing.T, text *string, encoded string) []byte {
	t.Helper()
	var fromBase64 []byte
	if encoded != "" {
		var err error
		if fromBase64, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			t.Fatal(err)
		}
		if text != nil && *text != string(fromBase64) {
			t.Fatalf("text %q and Base64 %q differ", *text, fromBase64)
		}
		return fromBase64
	}
	if text == nil {
		t.Fatal("field of the vector: got neither text nor Base64, want one of them")
	}
	return []byte(*text)
}

// encodeRaw is the reverse of raw: text where JSON can hold it, Base64 as well
// wherever a reader of JSON might get something else than the bytes.
func encodeRaw(b []byte) (text *string, encoded string) {
	if utf8.Valid(b) {
		s := string(b)
		text = &s
	}
	plain := bytes.IndexFunc(b, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) < 0
	if !plain || text == nil {
		encoded = base64.StdEncoding.EncodeToString(b)
	}
	return text, encoded
}

func loadVectors(t *testing.T) vectorFile {
	t.Helper()
	if *update {
		writeVectors(t)
	}
	data, err := os.ReadFile(vectorsPath)
	if err != nil {
		t.Fatal(err)
	}
	var f vectorFile
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		t.Fatal(err)
	}
	return f
}

// eachVector runs a test for every signature vector.
func eachVector(t *testing.T, run func(t *testing.T, profile string, c vectorCase)) {
	count := 0
	for _, p := range loadVectors(t).Profiles {
		for _, c := range p.Cases {
			count++
			t.Run(p.Profile+"/"+c.Name, func(t *testing.T) { run(t, p.Profile, c) })
		}
	}
	if count < 40 {
		t.Errorf("vectors: got %d, want at least 40", count)
	}
}

func TestSignatures_MatchVectors(t *testing.T) {
	eachVector(t, func(t *testing.T, profile string, c vectorCase) {
		body := raw(t, c.Body, c.BodyBase64)
		text := raw(t, c.SignedText, c.SignedTextBase64)
		if !c.Valid && c.Why == "" {
			t.Error("negative vector: got no reason in Why, want one")
		}
		signed, signature, result := signAndVerify(t, profile, c, body)
		if !bytes.Equal(signed, text) {
			t.Errorf("signed text: got %q, want %q as in the vector", signed, text)
		}
		if result != c.Valid {
			t.Errorf("signature %s is accepted: got %v, want %v as in the vector", c.Signature, result, c.Valid)
		}
		if c.Valid && !sameSignature(c.Signature, signature) {
			t.Errorf("signature: got %s, want %s as in the vector", signature, c.Signature)
		}
	})
}

// sameSignature reports whether a header is what we would send, but for the
// case of hexadecimal digits and signatures of versions that we do not make.
func sameSignature(header, signature string) bool {
	if len(signature) == 64 {
		return strings.EqualFold(header, signature)
	}
	return header == signature || strings.HasSuffix(header, " "+signature)
}

// signAndVerify returns what this package signs for a case, the signature it makes,
// and whether it accepts the case's own signature.
func signAndVerify(t *testing.T, profile string, c vectorCase,
	body []byte) (text []byte, signature string, valid bool) {
	t.Helper()
	switch profile {
	case sign.Profile:
		s, m, g, ts, k := c.Secrets[0], *c.Method, *c.Target, *c.Timestamp, *c.IdempotencyKey
		return sign.V5Text(m, g, ts, k, body), sign.V5(s, m, g, ts, k, body), sign.VerifyV5(s, m,
			g, ts, k, body, c.Signature)
	case profileLegacy:
		return body, sign.Legacy(c.Secrets[0], body), sign.VerifyLegacy(c.Secrets[0], body, c.Signature)
	case profileWebhooks:
		signedWith := c.SignedWith
		if signedWith == nil {
			signedWith = c.Secrets
		}
		signature, err := sign.Webhook(signedWith, *c.ID, *c.Timestamp, body)
		if err != nil && c.Valid {
			t.Fatal(err)
		}
		return sign.WebhookText(*c.ID, *c.Timestamp, body), signature,
			sign.VerifyWebhook(c.Secrets, *c.ID, *c.Timestamp, body, c.Signature) == nil
	}
	t.Fatalf("profile: got %q, want %q, %q or %q", profile, sign.Profile, profileLegacy, profileWebhooks)
	return nil, "", false
}

func TestCheckTimestamp_MatchesVectors(t *testing.T) {
	for _, c := range loadVectors(t).Timestamps.Cases {
		t.Run(c.Name, func(t *testing.T) {
			got := sign.CheckTimestamp(c.Timestamp, time.Unix(c.Now, 0), time.Duration(c.BoundSecs)*time.Second)
			if got.Freshness.String() != c.Result || got.SkewSeconds != c.SkewSeconds {
				t.Errorf("timestamp %q: got %s (%d s), want %s (%d s) as in the vector", c.Timestamp, got.Freshness,
					got.SkewSeconds, c.Result, c.SkewSeconds)
			}
		})
	}
}
