package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"parley/internal/api/httpx"
	"parley/internal/api/manage"
	"parley/internal/api/roomapi"
	"parley/internal/api/site"
	"parley/internal/api/v3"
	"parley/internal/api/v4"
	"parley/internal/api/v5"
	"parley/internal/db"
	"parley/internal/doctor"
	"parley/internal/fault"
	"parley/internal/media"
	"parley/internal/operator"
	"parley/internal/refusal"
	"parley/internal/requestlog"
)

const (
	managePrefix = "/api/manage/"
	openIDPrefix = "/console/openid/"
)

// apiVersion is a version of the API, which serves /api/NAME and all paths below it.
type apiVersion struct {
	name    string // in the path and in the metrics
	handler http.Handler
	// internalError responds if the handler panicked before it wrote anything.
	internalError http.HandlerFunc
}

// wireVersions builds the handlers of the API versions, and the checks of their signatures.
// A new version is one line in its table.
func (a *App) wireVersions(limits rateLimits, now func() time.Time) (
	[]apiVersion, map[string]manage.SignatureChecker, error,
) {
	zone, err := a.cfg.Location()
	if err != nil {
		return nil, nil, err
	}
	v5Options := v5.Options{Disabled: !a.cfg.GatewayEnabled, Skew: a.cfg.ClockSkew.Std()}
	if a.callStats.requestLog != nil {
		v5Options.RequestLog = a.callStats.requestLog
	}
	if limits.reads != nil {
		v5Options.Rate, v5Options.Failures = limits.reads, limits.failures
	}
	v5Handler := v5.NewHandler(a.keys, a.usage, a.callStats.counter, now, v5Options)
	options := roomapi.Options{
		Zone:           zone,
		Limits:         limits.roomAPILimits(),
		CallCounter:    a.callStats.counter,
		Skew:           a.cfg.ClockSkew.Std(),
		BodySignatures: a.cfg.LegacyCompanionBodySignatures || a.cfg.LegacyClients,
		LegacyClients:  a.cfg.LegacyClients,
	}
	v3Options := v3.Options{Options: options,
		Deprecation: v3.Deprecation{Deprecated: a.cfg.V3DeprecationDate.Std(), Sunset: a.cfg.V3SunsetDate.Std()}}
	v3Options.KeyHeaderOnly = a.cfg.LegacyV3KeyHeader || a.cfg.LegacyClients
	v3Handler := v3.NewHandler(a.rooms, a.keys, now, v3Options)
	v4Handler := v4.NewHandler(a.rooms, a.projects, a.keys, a.webhooks, now, options)
	signatures := map[string]manage.SignatureChecker{"v3": v3Handler.CheckSignature, "v4": v4Handler.CheckSignature,
		"v5": v5Handler.CheckSignature, "companion": v4Handler.CheckCompanionSignature}
	return []apiVersion{
		{"v3", v3Handler, internalError},
		{"v4", v4Handler, internalError},
		{"v5", v5Handler, v5.WriteInternalError},
	}, signatures, nil
}

// routeHandlers are the handlers that routes dispatches to.
type routeHandlers struct {
	versions                                                             []apiVersion
	join, manage, openID, signaling, docs, console, landing, embed, page http.Handler
	calendar                                                             http.Handler // of rooms
}

// version returns the version of the API that a path belongs to; nil if none.
func (h routeHandlers) version(path string) *apiVersion {
	rest, ok := strings.CutPrefix(path, "/api/")
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(rest, "/")
	for i := range h.versions {
		if h.versions[i].name == name {
			return &h.versions[i]
		}
	}
	return nil
}

// routes returns a handler that dispatches by path. It does not use
// http.ServeMux, because that redirects paths that are not clean and so breaks
// signatures.
func (a *App) routes(handlers routeHandlers, trusted []netip.Prefix) http.Handler {
	metrics, health := httpx.ReadOnly(a.requireToken(a.metricsHandler())), httpx.ReadOnly(http.HandlerFunc(a.health))
	live, quiet := httpx.ReadOnly(a.respondLive(trusted)), httpx.ReadOnly(a.newQuiet())
	signalingPaths := media.SignalingPaths()
	choose := func(path string) (part string, handler http.Handler) {
		if v := handlers.version(path); v != nil {
			return v.name, v.handler
		}
		switch {
		case strings.HasPrefix(path, "/api/join/"):
			return "join", handlers.join
		case strings.HasPrefix(path, managePrefix):
			return manage.APIName, handlers.manage
		case strings.HasPrefix(path, openIDPrefix):
			return "console", handlers.openID
		case strings.HasPrefix(path, "/api/"):
			return "other", http.HandlerFunc(noSuchAPI)
		case isMisspelledAPI(path):
			return "other", http.HandlerFunc(misspelledAPI)
		case slices.Contains(signalingPaths, path):
			return "media", handlers.signaling
		case path == "/healthz":
			return "probe", health
		case path == "/livez" || path == doctor.LivePath:
			return "probe", live
		case path == doctor.QuietPath:
			return "media", quiet
		case path == "/metrics":
			return "other", metrics
		case site.IsDocs(path):
			return "docs", handlers.docs
		case site.IsConsole(path):
			return "console", handlers.console
		case site.IsCalendar(path):
			return "page", handlers.calendar
		case path == "/":
			return "page", handlers.landing
		case path == site.EmbedPath:
			return "page", handlers.embed
		}
		return "page", handlers.page
	}
	var all http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part, handler := choose(r.URL.Path)
		a.metrics.Requests.Begin(part)
		handler.ServeHTTP(w, r)
	})
	if strings.HasPrefix(a.baseURL, "https://") {
		all = httpx.WithHSTS(all)
	}
	return httpx.Middleware(all, httpx.Options{
		Trusted:  trusted,
		Log:      a.log,
		LogPath:  requestlog.Sanitize,
		LimitLog: newLogLimit(time.Now),
		Fail: func(w http.ResponseWriter, r *http.Request) {
			if v := handlers.version(r.URL.Path); v != nil {
				v.internalError(w, r)
				return
			}
			if strings.HasPrefix(r.URL.Path, managePrefix) {
				manage.WriteInternalError(w, r)
				return
			}
			internalError(w, r)
		},
		LongPath: func(r *http.Request) *http.Request {
			if v := handlers.version(r.URL.Path); v != nil {
				return withoutRoute(r, v.name)
			}
			return nil
		},
		Done: func(r *http.Request, info *httpx.RequestInfo) {
			route := info.Route
			if route == "" {
				route, _ = choose(r.URL.Path)
			}
			a.measure(r, info, route)
			if v := handlers.version(r.URL.Path); v != nil {
				a.callStats.record(v.name, r, info)
			} else if strings.HasPrefix(r.URL.Path, managePrefix) {
				a.callStats.record(manage.APIName, r, info)
			}
		},
	})
}

// withoutRoute returns a request like r with a path of a version that no route has, so that the
// version responds with its own 404.
func withoutRoute(r *http.Request, version string) *http.Request {
	target, request := *r.URL, *r
	target.Path, target.RawPath = "/api/"+version+"/", ""
	request.URL = &target
	return &request
}

// maxStrangerLines is how many lines the access log has in ten seconds for requests of which
// strangers can send any number: for /healthz and /livez, for quiet WebSockets, and for what does not exist.
const maxStrangerLines = 50

// isProbe reports whether a path is asked again and again by what watches the server.
func isProbe(path string) bool {
	return path == "/healthz" || path == "/livez" || path == doctor.LivePath
}

// newLogLimit returns the limit of the access log.
func newLogLimit(now func() time.Time) func(r *http.Request, info *httpx.RequestInfo) (suppressed int, ok bool) {
	lines := refusal.NewLogLimiter[string](maxStrangerLines, 3)
	return func(r *http.Request, info *httpx.RequestInfo) (suppressed int, ok bool) {
		switch {
		case isProbe(r.URL.Path) && (info.Status < http.StatusInternalServerError || info.Intended):
			return lines.Allow("health", now())
		case r.URL.Path == doctor.QuietPath && info.Status < http.StatusInternalServerError:
			return lines.Allow("quiet", now())
		case info.Caller.ProjectID == "" && (info.Status == http.StatusNotFound || info.Cause == "path_too_long"):
			return lines.Allow("not found", now())
		}
		return 0, true
	}
}

type plainError struct {
	Error string `json:"error"`
}

func internalError(w http.ResponseWriter, _ *http.Request) {
	httpx.WriteJSON(w, http.StatusInternalServerError, plainError{Error: "internal error"})
}

func noSuchAPI(w http.ResponseWriter, _ *http.Request) {
	httpx.WriteJSON(w, http.StatusNotFound, plainError{Error: "there is no such version of the API"})
}

// isMisspelledAPI reports whether a path names the API and does not begin with /api/. The usual cause is a base URL
// with a slash at its end, to which a client appends /api/….
func isMisspelledAPI(path string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
	return strings.EqualFold(first, "api")
}

func misspelledAPI(w http.ResponseWriter, _ *http.Request) {
	httpx.WriteJSON(w, http.StatusNotFound, plainError{Error: "the paths of the API begin with /api/v3/, /api/v4/ or " +
		"/api/v5/, in small letters and with one slash at the start"})
}

// respondLive responds with 200 whatever state the service is in, because a restart of the process does
// not repair what it depends on. Its supervisor restarts the process when it crashes. The
// response says how the request arrived and where, so that a check through a name and a proxy sees where they lead.
func (a *App) respondLive(trusted []netip.Prefix) http.Handler {
	node := doctor.HashID(a.rooms.NodeID())
	hasProxy := doctor.HasProxy(a.cfg)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		httpx.WriteJSON(w, http.StatusOK, doctor.Live{
			Status:          "ok",
			Upgrade:         websocket.IsWebSocketUpgrade(r),
			UntrustedProxy:  httpx.HasUntrustedProxy(r, trusted),
			LacksClientAddr: hasProxy && httpx.LacksClientAddr(r, trusted),
			Installation:    *a.installation.Load(),
			Node:            node,
		})
	})
}

// maxQuiet is how many quiet WebSockets there can be at once, because anybody can open one.
const maxQuiet = 8

// closeFrameTimeout bounds the sending of the last frame of a quiet WebSocket.
const closeFrameTimeout = time.Second

// newQuiet returns the handler of WebSockets in which the server sends nothing, until the client closes one or has had
// it for longer than a check needs. A server that stops says so, because the check would blame a proxy.
func (a *App) newQuiet() http.Handler {
	open := make(chan struct{}, maxQuiet)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case open <- struct{}{}:
			defer func() { <-open }()
		default:
			httpx.SetRetryAfter(w.Header(), doctor.QuietTime)
			httpx.WriteJSON(w, http.StatusTooManyRequests, plainError{Error: "too many checks at once, try again"})
			return
		}
		conn, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return // Upgrade has responded
		}
		defer func() { _ = conn.Close() }()
		if err := conn.SetReadDeadline(time.Now().Add(2 * doctor.QuietTime)); err != nil {
			return
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _, _ = conn.NextReader() // the client sends nothing before it closes the connection
		}()
		select {
		case <-ended:
		case <-a.stopping:
			goingAway := websocket.FormatCloseMessage(websocket.CloseGoingAway, "")
			_ = conn.WriteControl(websocket.CloseMessage, goingAway, time.Now().Add(closeFrameTimeout))
		}
	})
}

// withLive serves /livez beside another handler, so that a probe needs none of the connections for
// browsers and no certificate.
func (a *App) withLive(next http.Handler) http.Handler {
	live := a.respondLive(nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/livez" {
			live.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// health responds with a report of the service's parts. The status is 200 if this
// node can serve, and 503 otherwise, so that a load balancer uses other nodes:
//
//   - 503 if the database does not respond, or if a write has failed in the last 15
//     seconds, for example because the disk is full.
//   - 503 if the media engine does not run.
//   - 503 while the service starts, stops or is draining.
//   - An unavailable Redis leaves it at 200, and so does the media engine while Redis
//     is unavailable. That affects every node, so no other node would serve better.
//   - A port for media that cannot be opened leaves it at 200, because the rest works,
//     and usually media over another port.
func (a *App) health(w http.ResponseWriter, r *http.Request) {
	report, err := a.checkHealth(r.Context())
	httpx.LogError(r, err)
	if httpx.BearerToken(r) != "" && a.authenticateOperator(r) == nil {
		a.reportRestarts(report)
	}
	status := http.StatusOK
	if report["status"] != "ok" {
		status = http.StatusServiceUnavailable
		httpx.FromContext(r.Context()).Intended = report["status"] == "draining" || report["status"] == "stopping"
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(report)
}

// checkHealth returns the report of health, and why parts do not work.
func (a *App) checkHealth(ctx context.Context) (map[string]string, error) {
	report := map[string]string{"status": "ok", "database": "ok", "media": "ok"}
	var causes []error
	check := func(part string, err error) {
		if err != nil {
			causes = append(causes, err)
			report["status"], report[part] = "unavailable", "unavailable"
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	check("database", a.db.Ping(ctx))
	if err := a.db.RecentWriteError(); err != nil && report["database"] == "ok" {
		check("database", err)
		report["database"] = "read_only"
		if db.IsDiskFull(err) || db.IsServerDiskFull(err) {
			report["database_disk"] = "full"
		}
	}
	if a.redis == nil || a.redis.Available() {
		check("media", a.engine.Healthy())
	} else if a.engine.Healthy() != nil {
		report["media"] = "unavailable"
	}
	if a.redis != nil {
		report["redis"] = "ok"
		if !a.redis.Available() {
			report["redis"] = "unavailable"
		}
	}
	for _, failure := range a.engine.UnopenedPorts() {
		report["media_"+strings.ToLower(failure.Protocol)] = "unavailable"
	}
	a.reportSupervisor(report)
	if a.rooms.Draining() && report["status"] == "ok" {
		report["status"] = "draining"
	}
	if !a.ready.Load() {
		report["status"] = "stopping"
	}
	return report, errors.Join(causes...)
}

// authenticateOperator returns an error unless a request has a token that may read the metrics.
func (a *App) authenticateOperator(r *http.Request) error {
	caller, err := a.tokens.Authenticate(r.Context(), httpx.BearerToken(r))
	if err == nil && caller.Role == operator.Integrator {
		err = fault.New(fault.Forbidden, "role_not_allowed", "a token with the role integrator cannot read the metrics: "+
			"use one with the role auditor, which an owner creates with parley token create --role auditor")
	}
	return manage.LimitFailures(r, a.failures, err)
}

// requireToken refuses requests without a live management token.
func (a *App) requireToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.authenticateOperator(r); err != nil {
			f := fault.From(err)
			httpx.LogError(r, f.Err)
			switch f.Kind {
			case fault.Unauthorized:
				w.Header().Set("WWW-Authenticate", `Bearer realm="management"`)
			case fault.Exhausted:
				httpx.SetRetryAfter(w.Header(), f.RetryAfter)
			}
			status := httpx.Status(f, map[fault.Kind]int{fault.Internal: http.StatusServiceUnavailable})
			httpx.WriteJSON(w, status, plainError{Error: f.Message})
			return
		}
		next.ServeHTTP(w, r)
	})
}
