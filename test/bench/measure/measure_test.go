package measure

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := Median(c.values); got != c.want {
			t.Errorf("median of %v: got %v, want %v", c.values, got, c.want)
		}
	}
}

// The ratio is the median over the pairs, so that one disturbed pair does not change it.
func TestPairs_MedianRatio(t *testing.T) {
	second := func(requests int, cpu time.Duration) Slice {
		return Slice{Requests: requests, Elapsed: time.Second, CPU: cpu}
	}
	p := Pairs{
		A: []Slice{second(100, time.Second), second(50, time.Second), second(3, time.Second)},
		B: []Slice{second(200, time.Second), second(100, time.Second), second(100, time.Second/10)},
	}
	if p.Rate() != 0.5 || p.CPU() != 2 {
		t.Errorf("got rate %v and cpu %v, want 0.5 and 2", p.Rate(), p.CPU())
	}
}

func TestParseUsage(t *testing.T) {
	const stat = "17 (a ) b) S 4 17 17 0 -1 4194560 1 2 3 4 250 50 30 20 20 0 12 0 99 1000 10"
	u, err := parseUsage(stat)
	if err != nil || u.parent != 4 || u.selfTime != 3*time.Second || u.childrenTime != 500*time.Millisecond {
		t.Errorf("got %+v, %v, want parent 4, 3s and 500ms", u, err)
	}
	if _, err := parseUsage("17 (a) S 4"); err == nil {
		t.Error("an incomplete line was accepted")
	}
}

func TestParseMappings(t *testing.T) {
	const smaps = `00400000-00500000 r-xp 00000000 fd:01 11 /usr/bin/parley
Rss:                 100 kB
Pss:                  50 kB
Anonymous:             8 kB
VmFlags: rd ex mr
c000000000-c004000000 rw-p 00000000 00:00 0
Rss:                  40 kB
Pss:                  40 kB
Anonymous:            40 kB
7f0000000000-7f0001000000 r--s 00000000 fd:01 12 /srv/data/parley.db
Rss:                 300 kB
Pss:                 300 kB
Anonymous:             0 kB
7fff00000000-7fff00001000 rw-p 00000000 00:00 0 [stack]
Rss:                   4 kB
Pss:                   4 kB
Anonymous:             4 kB
`
	want := Memory{
		Resident:     444 << 10,
		Proportional: 394 << 10,
		Private:      52 << 10,
		Database:     300 << 10,
		Program:      42 << 10,
	}
	if got, err := parseMappings(smaps); err != nil || got != want {
		t.Errorf("got %+v, error %v, want %+v", got, err, want)
	}
	if _, err := parseMappings("Rss: many kB"); err == nil {
		t.Error("a figure that is no number: got no error, want one")
	}
}

func TestSlice(t *testing.T) {
	bodies := make(chan string, 1<<20)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusTeapot)
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 2000)) // short enough to get a Content-Length
	}))
	defer s.Close()
	target := func(path string) Target {
		return Target{Name: "test", Address: s.Listener.Addr().String(),
			CPU: func() (time.Duration, error) { return 0, nil },
			Request: func(to []byte, n uint64) []byte {
				body := fmt.Sprint(n)
				return fmt.Appendf(to, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, len(body),
					body)
			}}
	}
	l, err := Dial(target("/"), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got, err := l.Slice(t.Context(), 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if got.Requests == 0 || uint64(got.Requests) != l.Sent() || got.Requests != len(bodies) || got.P99 <= 0 ||
		got.Elapsed < 50*time.Millisecond {
		t.Errorf("got %+v with %d sent and %d served requests", got, l.Sent(), len(bodies))
	}
	seen := map[string]bool{}
	for range got.Requests {
		if body := <-bodies; seen[body] {
			t.Errorf("request %s was sent twice", body)
		} else {
			seen[body] = true
		}
	}

	refused, err := Dial(target("/missing"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Close()
	var status *StatusError
	if _, err := refused.Slice(t.Context(), 50*time.Millisecond); !errors.As(err, &status) || status.Status != "418" {
		t.Errorf("got %v, want a StatusError with status 418", err)
	}
}

// net/http sends a long response in chunks. The next response on the connection shows that
// the first was read to its end.
func TestSlice_ChunkedResponse(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 10 {
			_, _ = io.WriteString(w, strings.Repeat("x", 2000))
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer s.Close()
	l, err := Dial(Target{Name: "test", Address: s.Listener.Addr().String(),
		CPU: func() (time.Duration, error) { return 0, nil },
		Request: func(to []byte, _ uint64) []byte {
			return append(to, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"...)
		}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 3 {
		body, err := l.SendOne()
		if got := strings.Count(string(body), "x"); err != nil || got != 20_000 {
			t.Fatalf("got %d bytes, %v, want 20000", got, err)
		}
	}
}
