package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"parley/client"
	"parley/internal/api/site"
	"parley/test/bench/measure"
	"parley/web"
)

// joiningDir is where the programs are that visit pages in a browser. The bench
// runs at the top of the repository.
const joiningDir = "test/browser/joining"

// joinScenarios are how somebody joins, with the goal of each.
var joinScenarios = []struct {
	name, of string
	goal     float64
}{
	{"press", "joining a video room, from the press on Join", 1.1},
	{"cold", "joining a video room, from navigation, nothing cached", 1.3},
	{"slow", "joining a video room, from navigation, nothing cached, at 1.6 Mbit/s and 150 ms", 1.3},
}

// visit is how long it took to hear and see somebody, in milliseconds.
type visit struct{ Sound, Frame float64 }

// visits are pairs of neighbours in time.
type visits struct{ A, B []visit }

// page compares how soon somebody who joins hears and sees who is there, on the
// room page and on a page that is nothing but LiveKit's client. The files of both
// are served on one origin, by one handler, and both are measured from outside.
func (b *bench) page(ctx context.Context) ([]figure, error) {
	if err := checkBrowser(); err != nil {
		return nil, err
	}
	bare := filepath.Join(b.dir, "bare-page")
	if _, err := b.node(ctx, "build.mjs", bare); err != nil {
		return nil, err
	}
	p, err := b.startParley(ctx, filepath.Join(b.dir, "page"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	front, err := serveBoth(p.Address, bare)
	if err != nil {
		return nil, err
	}
	defer func() { _ = front.Close() }()
	c, err := client.New("http://"+p.Address, client.Credentials{ProjectID: p.ProjectID, APIKey: p.APIKey}, client.Options{})
	if err != nil {
		return nil, err
	}
	room, err := c.CreateQuickVideoRoom(ctx, client.QuickRoomRequest{Name: "Amina", MaxParticipants: 1000, EmptyTimeout: 3600,
		Metadata: client.Metadata{RoomTitle: "Workshop"}})
	if err != nil {
		return nil, err
	}
	argument, err := json.Marshal(map[string]any{
		"page":  front.Addr + "/r/" + room.RoomID + "#name=Ben",
		"bare":  front.Addr + "/bare/r/" + room.RoomID,
		"pairs": 2 * b.pairs, // a visit is one figure, where a slice is thousands of requests; some ways take more of them
	})
	if err != nil {
		return nil, err
	}
	out, err := b.node(ctx, "measure.mjs", string(argument))
	if err != nil {
		return nil, err
	}
	var results map[string]struct{ Bare, Control visits }
	if err := json.Unmarshal(out, &results); err != nil {
		return nil, err
	}
	var figures []figure
	for _, w := range joinScenarios {
		r := results[w.name]
		for _, f := range []struct {
			name string
			of   func(visit) float64
		}{
			{"first sound, bare page's = 1", func(v visit) float64 { return v.Sound }},
			{"first frame, bare page's = 1", func(v visit) float64 { return v.Frame }},
		} {
			figures = append(figures, figure{Of: w.of, Name: f.name, Value: r.Bare.ratio(f.of),
				Comment: fmt.Sprintf("%.0f ms, bare page %.0f ms; A against A %.2f", median(r.Bare.A, f.of), median(r.Bare.B, f.of), r.Control.ratio(f.of))}.
				atMost(w.goal).withControl(r.Control.ratio(f.of)))
		}
	}
	return figures, p.end()
}

// checkBrowser says what is missing for a page to be measured.
func checkBrowser() error {
	chromium := os.Getenv("CHROMIUM")
	if chromium == "" {
		chromium = "/usr/bin/chromium"
	}
	if _, err := os.Stat(chromium); err != nil {
		return fmt.Errorf("%w: no Chromium at %s; install it, or name it in CHROMIUM", errUnavailable, chromium)
	}
	for _, modules := range []string{"web/node_modules", "test/browser/node_modules"} {
		if _, err := os.Stat(modules); err != nil {
			return fmt.Errorf("%w: no %s; make bench installs it", errUnavailable, modules)
		}
	}
	return nil
}

// node runs a program of joining and returns what it printed.
func (b *bench) node(ctx context.Context, program, argument string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "node", filepath.Join(joiningDir, program), argument)
	detach(cmd)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("%s: %w: %s", program, err, failed.Stderr)
	}
	return out, err
}

// serveBoth serves the room page, and under /bare/ the bare one, on one origin,
// which is the server's Addr. What either asks of the API or of the media engine
// goes on to a Parley: only their files may not take different ways.
func serveBoth(parley, bare string) (*http.Server, error) {
	ours, err := site.New(web.Assets(), noEmbedOrigins{})
	if err != nil {
		return nil, err
	}
	theirs, err := site.New(os.DirFS(bare), noEmbedOrigins{})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", ours)
	mux.Handle("/bare/", http.StripPrefix("/bare", theirs))
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: parley})
	proxy.ErrorLog = log.New(io.Discard, "", 0) // a visitor who goes cuts off what is under way
	for _, path := range []string{"/api/", "/rtc", "/rtc/"} {
		mux.Handle(path, proxy)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{Addr: "http://" + listener.Addr().String(), Handler: mux, ReadHeaderTimeout: startTime}
	go func() { _ = s.Serve(listener) }()
	return s, nil
}

// noEmbedOrigins implements site.Rooms.
type noEmbedOrigins struct{}

func (noEmbedOrigins) EmbedOrigins(context.Context, string) []string { return nil }

// ratio is how many times as long as one of B's visits one of A's took, pair by
// pair.
func (v visits) ratio(of func(visit) float64) float64 {
	var ratios []float64
	for i := range v.A {
		ratios = append(ratios, of(v.A[i])/of(v.B[i]))
	}
	return measure.Median(ratios)
}

func median(all []visit, of func(visit) float64) float64 {
	var values []float64
	for _, v := range all {
		values = append(values, of(v))
	}
	return measure.Median(values)
}
