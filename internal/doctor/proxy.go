package doctor

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"parley/internal/config"
)

const (
	// QuietPath is the path of WebSockets in which a server sends nothing.
	QuietPath = "/rtc/quiet"
	// QuietTime is how long a proxy has to leave a quiet WebSocket open. The streams of the management API, which the
	// console uses, are quiet for 14 seconds at most.
	QuietTime = 15 * time.Second
	// quietMeeting is how long the signaling of a meeting is quiet at most, with some time to spare: LiveKit sends
	// something every 10 seconds or more often in each direction.
	quietMeeting = 11 * time.Second
)

func (r *Result) addUntrustedProxy(base string) {
	r.add("trusted_proxies", Warning, "--trusted-proxies ADDRESS, with the address from which the proxy connects",
		"The server does not trust the proxy at %s, so all visitors share the limits of one address.", base)
}

// HasProxy reports whether a server is reached through a proxy: browsers use HTTPS, and the server has no certificate.
func HasProxy(cfg config.Config) bool {
	return strings.HasPrefix(cfg.BaseURL(""), "https://") && !cfg.ServesTLS()
}

// checkProxy finds a proxy that the settings do not name. One that adds no header is not seen otherwise.
func checkProxy(_ context.Context, cfg config.Config) Result {
	trusted, err := cfg.TrustedPrefixes()
	switch {
	case err != nil:
		return unknown("%v", err)
	case !HasProxy(cfg):
		return fine("none")
	case len(trusted) > 0:
		return fine("trusted")
	}
	var result Result
	result.addUntrustedProxy(cfg.BaseURL(""))
	return result
}

func checkQuiet(ctx context.Context, cfg config.Config) Result {
	return CheckQuiet(ctx, cfg, QuietTime)
}

// CheckQuiet checks whether a proxy in front of the server leaves a quiet WebSocket open for a time.
func CheckQuiet(ctx context.Context, cfg config.Config, hold time.Duration) Result {
	base := cfg.BaseURL("")
	r, err := newUpgrade(ctx, base+QuietPath)
	if err != nil {
		return unknown("%v", err)
	}
	res, err := newClient().Do(r)
	if err != nil {
		return unknown("%s does not respond here: %v", base, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusSwitchingProtocols {
		return unknown("%s opens no WebSocket for this check (status %d)", base, res.StatusCode)
	}
	began := time.Now()
	var over atomic.Bool
	end := time.AfterFunc(hold, func() {
		over.Store(true)
		_ = res.Body.Close()
	})
	defer end.Stop()
	_, err = res.Body.Read(make([]byte, 1))
	switch {
	case over.Load():
		return fine("a quiet WebSocket stays open for %s", hold)
	case err == nil:
		return unknown("%s sends something in a quiet WebSocket, as a server does that stops: try again", base)
	}
	return idleResult(base, time.Since(began))
}

// idleResult returns the finding about a proxy that closes a WebSocket in which nothing was sent for a time.
func idleResult(base string, after time.Duration) Result {
	level, interrupted := Warning, "the pages of the console are interrupted"
	if after < quietMeeting {
		level, interrupted = Error, "meetings are interrupted"
	}
	return found("proxy_idle", level, "In nginx: proxy_read_timeout 1h; proxy_send_timeout 1h;",
		"The proxy at %s closes a WebSocket in which nothing is sent for %s, so %s.", base,
		after.Round(100*time.Millisecond), interrupted)
}

// newUpgrade returns a request for a WebSocket.
func newUpgrade(ctx context.Context, url string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
	return r, nil
}
