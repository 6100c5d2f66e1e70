package httpx

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/internal/fault"
)

func TestClientAddr(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, tc := range []struct {
		name, peer, forwarded string
		trusted               []netip.Prefix
		want                  string
	}{
		{"no proxies: headers are ignored", "192.0.2.1:1", "198.51.100.1", nil, "192.0.2.1"},
		{"an untrusted peer", "192.0.2.1:1", "198.51.100.1", proxies, "192.0.2.1"},
		{"one proxy", "10.0.0.1:1", "198.51.100.1", proxies, "198.51.100.1"},
		{"a forged first hop", "10.0.0.1:1", "203.0.113.9, 198.51.100.1", proxies, "198.51.100.1"},
		{"two proxies", "10.0.0.1:1", "198.51.100.1, 10.0.0.2", proxies, "198.51.100.1"},
		{"with a port", "10.0.0.1:1", "198.51.100.1:4711", proxies, "198.51.100.1"},
		{"with brackets and a port", "10.0.0.1:1", "[2001:db8::1]:4711", proxies, "2001:db8::1"},
		{"with brackets", "10.0.0.1:1", "[2001:DB8:0::1]", proxies, "2001:db8::1"},
		{"with empty elements", "10.0.0.1:1", ",198.51.100.1, ,10.0.0.2,", proxies, "198.51.100.1"},
		{"IPv4 in IPv6 as a hop", "10.0.0.1:1", "::ffff:198.51.100.1", proxies, "198.51.100.1"},
		{"no header", "10.0.0.1:1", "", proxies, "10.0.0.1"},
		{"nonsense", "10.0.0.1:1", "unknown", proxies, "10.0.0.1"},
		{"several headers", "10.0.0.1:1", "203.0.113.9\n198.51.100.1\n10.0.0.2", proxies, "198.51.100.1"},
		{"several headers with lists", "10.0.0.1:1", "203.0.113.9, 198.51.100.1\n10.0.0.2", proxies, "198.51.100.1"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:1", "2001:db8::1", proxies, "2001:db8::1"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = tc.peer
		for header := range strings.Lines(tc.forwarded) {
			r.Header.Add("X-Forwarded-For", strings.TrimSuffix(header, "\n"))
		}
		if got := clientAddr(r, tc.trusted).String(); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestMiddleware_LogsPathWithoutQuery(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		LogError(r, fault.New(fault.Internal, "", "the cause"))
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short")
	}), Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	r := httptest.NewRequest(http.MethodGet, "/rtc?access_token=SECRET", nil)
	h.ServeHTTP(httptest.NewRecorder(), r)
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("%s: %v", log.Bytes(), err)
	}
	if line["path"] != "/rtc" || line["status"] != 418.0 || line["bytes"] != 5.0 || line["error"] != "the cause" ||
		line["request_id"] == "" {
		t.Errorf("log line: got %v, want /rtc, 418, 5 bytes, the cause and a request_id", line)
	}
	if strings.Contains(log.String(), "SECRET") {
		t.Errorf("log: got the query in %s, want none", log.String())
	}
}

// A client of a local socket has no address.
func TestMiddleware_LogsLocalClient(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := Middleware(http.NotFoundHandler(), Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	r := httptest.NewRequest(http.MethodGet, "/overview", nil)
	r.RemoteAddr = "@" // as package net has it
	h.ServeHTTP(httptest.NewRecorder(), r)
	if !strings.Contains(log.String(), " client=local\n") {
		t.Errorf("got the line %q, want the client local", log.String())
	}
}

// A stranger chooses the path and the method, so neither makes a long line in the log.
func TestMiddleware_LongPath(t *testing.T) {
	t.Parallel()
	for length, status := range map[int]int{2048: 418, 2049: 414, 30_000: 414} {
		var log bytes.Buffer
		h := Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(418) }),
			Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(strings.Repeat("X", 5000), "/"+strings.Repeat("a", length-1), nil))
		if w.Code != status || log.Len() > 2500 {
			t.Errorf("path of %d bytes: got status %d and %d bytes in the log, want %d and at most 2500", length, w.Code,
				log.Len(), status)
		}
	}
}

// The log and Done get what the API found out, after the response to a rejected request was
// sent.
func TestMiddleware_RecordsCaller(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	now := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	mux := NewMux(http.NotFound, http.NotFound)
	mux.HandleFunc("GET /rooms/{room_id}", func(w http.ResponseWriter, r *http.Request) {
		info := FromContext(r.Context())
		info.Caller = Caller{ProjectID: "p1", KeySlot: "overlap"}
		now = now.Add(1500 * time.Microsecond)
		if r.URL.Path == "/rooms/2" {
			info.Cause = "bad_signature"
			LogFault(r, fault.New(fault.Unauthorized, "unauthorized", "invalid signature"))
			WriteJSON(w, http.StatusUnauthorized, "no")
			return
		}
		WriteJSON(w, http.StatusOK, "yes")
	})
	w := httptest.NewRecorder()
	var done []RequestInfo
	h := Middleware(mux, Options{Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: func() time.Time { return now },
		Done: func(_ *http.Request, info *RequestInfo) {
			if rejected := info.Cause != ""; w.Flushed != rejected {
				t.Errorf("cause %q: flushed: got %v, want %v", info.Cause, w.Flushed, rejected)
			}
			done = append(done, *info)
		}})
	for _, want := range []RequestInfo{{Status: 200}, {Status: 401, Cause: "bad_signature"}} {
		log.Reset()
		w = httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/rooms/"+strconv.Itoa(len(done)+1), nil))
		got := done[len(done)-1]
		if got.Status != want.Status || got.Cause != want.Cause || got.Route != "/rooms/{room_id}" ||
			got.Duration != 1500*time.Microsecond || got.Caller.ProjectID != "p1" {
			t.Errorf("Done: got %+v, want status %d, cause %q, the route, 1.5 ms and project p1", got, want.Status, want.Cause)
		}
		var line map[string]any
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", log.Bytes(), err)
		}
		cause, _ := line["cause"].(string)
		if line["project_id"] != "p1" || line["key"] != "overlap" || cause != want.Cause || line["duration_ms"] != 1.5 {
			t.Errorf("log line: got %v, want project_id p1, key overlap, cause %q, duration_ms 1.5", line, want.Cause)
		}
	}
}

func TestMiddleware_RecoversFromPanic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }), Options{
		Log:  slog.New(slog.NewTextHandler(&log, nil)),
		Fail: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != 500 || !strings.Contains(log.String(), "panic=broken") ||
		!strings.Contains(log.String(), "httpx_test.go") {
		t.Errorf("got status %d, want 500; log:\n%s", w.Code, log.String())
	}
}

func TestReadJSONBody(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, kind, body string
		chunked          bool
		code             string
	}{
		{"plain", "application/json", "{}", false, ""},
		{"with a charset", "Application/JSON; charset=UTF-8", "{}", false, ""},
		{"at the limit", "application/json", strings.Repeat("x", MaxBodySize), false, ""},
		{"over the limit", "application/json", strings.Repeat("x", MaxBodySize+1), false, CodeBodyTooLarge},
		{"over the limit, unknown length", "application/json", strings.Repeat("x", MaxBodySize+1), true, CodeBodyTooLarge},
		{"a form", "application/x-www-form-urlencoded", "{}", false, CodeUnsupportedMediaType},
		{"nothing", "", "{}", false, CodeUnsupportedMediaType},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tc.body))
		r.Header.Set("Content-Type", tc.kind)
		if tc.chunked {
			r.ContentLength = -1
		}
		body, err := ReadJSONBody(httptest.NewRecorder(), r)
		code := ""
		if err != nil {
			code = fault.From(err).Code
		}
		if code != tc.code || err == nil && string(body) != tc.body {
			t.Errorf("%s: got code %q (%v), want %q", tc.name, code, err, tc.code)
		}
	}
}

func TestObject_ReadsMembers(t *testing.T) {
	t.Parallel()
	o, err := ParseObject([]byte(` {"a":"x","n":-5,"none":null,"empty":"","in":{"b":"\u00e9"},"more":[{"x":{"y":1}}]} `))
	if err != nil {
		t.Fatal(err)
	}
	in := o.RequiredObject("in")
	if o.RequiredText("a") != "x" || o.RequiredInteger("n") != -5 || o.Text("none") != nil || o.Text("empty") != nil ||
		o.Has("none") || !o.Has("more") ||
		in.RequiredText("b") != "é" || o.Err() != nil {
		t.Errorf("members: got %+v, error %v, want a x, n -5, none nil, empty nil, more, and in.b é", o, o.Err())
	}
	in.RequiredText("c")
	o.RequiredText("a")
	if o.Err() == nil || o.Err().Error() != "in.c is required" {
		t.Errorf("got error %v, want the first one, in.c is required", o.Err())
	}
}

func TestObject_RequiredIntegerOrDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`5`: "5", `"5"`: "5", `"007"`: "7", `-5`: "-5", `0`: "0", `"0"`: "0",
		`"-5"`: "digits", `""`: "digits", `"5 "`: "digits", `"5.0"`: "digits", `"\u0665"`: "digits",
		`"5\u0000"`: "digits", `[]`: "digits", `true`: "digits",
		`5.0`: "fraction", `5e0`: "fraction", `null`: "required",
		`99999999999999999999`: "9223372036854775807", `"99999999999999999999"`: "9223372036854775807",
		`-99999999999999999999`: "-9223372036854775808",
	} {
		o, err := ParseObject([]byte(`{"n":` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		n := o.RequiredIntegerOrDigits("n")
		got := strconv.Itoa(n)
		if o.Err() != nil {
			got = o.Err().Error()
		}
		if !strings.Contains(got, want) || o.Err() != nil && n != 0 {
			t.Errorf("%s: got %d, %s, want %s", text, n, got, want)
		}
	}
}

// FuzzParse looks for bodies that make ParseObject panic, or that it accepts
// although encoding/json reads them differently.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{"a":{"b":[1,2,{"c":null}]}}`, `{"a":1,"a":2}`,
		`{"a":"\ud83d\ude00"}`, `{"a":1}x`, `[]`, ``, "\xff", `{"a":1e999}`, `{"":{"":""}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := ParseObject(body)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%q: got error %v, want Invalid", body, err)
			}
			return
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			t.Fatalf("%q: got no error, want that of encoding/json: %v", body, err)
		}
		if len(fields) != len(o.members) {
			t.Fatalf("%q: got %d members, want %d", body, len(o.members), len(fields))
		}
		for name, value := range fields {
			if raw := o.raw(name); raw != nil && string(raw) != string(value) {
				t.Fatalf("%q: %s: got %q, want %q", body, name, raw, value)
			}
			_, _ = o.Text(name), o.Has(name)
			_, _, _ = o.RequiredInteger(name), o.Integer(name), o.RequiredIntegerOrDigits(name)
			_, _ = o.RequiredObject(name).RequiredText(name), o.Object(name).Names()
		}
	})
}

// FuzzNumber looks for strings that RequiredIntegerOrDigits accepts although
// they are not ASCII digits, or rejects although they are.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"5", "007", "-5", "+5", "5.0", "1e2", "٥", "５", "", " 5", "9223372036854775807",
		"9223372036854775808", "5\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body, err := json.Marshal(map[string]string{"n": text})
		if err != nil {
			return
		}
		o, err := ParseObject(body)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		n := o.RequiredIntegerOrDigits("n")
		digits := text != "" && strings.Trim(text, "0123456789") == ""
		want, _ := strconv.Atoi(text) // the largest int for a number beyond it
		switch err := o.Err(); {
		case (err == nil) != digits:
			t.Fatalf("%q: got %d, %v, want an error unless it is digits", text, n, err)
		case err == nil && n != want:
			t.Fatalf("%q: got %d, want %d", text, n, want)
		case err != nil && (n != 0 || !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "n ")):
			t.Fatalf("%q: got %d, %v, want 0 and Invalid about n", text, n, err)
		}
	})
}

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
			h := Middleware(tc.handler, Options{Log: slog.New(slog.DiscardHandler), Fail: fail})
			strict := ""
			if https == 1 {
				h, strict = WithHSTS(h), "max-age=2592000"
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			for header, want := range map[string]string{"X-Content-Type-Options": "nosniff",
				"Content-Security-Policy": tc.policy, "Strict-Transport-Security": strict} {
				if got := w.Header().Get(header); got != want {
					t.Errorf("%s: %s: got %q, want %q", name, header, got, want)
				}
			}
		}
	}
}

// TestRequestTime reads the time of the ID of a request, and no time in other texts.
func TestRequestTime(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 28, 9, 30, 0, 123_999_999, time.UTC)
	ids := map[string]bool{}
	h := Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ids[FromContext(r.Context()).ID] = true
	}), Options{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return began }})
	for range 100 {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}
	if len(ids) != 100 {
		t.Errorf("got %d different IDs, want 100", len(ids))
	}
	want := began.Truncate(time.Millisecond)
	for id := range ids {
		if got, ok := RequestTime(id); !ok || !got.Equal(want) {
			t.Errorf("RequestTime(%q): got %v, %t, want %v", id, got, ok, want)
		}
		for _, other := range []string{"", "req_", id[4:], id[:20], id + "00", "REQ_" + id[4:], id[:23] + "u"} {
			if got, ok := RequestTime(other); ok {
				t.Errorf("RequestTime(%q): got %v, want no time", other, got)
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
	}), Options{Log: slog.New(slog.DiscardHandler)}))
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
		t.Fatalf("response: got %v, error %v, want one that closes the connection", resp, err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 || served != 1 {
		t.Errorf("requests served: got %d, want 1; the connection ended with %q, %v", served, rest, err)
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
			t.Errorf("%s: got status %d, Allow %q, want %d", method, w.Code, w.Header().Get("Allow"), want)
		}
	}
}
