package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"parley/internal/config"
	"parley/internal/media/probe"
)

const (
	// pathTimeout is how long media may take to connect over one path. Browsers give up after as long.
	pathTimeout = 15 * time.Second
	// callTimeout bounds one request of a check.
	callTimeout = 10 * time.Second
)

// mediaPath is a path of media, with what to change if it does not work.
type mediaPath struct {
	path       probe.Path
	name       string
	finding    string
	change     string // the line to change, with %s for the port
	setting    string // of the port, if its number is not known
	notOffered string // why the server may not name an address
	own        string // setting of a port that the server has only for this path; empty if there is none
	health     string // part of /healthz about that port
}

var mediaPaths = []mediaPath{
	{
		path:    probe.UDP,
		name:    "UDP",
		finding: "udp_unreachable",
		change: "Open UDP port %s of the server in its firewall; if only the network of the other machine blocks UDP, " +
			"change nothing.",
		setting:    "--rtc-udp-port",
		notOffered: "the server names no address for it",
		own:        "--rtc-udp-port",
		health:     "media_udp",
	},
	{
		path:       probe.ICETCP,
		name:       "ICE over TCP",
		finding:    "ice_tcp_unreachable",
		change:     "Open TCP port %s of the server in its firewall.",
		setting:    "--rtc-tcp-port or --listen",
		notOffered: "the server has no port for it: --rtc-tcp-port, --tls-domain or --tls-cert-file",
		own:        "--rtc-tcp-port",
		health:     "media_tcp",
	},
	{
		path:       probe.TURNTCP,
		name:       "TURN over TCP",
		finding:    "turn_tcp_unreachable",
		change:     unchangedTCP,
		setting:    "--listen",
		notOffered: "the server has no TURN server: set --tls-domain or --tls-cert-file, and remove --no-turn",
	},
	{
		path:    probe.TURNTLS,
		name:    "TURN over TLS",
		finding: "turn_tls_unreachable",
		change:  unchangedTCP,
		setting: "--listen",
		notOffered: "the server has no TURN server with TLS: set --tls-domain or --tls-cert-file, and a host name in " +
			"--public-url, and remove --no-turn",
	},
}

// unchangedTCP is the line to change if TURN does not work on a port on which HTTPS works.
const unchangedTCP = "Forward the TCP connections of port %s to the server unchanged, without a proxy for HTTP or " +
	"HTTPS; if only the network of the other machine inspects them, change nothing."

// result returns the finding about a path that does not work at an address of the server, which may be
// empty.
func (p mediaPath) result(address string) Result {
	port, at := "of "+p.setting, ""
	if _, number, err := net.SplitHostPort(address); err == nil {
		port, at = number, ", at "+address
	}
	change := fmt.Sprintf(p.change, port)
	return found(p.finding, Warning, change, "Media over %s does not reach the server%s.", p.name, at)
}

// Tried is what a machine saw of one path of media.
type Tried struct {
	Path    string `json:"-"`
	Offered bool   `json:"offered"` // the server names an address for the path
	Works   bool   `json:"works"`
	Address string `json:"address"` // of the server; empty if it is not known
}

// MediaResults returns what follows from the paths that a machine has tried, and from the findings of the running
// server.
func MediaResults(tried []Tried, server []Finding) []Result {
	return mediaResults(tried, func(p mediaPath) bool {
		return slices.ContainsFunc(server, func(f Finding) bool { return f.ID == "port" && strings.Contains(f.Text, p.own) })
	})
}

// mediaResults is MediaResults with a function that reports whether the server could not open the own port of a path.
func mediaResults(tried []Tried, unopened func(mediaPath) bool) (results []Result) {
	works := false
	offered := false
	for _, t := range tried {
		results = append(results, t.result(unopened))
		works, offered = works || t.Works, offered || t.Offered
	}
	switch {
	case len(tried) == 0:
		result := unknown("no path could be tested")
		result.Check = "media"
		results = append(results, result)
	case offered && !works && len(tried) == len(mediaPaths):
		result := found("media_unreachable", Error,
			"Make the changes above; if they do not help, --rtc-node-ip ADDRESS, with the public IP address of the server",
			"No media reaches the server from the network of the other machine, so people there hear and see nobody.")
		result.Check = "media"
		results = append(results, result)
	}
	return results
}

// result returns what follows from one path.
func (t Tried) result(unopened func(mediaPath) bool) Result {
	i := slices.IndexFunc(mediaPaths, func(p mediaPath) bool { return string(p.path) == t.Path })
	if i < 0 {
		return Result{Check: "media_" + t.Path, Unknown: "this version does not know the path"}
	}
	p := mediaPaths[i]
	var result Result
	switch {
	case t.Works:
		result = fine("%s reaches the server at %s", p.name, t.Address)
	case p.own != "" && unopened(p):
		// Not the address that was tried, because the server has another port at each start.
		result = found(p.finding, Warning, fmt.Sprintf("Free the port of %s, or choose another one, and restart the server "+
			"(parley doctor there names the port).", p.own),
			"Media over %s does not reach the server, which cannot open the port of %s.", p.name, p.own)
	case !t.Offered:
		result = unknown("%s: %s", p.name, p.notOffered)
	default:
		result = p.result(t.Address)
	}
	result.Check = "media_" + t.Path
	return result
}

// RunRemote checks a server from this machine, as a browser sees it: the public address, and with the code
// of a check each path of media, over which it joins for a moment. The server gets the result. The check that takes
// long runs only if slow is true. The error is about the code, or about sending the result.
func RunRemote(ctx context.Context, baseURL, code string, slow bool) (Report, error) {
	cfg := config.Config{PublicURL: baseURL}
	public := runCheck(ctx, cfg, checkRemoteAddress)
	public.Check = "public_address"
	if public.Unknown != "" {
		public = found("public_unreachable", Error,
			"Correct the URL, or start the server and open the TCP port of its URL in its firewall.",
			"The server cannot be checked: %s.", public.Unknown)
		public.Check = "public_address"
	}
	report := Report{Checks: []Result{public}}
	if report.Worst() == Error {
		return report, nil // the code stays valid
	}
	clock := runCheck(ctx, cfg, checkServerClock)
	clock.Check = "server_clock"
	report.Checks = append(report.Checks, clock)
	if slow {
		quiet := runCheckWithin(ctx, checkTimeout+QuietTime, cfg, checkQuiet)
		quiet.Check = quietCheck
		report.Checks = append(report.Checks, quiet)
	}
	if code == "" {
		result := unknown("this needs the URL that parley doctor --invite prints on the server")
		result.Check = "media"
		report.Checks = append(report.Checks, result)
		return report, nil
	}
	c := remoteCheck{baseURL: cfg.BaseURL(""), client: &http.Client{
		Timeout:       callTimeout,
		CheckRedirect: doNotFollow, // the code and the key are meant for this server
	}}
	var started struct{ Key string }
	if err := c.call(ctx, "/checks", map[string]any{"code": code}, &started); err != nil {
		return report, err
	}
	c.key = started.Key
	var tried []Tried
	paths := map[string]Tried{}
	for _, p := range mediaPaths {
		t, err := c.try(ctx, p.path)
		if err != nil {
			result := unknown("%s: %v", p.name, err)
			result.Check = "media_" + string(p.path)
			report.Checks = append(report.Checks, result)
			continue
		}
		tried, paths[t.Path] = append(tried, t), t
	}
	report.Checks = append(report.Checks, mediaResults(tried, unopenedOf(readHealth(ctx, cfg)))...)
	return report, c.call(ctx, "/checks/report", map[string]any{"key": c.key, "paths": paths}, nil)
}

// checkRemoteAddress checks the public URL of a server on another machine. Unlike checkPublicAddress, it compares no
// address with those of this machine.
func checkRemoteAddress(ctx context.Context, cfg config.Config) Result {
	if host := missingHost(ctx, publicHosts(cfg)); host != "" {
		return noRecord(host, host, "the server") // the settings are on the server
	}
	result, _ := checkPublicURL(ctx, newClient(), cfg, "Renew the certificate of "+publicHost(cfg)+" in the proxy, or on "+
		"the server if it has no proxy (parley doctor there says why that fails).")
	return result
}

// readHealth returns what /healthz of a server responds, or nil if it does not respond.
func readHealth(ctx context.Context, cfg config.Config) (health map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if _, err := getJSON(ctx, newClient(), cfg.BaseURL("")+"/healthz", &health); err != nil {
		return nil
	}
	return health
}

// unopenedOf returns a function for mediaResults about a server with that health.
func unopenedOf(health map[string]string) func(mediaPath) bool {
	return func(p mediaPath) bool { return health[p.health] == "unavailable" }
}

// checkServerClock compares the clock of a server with the clock of this machine.
func checkServerClock(ctx context.Context, cfg config.Config) Result {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, cfg.BaseURL("")+"/livez", nil)
	if err != nil {
		return unknown("%v", err)
	}
	before := time.Now()
	response, err := newClient().Do(r)
	if err != nil {
		return unknown("the server does not respond: %v", err)
	}
	_ = response.Body.Close()
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return unknown("the server does not say its time")
	}
	// The header has whole seconds, and the response was on its way.
	return serverClockResult(date.Sub(before), time.Since(before)+time.Second)
}

// serverClockResult returns what follows from how far a clock is ahead, with the error of that measurement.
func serverClockResult(offset, maxError time.Duration) Result {
	if offset.Abs() <= maxClockOffset+maxError {
		return fine("as the clock here, to %s", (maxClockOffset + maxError).Round(time.Second))
	}
	return found("server_clock", Warning, "timedatectl set-ntp true, on the server and on this machine",
		"The clock of the server differs from the clock of this machine by %.0f s, and signatures are valid only while "+
			"the clock is right.", offset.Seconds())
}

// remoteCheck is a check that runs on this machine.
type remoteCheck struct {
	baseURL, key string
	client       *http.Client
}

// try tries a path. With an error nothing can be said about it.
func (c remoteCheck) try(ctx context.Context, path probe.Path) (Tried, error) {
	ctx, cancel := context.WithTimeout(ctx, pathTimeout)
	defer cancel()
	var token struct {
		MediaToken string `json:"media_token"`
	}
	if err := c.call(ctx, "/checks/token", map[string]any{"key": c.key}, &token); err != nil {
		return Tried{}, err
	}
	outcome, err := probe.Try(ctx, c.baseURL, token.MediaToken, path)
	return Tried{Path: string(path), Offered: outcome.Offered, Works: outcome.Works, Address: outcome.Address}, err
}

// call calls an operation of the page's API.
func (c remoteCheck) call(ctx context.Context, path string, body, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.baseURL+"/api/join"+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	decoder := json.NewDecoder(http.MaxBytesReader(nil, response.Body, maxResponseBytes))
	if response.StatusCode >= http.StatusMultipleChoices {
		var failure struct{ Error struct{ Message string } }
		if err := decoder.Decode(&failure); err != nil || failure.Error.Message == "" {
			return fmt.Errorf("the server responds with status %d", response.StatusCode)
		}
		return fmt.Errorf("the server responds: %s", failure.Error.Message)
	}
	if out == nil {
		return nil
	}
	return decoder.Decode(out)
}

// ParseRemote splits the address of a check, such as https://meet.example.org/check#CODE, into the URL of the
// server and the code, which may be empty.
func ParseRemote(address string) (baseURL, code string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", "", errors.New("the address must be a URL such as https://meet.example.org, or the one that " +
			"parley doctor --invite prints")
	}
	return u.Scheme + "://" + u.Host, u.Fragment, nil
}
