package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"parley/internal/api/httpx"
	"parley/internal/api/manage"
	"parley/internal/api/rooms"
	"parley/internal/api/site"
	"parley/internal/api/v3"
	"parley/internal/api/v4"
	"parley/internal/api/v5"
	"parley/internal/fault"
	"parley/internal/media"
	"parley/internal/usage"
)

// apiVersion is a version of the API, which serves /api/NAME and all paths below it.
type apiVersion struct {
	name    string // in the path and in the metrics
	handler http.Handler
	// internalError responds if the handler panicked before it wrote anything.
	internalError http.HandlerFunc
}

// versions builds the handlers of the API versions, and first the call counter that
// all of them use. A new version is one line in this table.
func (a *App) versions(provider usage.Provider, limits rateLimits, now func() time.Time) ([]apiVersion, error) {
	zone, err := a.cfg.Location()
	if err != nil {
		return nil, err
	}
	gateway, err := a.wireGateway(provider, limits, now)
	if err != nil {
		return nil, err
	}
	options := rooms.Options{Zone: zone, Limits: limits.roomAPILimits(), CallCounter: a.gateway.counter,
		Skew: a.cfg.ClockSkew.Std(), BodySignatures: a.cfg.LegacyCompanionBodySignatures}
	v3Options := v3.Options{Options: options, KeyHeaderOnly: a.cfg.LegacyV3KeyHeader,
		Deprecation: v3.Deprecation{Deprecated: a.cfg.V3DeprecationDate.Std(), Sunset: a.cfg.V3SunsetDate.Std()}}
	return []apiVersion{
		{"v3", v3.NewHandler(a.rooms, a.keys, now, v3Options), internalError},
		{"v4", v4.NewHandler(a.rooms, a.projects, a.keys, a.webhooks, now, options), internalError},
		{"v5", gateway, v5.WriteInternalError},
	}, nil
}

// routeHandlers are the handlers that routes dispatches to.
type routeHandlers struct {
	versions                      []apiVersion
	join, manage, rtc, docs, page http.Handler
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
func (a *App) routes(parts routeHandlers, trusted []netip.Prefix) http.Handler {
	metrics, health := httpx.ReadOnly(a.requireToken(a.metricsHandler())), httpx.ReadOnly(http.HandlerFunc(a.health))
	signaling := media.SignalingPaths()
	choose := func(path string) (string, http.Handler) {
		if v := parts.version(path); v != nil {
			return v.name, v.handler
		}
		switch {
		case strings.HasPrefix(path, "/api/join/"):
			return "join", parts.join
		case strings.HasPrefix(path, "/api/manage/"):
			return "manage", parts.manage
		case strings.HasPrefix(path, "/api/"):
			return "other", http.HandlerFunc(noSuchAPI)
		case slices.Contains(signaling, path):
			return "media", parts.rtc
		case path == "/healthz":
			return "other", health
		case path == "/metrics":
			return "other", metrics
		case site.IsDocs(path):
			return "docs", parts.docs
		}
		return "page", parts.page
	}
	var all http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, part := choose(r.URL.Path)
		a.requests.WithLabelValues(name).Inc()
		part.ServeHTTP(w, r)
	})
	if strings.HasPrefix(a.baseURL, "https://") {
		all = httpx.WithHSTS(all)
	}
	return httpx.Middleware(all, trusted, a.log, func(w http.ResponseWriter, r *http.Request) {
		if v := parts.version(r.URL.Path); v != nil {
			v.internalError(w, r)
			return
		}
		internalError(w, r)
	})
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

// health answers 200 if the database answers, no write has recently failed for
// lack of disk space, and the media engine runs. An unavailable Redis does not
// make it fail, and neither does the media engine while Redis is unavailable,
// because all nodes are affected alike and still answer what they can.
func (a *App) health(w http.ResponseWriter, r *http.Request) {
	report := map[string]string{"status": "ok", "database": "ok", "media": "ok"}
	status := http.StatusOK
	check := func(part string, err error) {
		if err != nil {
			httpx.LogError(r, err)
			report["status"], report[part] = "unavailable", "unavailable"
			status = http.StatusServiceUnavailable
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	check("database", a.db.Ping(ctx))
	if err := a.db.RecentWriteError(); err != nil && report["database"] == "ok" {
		check("database", err)
		report["database"] = "read_only"
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
	a.reportRestarts(report)
	if !a.ready.Load() {
		report["status"], status = "stopping", http.StatusServiceUnavailable
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(report)
}

// requireToken refuses requests without a live management token.
func (a *App) requireToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			token = ""
		}
		if _, err := a.tokens.Authenticate(r.Context(), token); err != nil {
			f := fault.From(manage.LimitFailures(r, a.failures, err))
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

func newRequestCounter(registry prometheus.Registerer) *prometheus.CounterVec {
	return promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "parley_http_requests_total", Help: "HTTP requests by the part of the service that answered them.",
	}, []string{"part"})
}

// metricsHandler serves our metrics and those of the media engine, which are in
// Prometheus's default registry.
func (a *App) metricsHandler() http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers{a.registry, prometheus.DefaultGatherer}, promhttp.HandlerOpts{})
}
