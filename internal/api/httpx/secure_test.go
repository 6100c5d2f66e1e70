package httpx

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestMiddleware_SecurityHeaders(t *testing.T) {
	t.Parallel()
	fail := func(w http.ResponseWriter, _ *http.Request) { WriteJSON(w, 500, nil) }
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		policy  string
	}{
		"JSON": {func(w http.ResponseWriter, _ *http.Request) { WriteJSON(w, 200, "x") },
			"default-src 'none'; frame-ancestors 'none'"},
		"a failure": {func(http.ResponseWriter, *http.Request) { panic("x") },
			"default-src 'none'; frame-ancestors 'none'"},
		"a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'self'")
		}, "default-src 'self'"},
	} {
		for https := range 2 {
			h := Middleware(tc.handler, nil, slog.New(slog.DiscardHandler), fail)
			strict := ""
			if https == 1 {
				h, strict = WithHSTS(h), "max-age=2592000"
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			for header, want := range map[string]string{"X-Content-Type-Options": "nosniff",
				"Content-Security-Policy": tc.policy, "Strict-Transport-Security": strict} {
				if got := w.Header().Get(header); got != want {
					t.Errorf("%s: %s is %q, want %q", name, header, got, want)
				}
			}
		}
	}
}

// TestMiddleware_ClosesConnectionAfterChunkedRequest sends both Content-Length
// and chunked encoding. The server must close the connection, so that it does
// not serve the smuggled request.
func TestMiddleware_ClosesConnectionAfterChunkedRequest(t *testing.T) {
	t.Parallel()
	served := 0
	s := httptest.NewServer(Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served++
		_, _ = io.Copy(io.Discard, r.Body)
		WriteJSON(w, 200, "x")
	}), nil, slog.New(slog.DiscardHandler), nil))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	_, err = io.WriteString(conn,
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"+smuggled)
	if err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, nil)
	if err != nil || !resp.Close {
		t.Fatalf("the response leaves the connection open: %v", err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 || served != 1 {
		t.Errorf("%d requests served, want 1; the connection ended with %q, %v", served, rest, err)
	}
}

func TestReadOnly_RejectsOtherMethods(t *testing.T) {
	t.Parallel()
	h := ReadOnly(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }))
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405, "DELETE": 405, "OPTIONS": 405,
		"BREW": 405} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		if w.Code != want || (want == 405) != (w.Header().Get("Allow") == "GET, HEAD") {
			t.Errorf("%s: status %d, Allow %q, want %d", method, w.Code, w.Header().Get("Allow"), want)
		}
	}
}
