package v3

import (
	"net/http"
	"testing"
	"time"

	"parley/internal/api/apitest"
	. "parley/internal/api/roomapi/roomstest"
)

// TestDeprecation_HeadersAndSunset goes through the end of the version: announced on every
// answer whatever its status, and then the only answer.
func TestDeprecation_HeadersAndSunset(t *testing.T) {
	t.Parallel()
	b := NewFixture(t)
	now := time.Now()
	deprecated := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	sunset := now.Add(time.Hour).Truncate(time.Second)
	serve := func(e Deprecation) *apitest.Checker {
		return apitest.New(t, Description(t), WithMiddleware(NewHandler(b.Rooms, b.Keys, func() time.Time { return now },
			Options{Deprecation: e})))
	}
	announced := func(answer *http.Response, deprecation, end, link string) {
		t.Helper()
		for name, want := range map[string]string{"Deprecation": deprecation, "Sunset": end, "Link": link} {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("response %d: %s: got %q, want %q", answer.StatusCode, name, got, want)
			}
		}
	}
	const link = `</api/v4/openapi.yaml>; rel="successor-version"; type="application/yaml", </docs/versions>; rel="deprecation"; type="text/html"`
	body := EncodeJSON(t, validFields(b, quickAudio))
	all := func(c *apitest.Checker) []*http.Response {
		return []*http.Response{
			c.Do(t, http.MethodPost, quickAudio, SignedHeaders(b.Issued.APIKey, body), body),
			c.Do(t, http.MethodPost, scheduleVideo, SignedHeaders(b.Issued.APIKey, body), body),
			c.Do(t, http.MethodPost, scheduleAudio, SignedHeaders("wrong", body), body),
			c.Do(t, http.MethodGet, quickAudio, nil, nil),
			c.Do(t, http.MethodGet, "/api/v3/rooms", nil, nil),
		}
	}
	for i, want := range []int{200, 400, 401, 405, 404} {
		answer := all(serve(Deprecation{}))[i]
		announced(answer, "", "", "")
		answer = all(serve(Deprecation{Deprecated: deprecated}))[i]
		announced(answer, "@1769904000", "", link)
		answer = all(serve(Deprecation{Deprecated: deprecated, Sunset: sunset}))[i]
		if announced(answer, "@1769904000", sunset.UTC().Format(http.TimeFormat), link); answer.StatusCode != want {
			t.Errorf("before the end: got %d, want %d", answer.StatusCode, want)
		}
	}
	now = sunset
	c := serve(Deprecation{Deprecated: deprecated, Sunset: sunset})
	for _, answer := range all(c) {
		announced(answer, "@1769904000", sunset.UTC().Format(http.TimeFormat), link)
		AssertError(t, answer, 410, "version 3 ended on "+sunset.UTC().Format(time.DateOnly)+", use version 4")
	}
	if answer := c.Do(t, http.MethodGet, "/api/v3/openapi.yaml", nil, nil); answer.StatusCode != 200 ||
		answer.Header.Get("Sunset") == "" {
		t.Errorf("description after the sunset: got status %d, Sunset %q, want 200 and a Sunset header", answer.StatusCode,
			answer.Header.Get("Sunset"))
	}
}
