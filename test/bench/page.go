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

	"parley.example/client"
	"parley/internal/api/site"
	"parley/internal/room"
	"parley/test/bench/measure"
	"parley/web"
)

// joiningDir is the directory of the programs that visit pages in a browser, relative to the
// root of the repository, in which the benchmark runs.
const joiningDir = "test/browser/joining"

// joinScenarios are the ways to join a room, with the goal of each.
var joinScenarios = []struct {
	name, of string
	goal     float64
}{
	{"press", "joining a video room, from the press on Join", 1.1},
	{"cold", "joining a video room, from navigation, nothing cached", 1.3},
	{"slow", "joining a video room, from navigation, nothing cached, at 1.6 Mbit/s and 150 ms", 1.3},
}

// joinNames returns the names of the join scenarios.
func joinNames() []string {
	var all []string
	for _, s := range joinScenarios {
		all = append(all, s.name)
	}
	return all
}

// visit contains the times until the first sound and the first frame, in milliseconds.
type visit struct{ Sound, Frame float64 }

// visits are pairs of visits; those with the same index follow each other in time.
type visits struct{ A, B []visit }

// page compares the time until a joining participant hears and sees the others, on the room
// page and on a bare page with only LiveKit's client. The same handler serves the files of
// both on one origin, and both are measured from outside.
func (b *bench) page(ctx context.Context) ([]figure, error) {
	if err := checkBrowser(); err != nil {
		return nil, err
	}
	bare := filepath.Join(b.dir, "bare-page")
	if _, err := b.node(ctx, "build.mjs", "bare", bare); err != nil {
		return nil, err
	}
	p, err := b.startParley(ctx, filepath.Join(b.dir, "page"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	front, err := servePages(p.Address, map[string]string{"bare": bare})
	if err != nil {
		return nil, err
	}
	defer func() { _ = front.Close() }()
	roomID, err := p.createVideoRoom(ctx)
	if err != nil {
		return nil, err
	}
	argument, err := json.Marshal(map[string]any{
		"page": front.Addr + "/r/" + roomID + "#name=Ben",
		"bare": front.Addr + "/bare/r/" + roomID,
		// A visit is one value, while a slice has thousands of requests, so there are more.
		"pairs":     2 * b.pairs,
		"scenarios": b.joins,
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
		r, ok := results[w.name]
		if !ok {
			continue
		}
		for _, f := range []struct {
			name string
			of   func(visit) float64
		}{
			{"first sound, bare page's = 1", func(v visit) float64 { return v.Sound }},
			{"first frame, bare page's = 1", func(v visit) float64 { return v.Frame }},
		} {
			control := r.Control.ratio(f.of)
			comment := fmt.Sprintf("%.0f ms, bare page %.0f ms; A against A %.2f",
				median(r.Bare.A, f.of), median(r.Bare.B, f.of), control)
			figures = append(figures, figure{Of: w.of, Name: f.name, Value: r.Bare.ratio(f.of), Comment: comment}.
				atMost(w.goal).withControl(control))
		}
	}
	return figures, p.end()
}

// checkBrowser returns an error if a program for the measurement in a browser is missing.
func checkBrowser() error {
	chromium := os.Getenv("CHROMIUM")
	if chromium == "" {
		chromium = "/usr/bin/chromium"
	}
	if _, err := os.Stat(chromium); err != nil {
		return fmt.Errorf("%w: no Chromium at %s: install it or set CHROMIUM to its path", errUnavailable, chromium)
	}
	for _, modules := range []string{"web/node_modules", "test/browser/node_modules"} {
		if _, err := os.Stat(modules); err != nil {
			return fmt.Errorf("%w: no %s: make bench installs it", errUnavailable, modules)
		}
	}
	return nil
}

// createVideoRoom creates a room and returns its ID.
func (p *parley) createVideoRoom(ctx context.Context) (string, error) {
	c, err := client.New("http://"+p.Address, client.Credentials{ProjectID: p.ProjectID, APIKey: p.APIKey},
		client.Options{})
	if err != nil {
		return "", err
	}
	room, err := c.CreateQuickVideoRoom(ctx, client.QuickRoomRequest{Name: "Amina", MaxParticipants: 1000,
		EmptyTimeout: 3600,
		Metadata:     client.Metadata{RoomTitle: "Workshop"}})
	return room.RoomID, err
}

// node runs a program in joiningDir with Node.js and returns its standard output.
func (b *bench) node(ctx context.Context, program string, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "node", append([]string{filepath.Join(joiningDir, program)}, arguments...)...)
	detach(cmd)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("%s: %w: %s", program, err, failed.Stderr)
	}
	return out, err
}

// servePages serves the room page, and under /NAME/ each page that was built into a
// directory, on one origin, which is the server's Addr, so that the files of all are served in
// the same way. Their requests to the API and to the media engine are forwarded to the Parley
// server at the given address.
func servePages(parley string, dirs map[string]string) (*http.Server, error) {
	roomPage, err := site.New(web.Assets(), noEmbedOrigins{})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", roomPage)
	for name, dir := range dirs {
		page, err := site.New(os.DirFS(dir), noEmbedOrigins{})
		if err != nil {
			return nil, err
		}
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, page))
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: parley})
	proxy.ErrorLog = log.New(io.Discard, "", 0) // a leaving visitor aborts its requests
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

// noEmbedOrigins allows no origins to embed a room.
type noEmbedOrigins struct{}

func (noEmbedOrigins) RoomPage(context.Context, string) (room.LinkPreview, []string) {
	return room.LinkPreview{}, nil
}

// ratio returns the median of the ratios of A's to B's values, pair by pair.
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
