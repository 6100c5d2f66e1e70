package app

import (
	"context"
	"net/http"
	"sync"
	"time"

	"parley/internal/config"
	"parley/internal/db"
)

// The times of the parts of a stop. Those after the drain are together within the ten seconds of Run.
const (
	// beginDrainTimeout is the time to read from the database whether there are other nodes, and to tell them.
	beginDrainTimeout = 4 * time.Second
	// drainPollInterval is the time between two looks at the sessions that are left.
	drainPollInterval = 50 * time.Millisecond
	// returnTimeout is the time after the last session was handed over in which its people still reach this node,
	// because a load balancer may send them here once more.
	returnTimeout = 2 * time.Second
	// requestShutdownTimeout is the time for requests in flight when the service
	// stops.
	requestShutdownTimeout = 4 * time.Second
	// handOverTimeout is the time for other nodes to take the meetings that are left after the drain.
	handOverTimeout = 2 * time.Second
	// mediaShutdownTimeout is the time for the media engine to notify participants.
	mediaShutdownTimeout = 3 * time.Second
	// deregisterTimeout is the time for the last reports and for the record that this node has stopped.
	deregisterTimeout = 3 * time.Second
	// stopTimeout is the time after the drain in which the process must have ended.
	stopTimeout = 12 * time.Second
)

// StopTimeout returns how long a service may take to stop before the supervisor kills it, or systemd soon
// after.
func StopTimeout(cfg config.Config) time.Duration { return cfg.DrainTime() + stopTimeout }

// drain hands over the meetings to other nodes, one after another, while this node continues to serve. Also without
// meetings, it serves until a load balancer has noticed that it stops. It does nothing if there is no other node.
func (a *App) drain() {
	within := a.cfg.DrainTime()
	if within == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	beginning, cancel := context.WithTimeout(ctx, beginDrainTimeout)
	defer cancel()
	begun, err := a.rooms.DrainToStop(beginning, within)
	if err != nil {
		a.log.Warn("drain before the stop failed", "error", err)
	}
	if !begun {
		return
	}
	tick := time.NewTicker(drainPollInterval)
	defer tick.Stop()
	for a.rooms.HandingOver() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			a.log.Warn("meetings are left after the time of --stop-within", "within", within.String())
			return
		}
	}
	if !a.rooms.Draining() {
		return // no other node is left
	}
	select {
	case <-time.After(returnTimeout):
	case <-ctx.Done():
	}
}

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
