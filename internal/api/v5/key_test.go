package v5

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"parley/internal/api/apitest"
	"parley/internal/counter"
	"parley/internal/key"
	"parley/internal/usage"
)

func TestKeys_DuringRotation(t *testing.T) {
	t.Parallel()
	onDatabases(t, testKeyRotation)
}

func testKeyRotation(t *testing.T, url string) {
	b := setupOn(t, url, nil)
	c := apitest.New(t, description, b.handler)
	target := prefix + "keys"
	get := func() Keys {
		t.Helper()
		resp := c.Do(t, http.MethodGet, target, b.signedHeaders("GET", target, nil), nil)
		var wire map[string]map[string]any
		keys := decodeData[json.RawMessage](t, resp)
		must(t, json.Unmarshal(keys, &wire))
		shown, whole := wire["current"]["api_key"], b.issued.APIKey.Reveal()
		if shown != whole[:8]+"…"+whole[len(whole)-4:] {
			t.Errorf("got api_key %v, want only its prefix, five more characters and its last four", shown)
		}
		var out Keys
		must(t, json.Unmarshal(keys, &out))
		return out
	}
	first := get()
	if first.Overlap != nil || first.Current.Status != Active || first.Current.SigningProfile != "SVC-HMAC-V5-1" ||
		!time.Time(*first.Current.LastUsedAt).Equal(b.now) {
		t.Errorf("before the rotation: got %+v, want an active key, used at %s, and no overlap", first, b.now)
	}
	rotated, err := b.keys.RotateKey(t.Context(), b.project.ID, key.Rotation{Overlap: time.Hour})
	must(t, err)
	old, rotation := b.issued, b.now
	b.issued.APIKey, b.issued.GatewaySecret = rotated.APIKey, rotated.GatewaySecret
	b.now = b.now.Add(time.Minute)
	keys := get()
	if keys.Overlap == nil || keys.Overlap.Id != first.Current.Id || keys.Overlap.RequestsSinceRotation != 0 ||
		!time.Time(*keys.Overlap.LastUsedAt).Equal(rotation) ||
		!time.Time(keys.Overlap.OverlapEndsAt).Equal(rotation.Add(time.Hour)) ||
		!time.Time(keys.Overlap.RetiringSince).Equal(rotation) {
		t.Fatalf("overlap: got %+v, want one from %s for an hour", keys.Overlap, rotation)
	}
	for range 2 {
		c.Do(t, http.MethodGet, target, signHeaders(old.APIKey, old.GatewaySecret, "GET", target, b.timestamp(0), nil),
			nil)
	}
	// The counts survive a restart.
	must(t, b.counter.Flush(t.Context()))
	b.counter = counter.New(b.db, func() time.Time { return b.now })
	c = apitest.New(t, description, b.serve(t, usage.NoProvider{}, b.options))
	if keys = get(); keys.Overlap.RequestsSinceRotation != 2 || !time.Time(*keys.Overlap.LastUsedAt).Equal(b.now) {
		t.Errorf("overlap after a restart: got %+v, want 2 requests, the last at %s", keys.Overlap, b.now)
	}
	b.now = b.now.Add(2 * time.Hour)
	if keys = get(); keys.Overlap != nil {
		t.Errorf("got overlap %+v after its end, want none", keys.Overlap)
	}
}
