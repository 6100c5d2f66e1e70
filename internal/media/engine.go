// Package media runs LiveKit, which carries audio and video, inside this process, and is
// the only package that imports it. It opens and closes sessions, lists their
// participants, issues the access tokens with which pages connect, and notifies an
// observer when participants join and leave. It does not know rooms, seats or projects,
// and must not import the API, the store or the app.
package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/livekit/livekit-server/pkg/telemetry"

	"parley/internal/late"
	"parley/internal/media/relay"
	"parley/internal/refusal"
	"parley/internal/room"
)

const (
	stopTimeout       = 3 * time.Second        // of Stop
	announceTimeout   = 250 * time.Millisecond // of that, to tell the other nodes
	drainTimeout      = 2 * time.Second        // of that, to notify the participants
	idleCheckInterval = time.Minute            // between two searches for idle sessions
	statsStaleAfter   = 15 * time.Second       // the age of node statistics that counts as unhealthy
)

// engineExists is set while an Engine exists. A process has only one at a time, because
// LiveKit's metrics and its logger are global.
var engineExists atomic.Bool

// Engine is the media engine. Call New, Start and Stop once each, in this order. A
// second Engine can be created in the same process after the first has stopped; then
// LiveKit leaves a few idle goroutines behind, and its metrics keep the first node id.
type Engine struct {
	cfg         Config
	addresses   addresses
	unopenedUDP *PortError     // nil if the UDP port of the configuration is open
	freePort    freePort       // of unopenedUDP
	lateTCP     *late.Listener // nil if the TCP port was opened at the start, or there is none
	turnSecret  []byte
	turn        *relay.Server // nil without TURN, and before Start
	log         *slog.Logger
	node        *node
	events      *eventQueue
	authorizer  room.MediaAuthorizer // set by Start
	gate        requestGate
	signalConns signalConns
	localRooms  localRooms
	handedOver  handedOver

	admissions        *admissions
	refusals          *refusal.Recorder
	connectLimiter    connectLimiter
	preflightDuration time.Duration
	preflightClock    func() time.Time
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

// New creates the engine and binds its ports. If a port cannot be opened, the engine works without it; see
// UnopenedPorts. No participant can join before Start. An Engine that was not started has to be stopped too.
func New(cfg Config) (_ *Engine, err error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if !engineExists.CompareAndSwap(false, true) {
		return nil, errors.New("media: an engine is already running in this process")
	}
	defer func() {
		if err != nil {
			engineExists.Store(false)
		}
	}()

	addrs, err := resolveAddresses(cfg)
	if err != nil {
		return nil, err
	}
	port, unopenedUDP, err := udpPort(cfg, addrs, portReleaseTimeout)
	if err != nil {
		return nil, err
	}
	cfg.UDPPort = port
	conf, err := livekitConfig(cfg, addrs)
	if err != nil {
		return nil, err
	}
	tcp, lateTCP := listenTCP(cfg, addrs)
	defer func() {
		if err != nil && tcp != nil {
			_ = tcp.Close()
		}
	}()

	e := &Engine{
		cfg:               cfg,
		addresses:         addrs,
		unopenedUDP:       unopenedUDP,
		lateTCP:           lateTCP,
		log:               cfg.Log,
		refusals:          cfg.Refusals,
		events:            newEventQueue(cfg.Metrics),
		preflightDuration: preflightDuration,
		preflightClock:    time.Now,
		done:              make(chan struct{}),
	}
	types := &trackTypes{log: cfg.Log, refusals: e.refusals}
	e.admissions = &admissions{log: cfg.Log, refusals: e.refusals, connectTimeout: connectTimeout}
	routeLogs(cfg, e.admissions.countChannel)
	listen := func(t telemetry.TelemetryService) telemetry.TelemetryService {
		return &telemetryListener{
			TelemetryService: t,
			events:           e.events,
			localRooms:       &e.localRooms,
			trackTypes:       types,
			admissions:       e.admissions,
		}
	}
	if err := e.wireTURN(); err != nil {
		return nil, err
	}
	e.node, err = buildNode(conf, addrs.node, e.iceServers, tcp, cfg.RedisURL, e.admissions, e.refusals, listen)
	if err != nil {
		return nil, fmt.Errorf("media: set up the engine: %w", err)
	}
	types.rooms, e.admissions.rooms = e.node.rooms, e.node.rooms
	if addrs.missing != nil {
		cfg.Log.Error("an address for media is not used until the next start", "error", addrs.missing)
	}
	if unopenedUDP != nil {
		cfg.Log.Error("the UDP port for media is not used until the next start", "error", unopenedUDP, "udp_port",
			cfg.UDPPort)
	}
	cfg.Log.Debug("media engine created", "node_ip", conf.RTC.NodeIP.ToStringSlice(),
		"bound", conf.RTC.IPs.Includes, "udp_port", cfg.UDPPort, "tcp", tcp != nil && lateTCP == nil)
	return e, nil
}

// AnnouncedIPs returns the addresses that browsers send media to, at most one of each family.
func (e *Engine) AnnouncedIPs() []netip.Addr { return slices.Clone(e.addresses.node) }

// UnopenedPorts returns the ports of the configuration that are not open. In place of that for UDP, the engine uses
// another one until the next start, which firewalls usually block. It opens that for TCP as soon as it can.
func (e *Engine) UnopenedPorts() (unopened []*PortError) {
	if e.unopenedUDP != nil {
		unopened = append(unopened, e.unopenedUDP)
	}
	if e.lateTCP != nil {
		if failure, ok := errors.AsType[*PortError](e.lateTCP.Err()); ok {
			unopened = append(unopened, failure)
		}
	}
	return unopened
}

// TryUnopenedPorts is UnopenedPorts, and also says whether the port for UDP is free now. To see that, it binds and
// releases the port, at most once every freePortInterval.
func (e *Engine) TryUnopenedPorts() []*PortError {
	unopened := e.UnopenedPorts()
	for i, failure := range unopened {
		if failure == e.unopenedUDP {
			udp := *failure
			udp.Free = e.freePort.try(func() bool { return bindUDP(udp.Port, e.addresses.bind) == nil })
			unopened[i] = &udp
		}
	}
	return unopened
}

// Start starts the engine, which is ready when Start returns. After it, open the sessions
// that were live before a restart and only then listen for browsers, because a page
// does not retry when its session does not exist.
//
// The observer is called from one goroutine, in order, until Stop has returned. A slow
// observer delays later events and the admission of new participants; see Admit. The
// authorizer is called for every connection, by many goroutines at once. Both are given
// here and not to New, because they usually call the engine and so are created after it.
func (e *Engine) Start(_ context.Context, observer room.MediaObserver, authorizer room.MediaAuthorizer) error {
	if !e.state.CompareAndSwap(created, started) {
		return errors.New("media: the engine has already been started or stopped")
	}
	if err := e.node.start(); err != nil {
		e.state.Store(created)
		return fmt.Errorf("media: start the engine: %w", err)
	}
	if err := e.startTURN(); err != nil {
		e.state.Store(created)
		return fmt.Errorf("media: start the TURN server: %w", err)
	}
	e.authorizer = authorizer
	go e.events.run(observer)
	go e.closeIdleRooms()
	go e.admissions.checkConnections(e.done)
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

// Healthy returns nil if the engine can serve participants, and otherwise the reason.
func (e *Engine) Healthy() error {
	if e.state.Load() != started {
		return errors.New("media: the engine is not running")
	}
	if age := e.node.self.SecondsSinceNodeStatsUpdate(); age > statsStaleAfter.Seconds() {
		return fmt.Errorf("media: the engine has not updated its statistics for %.0f seconds", age)
	}
	return nil
}

// announceStop tells the other nodes that this one hosts no new sessions. It does not wait longer for Redis than
// announceTimeout.
func (e *Engine) announceStop() {
	announced := make(chan struct{})
	go func() {
		defer close(announced)
		e.node.router.Drain()
	}()
	select {
	case <-announced:
	case <-time.After(announceTimeout):
	}
}

// flushSessions deletes the sessions that ended from Redis, so that the people who connect again do not wait for this
// node. It closes the channel at the end.
func (e *Engine) flushSessions(ctx context.Context) (flushed <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if e.node.hosted == nil {
			return
		}
		if err := e.node.hosted.flush(ctx); err != nil {
			e.log.Warn("delete the ended sessions from Redis failed", "error", err)
		}
	}()
	return done
}

// Stop notifies every participant of the shutdown, waits until the notifications are sent
// and the observer has received all events, and releases the ports. It returns within
// about three seconds even if a part of LiveKit hangs. The notification
// (SERVER_SHUTDOWN with the action RECONNECT) makes livekit-client reconnect by itself.
func (e *Engine) Stop(ctx context.Context) {
	e.stopOnce.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, stopTimeout)
		defer cancel()
		wasStarted := e.state.Swap(stopped) == started
		e.gate.close()
		close(e.done)
		if wasStarted {
			e.announceStop()
		}

		roomsStopped := make(chan struct{})
		go func() {
			defer close(roomsStopped)
			e.node.rooms.Stop()
			drainCtx, cancel := context.WithTimeout(ctx, drainTimeout)
			defer cancel()
			flushed := e.flushSessions(drainCtx)
			e.gate.wait(drainCtx)
			e.node.sessions.sinks.wait(drainCtx)
			e.node.rtc.DrainConnections(time.Millisecond, true)
			if e.turn != nil {
				if people := e.turn.UsersOfOthers(time.Now()); people > 0 {
					e.log.Info("ended relays to other nodes", "people", people)
				}
				_ = e.turn.Close()
			}
			<-flushed
			e.node.closeExceptRooms()
		}()
		select {
		case <-roomsStopped:
		case <-ctx.Done():
			e.log.Warn("media engine did not stop in time", "timeout", stopTimeout.String())
		}
		if wasStarted {
			e.events.stop(ctx)
		}
		engineExists.Store(false)
	})
}
