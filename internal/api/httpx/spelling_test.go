package httpx

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestBearerToken(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "BEARER  abc": "abc", "Bearer abc ": "abc",
		"Bearer": "", "Bearer ": "", "Basic abc": "", "Bearerabc": "", "": "",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		if got := BearerToken(r); got != want {
			t.Errorf("Authorization %q: got %q, want %q", header, got, want)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header["Authorization"] = []string{"Bearer abc", "Bearer def"}
	if got := BearerToken(r); got != "" {
		t.Errorf("two headers: got %q, want none", got)
	}
}

func TestAcceptsEncoding(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		headers []string
		want    bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"gzip"}, true},
		{[]string{"GZIP"}, true},
		{[]string{"x-gzip"}, true},
		{[]string{"deflate, gzip;q=1.0, *;q=0.5"}, true},
		{[]string{"deflate", "gzip"}, true},
		{[]string{"deflate,gzip ; Q=0.001"}, true},
		{[]string{"*"}, true},
		{[]string{"*;q=0"}, false},
		{[]string{"gzip;q=0"}, false},
		{[]string{"gzip; q=0.000, *"}, false},
		{[]string{"*, gzip;q=0"}, false},
		{[]string{"identity"}, false},
		{[]string{"notgzip"}, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header["Accept-Encoding"] = tc.headers
		if got := AcceptsEncoding(r, "gzip"); got != tc.want {
			t.Errorf("Accept-Encoding %q: got %t, want %t", tc.headers, got, tc.want)
		}
	}
}

func TestCheckJSON(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"application/json":                    true,
		"Application/JSON":                    true,
		"application/json;charset=utf-8":      true,
		"application/json; charset=UTF-8":     true,
		`application/json ; Charset="utf-8"`:  true,
		"application/json;":                   true,
		"application/json; charset=us-ascii":  false,
		"application/json; charset=iso8859-1": false,
		"text/json":                           false,
		"application/jsonp":                   false,
		"":                                    false,
	} {
		if err := checkJSON([]string{value}); (err == nil) != want {
			t.Errorf("Content-Type %q: got %v, want accepted %t", value, err, want)
		}
	}
}
