package app

import (
	"context"
	"net/http"
	"sync"
	"time"

	"parley/internal/db"
)

// The times of the parts of a stop, which are together within the ten seconds of Run.
const (
	// requestShutdownTimeout is the time for requests in flight when the service
	// stops.
	requestShutdownTimeout = 4 * time.Second
	// handOverTimeout is the time for other nodes to take the meetings of this node.
	handOverTimeout = 2 * time.Second
	// mediaShutdownTimeout is the time for the media engine to notify participants.
	mediaShutdownTimeout = 3 * time.Second
	// deregisterTimeout is the time for the last reports and for the record that this node has stopped.
	deregisterTimeout = 3 * time.Second
)

// shutdown stops the HTTP servers and the media engine. Other nodes take the meetings when this one accepts no
// connections any more.
func (a *App) shutdown(servers []*http.Server) {
	if a.edge != nil {
		_ = a.edge.Close()
	}
	var work sync.WaitGroup
	for _, s := range servers {
		work.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), requestShutdownTimeout)
			defer cancel()
			if err := s.Shutdown(ctx); err != nil {
				_ = s.Close()
			}
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), handOverTimeout+mediaShutdownTimeout)
	defer cancel()
	handingOver, cancel := context.WithTimeout(ctx, handOverTimeout)
	defer cancel()
	a.rooms.BeginStop()
	a.rooms.HandOverAll(handingOver)
	a.engine.Stop(ctx)
	work.Wait()
}

// deregisterNode records that this node has stopped, so that other nodes do not
// treat it as failed.
func (a *App) deregisterNode() {
	ctx, cancel := context.WithTimeout(context.Background(), deregisterTimeout)
	defer cancel()
	ctx = db.WithWriteTimeout(ctx, deregisterTimeout)
	if err := a.rooms.Deregister(ctx); err != nil {
		a.log.Warn("deregister node failed", "error", err)
	}
}
