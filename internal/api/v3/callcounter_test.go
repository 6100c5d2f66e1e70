package v3

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"parley/internal/api/roomapi"
	. "parley/internal/api/roomapi/roomstest"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/seal"
)

// TestCallCounter_CountsPerKey counts calls for the API keys they were made with, and for no
// other: a key that is not counted any more may be given up.
func TestCallCounter_CountsPerKey(t *testing.T) {
	t.Parallel()
	uses := CallCounts{}
	b, handler := setup(t, Options{Options: roomapi.Options{CallCounter: uses, KeyHeaderOnly: true}})
	rotated, err := b.Keys.RotateKey(t.Context(), b.Project.ID, key.Rotation{Overlap: time.Hour})
	Must(t, err)
	keyring, err := b.Keys.Keyring(t.Context(), b.Project.ID)
	Must(t, err)
	current, overlap := keyring.Keys()[0].ID+" current", keyring.Keys()[1].ID+" overlap"
	const none = seal.Secret("")
	call := func(signer, apiKey, olderKey seal.Secret) int {
		body := EncodeJSON(t, validFields(b, quickAudio))
		r := httptest.NewRequest(http.MethodPost, quickAudio, bytes.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}}
		if signer != none {
			r.Header = SignedHeaders(signer, body)
		}
		for name, k := range map[string]seal.Secret{"Api-Key": apiKey, "Key": olderKey} {
			if k != none {
				r.Header.Set(name, k.Reveal())
			}
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	for _, tc := range []struct {
		name                     string
		signer, apiKey, olderKey seal.Secret
		status                   int
		want                     CallCounts
	}{
		{"signed with the new key", rotated.APIKey, none, none, 200, CallCounts{current: 1}},
		{"signed with the old key", b.Issued.APIKey, none, none, 200, CallCounts{overlap: 1}},
		{"signed with the key it names", b.Issued.APIKey, b.Issued.APIKey, b.Issued.APIKey, 200, CallCounts{overlap: 1}},
		{"one signs, the other is named", rotated.APIKey, b.Issued.APIKey, none, 200, CallCounts{current: 1, overlap: 1}},
		{"signed with the project secret", b.Issued.ProjectSecret, none, none, 200, CallCounts{}},
		{"the project secret signs, a key is named", b.Issued.ProjectSecret, none, b.Issued.APIKey, 200, CallCounts{overlap: 1}},
		{"a key and no signature", none, none, b.Issued.APIKey, 200, CallCounts{overlap: 1}},
		{"a wrong signature", "wrong", b.Issued.APIKey, none, 401, CallCounts{}},
	} {
		clear(uses)
		if status := call(tc.signer, tc.apiKey, tc.olderKey); status != tc.status || !maps.Equal(uses, tc.want) {
			t.Errorf("%s: got %d, counted %v, want %v", tc.name, status, uses, tc.want)
		}
	}
	clear(uses)
	Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Inactive))
	if status := call(b.Issued.APIKey, none, none); status != 403 || uses[overlap] != 1 {
		t.Errorf("inactive project: got status %d, counted %v, want 403, one call of %s", status, uses, overlap)
	}
}
