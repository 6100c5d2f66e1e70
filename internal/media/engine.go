// Package media carries sound and pictures: it runs LiveKit inside this
// process and is the one package that imports it. It opens and closes
// sessions, says who is in them, makes the passes with which pages connect,
// and tells an observer who comes and goes. It knows of no room, seat or
// project; it must not import the API, the store or the app.
package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/livekit/livekit-server/pkg/telemetry"

	"parley/internal/refusal"
	"parley/internal/room"
)

const (
	stopTimeout       = 3 * time.Second // what Stop may take
	drainTimeout      = time.Second     // of that, for participants to hear of it
	idleCheckInterval = time.Minute     // sessions nobody closed are looked for
	statsStaleAfter   = 15 * time.Second
)

// engineExists is held by the one Engine of the process: LiveKit's metrics and its
// logger are global.
var engineExists atomic.Bool

// Engine is the media engine. New, Start, Stop: each once, in this order. A
// second Engine can be made in the same process after the first has stopped;
// LiveKit leaves a few idle goroutines behind then, and its metrics keep the
// first one's node id.
type Engine struct {
	cfg         Config
	log         *slog.Logger
	node        *node
	events      *eventQueue
	authorizer  room.MediaAuthorizer
	gate        requestGate
	signalConns signalConns
	localRooms  localRooms

	admissions        *admissions
	refusals          *refusal.Recorder
	connectLimiter    connectLimiter
	preflightDuration time.Duration
	preflights        preflights

	state    atomic.Int32
	done     chan struct{}
	stopOnce sync.Once
}

// The states of an Engine.
const (
	created int32 = iota
	started
	stopped
)

var _ room.Media = (*Engine)(nil)

// New puts the engine together and binds its ports, but lets nobody in yet.
// Observer hears of participants from one goroutine, in order, until Stop has
// returned; a slow observer delays later events, and participants who have
// just connected: see Admit. The authorizer is asked about everybody who
// connects, by many goroutines at once. An Engine that is not started has to be
// stopped too.
func New(cfg Config, observer room.MediaObserver, authorizer room.MediaAuthorizer) (_ *Engine, err error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if !engineExists.CompareAndSwap(false, true) {
		return nil, errors.New("media: an engine is already running in this process")
	}
	defer func() {
		if err != nil {
			engineExists.Store(false)
		}
	}()

	where, err := resolveAddresses(cfg)
	if err != nil {
		return nil, err
	}
	conf, err := livekitConfig(cfg, where)
	if err != nil {
		return nil, err
	}
	if err := checkPorts(cfg, where, conf.RTC.TCPPort != 0); err != nil {
		return nil, err
	}
	routeLogs(cfg.Log, cfg.SigningSecret)

	e := &Engine{cfg: cfg, log: cfg.Log, events: newEventQueue(observer), authorizer: authorizer, preflightDuration: preflightDuration, done: make(chan struct{})}
	e.refusals = refusal.NewRecorder(cfg.Log, time.Now)
	kinds := &trackTypes{log: cfg.Log, refusals: e.refusals}
	e.admissions = &admissions{log: cfg.Log, refusals: e.refusals, connectTimeout: connectTimeout}
	e.node, err = buildNode(conf, cfg.RedisURL, e.admissions, e.refusals, func(t telemetry.TelemetryService) telemetry.TelemetryService {
		return &telemetryListener{TelemetryService: t, events: e.events, localRooms: &e.localRooms, trackTypes: kinds, admissions: e.admissions}
	})
	if err != nil {
		e.events.stop(context.Background())
		return nil, fmt.Errorf("media: set up the engine: %w", err)
	}
	kinds.rooms, e.admissions.rooms = e.node.rooms, e.node.rooms
	cfg.Log.Debug("media engine is set up", "node_ip", conf.RTC.NodeIP.ToStringSlice(),
		"bound", conf.RTC.IPs.Includes, "udp_port", cfg.UDPPort, "tcp_port", conf.RTC.TCPPort)
	return e, nil
}

// Start makes the engine ready; it is when Start returns. Open the sessions
// that were live before a restart next, and only then listen for browsers: a
// page that finds its session missing gives up.
func (e *Engine) Start(context.Context) error {
	if !e.state.CompareAndSwap(created, started) {
		return errors.New("media: the engine was started or stopped before")
	}
	if err := e.node.start(); err != nil {
		e.state.Store(created)
		return fmt.Errorf("media: start the engine: %w", err)
	}
	go e.closeIdleRooms()
	if e.node.redis != nil {
		go e.registerLocalRooms()
	}
	e.gate.open()
	return nil
}

func (e *Engine) closeIdleRooms() {
	tick := time.NewTicker(idleCheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			e.node.rooms.CloseIdleRooms()
		case <-e.done:
			return
		}
	}
}

// Healthy returns nil when participants can be served.
func (e *Engine) Healthy() error {
	if e.state.Load() != started {
		return errors.New("media: the engine is not running")
	}
	if silent := e.node.self.SecondsSinceNodeStatsUpdate(); silent > statsStaleAfter.Seconds() {
		return fmt.Errorf("media: the engine has not reported for %.0f seconds", silent)
	}
	return nil
}

// Stop tells every participant that the server goes, waits for what they were
// told to be sent and for the observer to hear of it, and frees the ports. It
// returns within some three seconds, whatever hangs. livekit-client takes the
// goodbye (SERVER_SHUTDOWN, reconnect) as a reason to come back by itself.
func (e *Engine) Stop(ctx context.Context) {
	e.stopOnce.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, stopTimeout)
		defer cancel()
		wasStarted := e.state.Swap(stopped) == started
		e.gate.close()
		close(e.done)
		if wasStarted {
			e.node.router.Drain()
		}

		down := make(chan struct{})
		go func() {
			defer close(down)
			e.node.rooms.Stop()
			told, cancel := context.WithTimeout(ctx, drainTimeout)
			defer cancel()
			e.gate.wait(told)
			e.node.rtc.DrainConnections(time.Millisecond, true)
			e.node.closeExceptRooms()
		}()
		select {
		case <-down:
		case <-ctx.Done():
			e.log.Warn("the media engine did not stop in time")
		}
		e.events.stop(ctx)
		engineExists.Store(false)
	})
}
