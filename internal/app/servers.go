package app

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/api/manage"
	"parley/internal/connlimit"
	"parley/internal/instance"
)

// publicServers returns the servers of the public ports, with their listeners.
func (a *App) publicServers() (servers []*http.Server, listeners []net.Listener) {
	serve := func(l net.Listener, h http.Handler) {
		servers, listeners = append(servers, a.publicServer(h)), append(listeners, l)
	}
	pages := a.connections.LimitRequests(a.handler)
	if a.edge == nil {
		serve(a.connections.LimitConnections(a.Listener), pages)
		return servers, listeners
	}
	serve(a.edge.HTTPS(), pages)
	serve(a.edge.HTTP(), a.redirectToHTTPS())
	if a.HTTPListener != nil {
		serve(a.connections.LimitConnections(a.HTTPListener), a.certificate.HTTPHandler(a.redirectToHTTPS()))
	}
	return servers, listeners
}

// listenLocal opens the socket through which commands on this machine ask this server, also while it has no
// certificate. It returns nil if that fails, because the server works without it.
func (a *App) listenLocal() net.Listener {
	if a.isolated {
		return nil
	}
	l, err := instance.ListenLocal(a.cfg.DataDir)
	if err != nil {
		a.log.Warn("open the local socket failed, parley doctor on this machine needs a management token", "error", err)
		return nil
	}
	return l
}

// newLocalHandler returns the handler of the local socket. It logs only the requests that fail.
func (a *App) newLocalHandler(overviews manage.Overviews) http.Handler {
	return httpx.Middleware(manage.NewLocalHandler(overviews), httpx.Options{
		Log:  a.log,
		Fail: manage.WriteInternalError,
		LimitLog: func(_ *http.Request, info *httpx.RequestInfo) (suppressed int, ok bool) {
			return 0, info.Status >= http.StatusInternalServerError
		},
	})
}

// limitConnections sets the connection limits of the configuration.
func (a *App) limitConnections(trusted []netip.Prefix) {
	limit := connlimit.ClampToFileLimit(a.cfg.MaxConnections, a.certificate != nil)
	if limit < a.cfg.MaxConnections {
		a.log.Warn("lowered --max-connections, because the limit of open files (ulimit -n) is too low",
			"max_connections", limit)
	}
	a.connections = connlimit.New(limit, a.cfg.MaxConnectionsPerAddress, trusted, a.refusals)
}

// publicServer is server for a listener with connection limits.
func (a *App) publicServer(h http.Handler) *http.Server {
	s := a.server(h)
	s.ConnState, s.ConnContext = a.connections.ConnState, connlimit.WithConnection
	return s
}

func (a *App) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
}
