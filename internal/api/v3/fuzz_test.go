package v3

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/client/sign"
)

// FuzzCreateQuickAudioRoom sends rightly signed bodies of any content: none
// may be a 500, and each refusal must say something.
func FuzzCreateQuickAudioRoom(f *testing.F) {
	b := setup(f, Options{})
	f.Add(encode(f, b.fields()))
	for _, tc := range refusals() {
		fields := b.fields()
		if tc.change != nil {
			tc.change(fields)
			f.Add(encode(f, fields))
		} else if tc.body != nil {
			f.Add(tc.body(b))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		// The id is random in each process; seeds carry the one of theirs.
		text := strings.ReplaceAll(string(body), "PROJECT", b.project.ID)
		r := httptest.NewRequest(http.MethodPost, quickAudio, strings.NewReader(text))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("hash-signature", sign.Legacy(b.issued.APIKey.Reveal(), []byte(text)))
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		switch w.Code {
		case 200, 400, 401, 409, 413:
		default:
			t.Fatalf("%d %s for %q", w.Code, w.Body, text)
		}
		if w.Code != 200 && len(sentence(t, w.Result())) < 10 {
			t.Fatalf("%s says too little", w.Body)
		}
	})
}
