package media

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/livekit/livekit-server/pkg/config"
	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/livekit-server/pkg/telemetry"
	"github.com/livekit/livekit-server/pkg/telemetry/prometheus"
	"github.com/livekit/protocol/auth"
	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/logger"
	"github.com/livekit/protocol/rpc"
	"github.com/livekit/protocol/utils"
	"github.com/livekit/psrpc"
	"github.com/redis/go-redis/v9"

	"parley/internal/refusal"
)

// idleTimeoutSeconds is when LiveKit may close a session by itself, in seconds. It is
// far out: the domain decides when a session is over. It is not "never", so
// that a session everybody forgot does not stay for ever.
const idleTimeoutSeconds = 48 * 60 * 60

// maxBufferedBytes bounds, in bytes, the messages that wait for one receiver. What is
// beyond it is dropped for that receiver.
const maxBufferedBytes = 1 << 20

// node is LiveKit taken apart: what its own wire_gen.go builds, without the
// parts nobody here can reach (the twirp API, egress, ingress, SIP, agents,
// WHIP's HTTP side, TURN, its Prometheus and debug servers).
//
// Constructor signatures change between LiveKit's releases. They are all
// called in this file, and the tests of this package join for real.
type node struct {
	conf    *config.Config
	self    *routing.LocalNodeImpl
	router  routing.Router
	store   service.ObjectStore
	rooms   *service.RoomManager // sessions hosted by this process
	api     *service.RoomService // sessions anywhere in the cluster
	rtc     *service.RTCService  // the signalling of browsers
	signal  *service.SignalServer
	redis   redis.UniversalClient // nil on one machine
	closers []func()

	allocator *allocator
}

// livekitConfig is LiveKit's own defaults with everything set that decides
// about sockets, the lifetime of sessions, or who may do what.
func livekitConfig(cfg Config, where addresses) (*config.Config, error) {
	told := make([]string, len(where.node))
	for i, ip := range where.node {
		told[i] = ip.String()
	}
	// These two have to be there before the defaults are completed: without
	// them LiveKit looks for an address, and opens ten thousand ports.
	conf, err := config.NewConfig(fmt.Sprintf("rtc: {udp_port: %d, node_ip: %q}",
		cfg.UDPPort, strings.Join(told, ",")), true, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("media: configure LiveKit: %w", err)
	}
	conf.Keys = map[string]string{cfg.SigningKey: cfg.SigningSecret}
	conf.RTC.TCPPort = uint32(cfg.TCPPort)
	if where.loopbackOnly() {
		conf.RTC.TCPPort = 0
	}
	for _, ip := range where.bind {
		conf.RTC.IPs.Includes = append(conf.RTC.IPs.Includes, fmt.Sprintf("%s/%d", ip, ip.BitLen()))
		if ip.IsLoopback() {
			conf.RTC.EnableLoopbackCandidate = true
		}
	}

	conf.Room.AutoCreate = false
	conf.Room.EmptyTimeout = idleTimeoutSeconds
	conf.Room.DepartureTimeout = idleTimeoutSeconds
	// Nothing of ours publishes data tracks, and in a session for sound only
	// they would be a way around.
	conf.EnableDataTracks = false
	// What a receiver does not read is kept for it; LiveKit's own default is
	// without a bound.
	conf.RTC.DataChannelMaxBufferedAmount = maxBufferedBytes
	// The store lags behind what the hosting process knows.
	conf.API.EnablePsrpcForGetListParticpants = true

	if cfg.RedisURL != "" {
		conf.NodeStats.StatsUpdateInterval = nodeStatsInterval
	} else {
		// A refused participant is refused at once, not three times.
		conf.SignalRelay.ConnectAttempts = 1
	}
	return conf, nil
}

// connect returns a client of the Redis that holds the cluster together.
func connect(url string) (redis.UniversalClient, error) {
	opts, err := redis.ParseURL(url)
	if err != nil {
		// The parser's own message repeats the URL, password and all.
		return nil, errors.New("the Redis URL is not of the form redis://user:password@host:port/database")
	}
	client := redis.NewClient(opts)
	if err := client.Ping(context.Background()).Err(); err != nil {
		_ = client.Close()
		return nil, fmt.Errorf("no answer from Redis at %s: %w", opts.Addr, err)
	}
	return client, nil
}

// redisUptime is how long Redis has run, in seconds; long, if it does not say.
func redisUptime(ctx context.Context, client redis.UniversalClient) int {
	info, _ := client.Info(ctx, "server").Result()
	_, after, _ := strings.Cut(info, "uptime_in_seconds:")
	text, _, _ := strings.Cut(after, "\r\n")
	seconds, err := strconv.Atoi(text)
	if err != nil {
		return math.MaxInt
	}
	return seconds
}

// buildNode builds the node. It binds the media ports as its last step but one,
// and leaves none bound when it fails.
func buildNode(conf *config.Config, redisURL string, admissions *admissions, refusals *refusal.Recorder,
	wrap func(telemetry.TelemetryService) telemetry.TelemetryService) (_ *node, err error) {
	n := &node{conf: conf}
	defer func() {
		if err == nil {
			return
		}
		if n.rooms != nil {
			n.rooms.Stop()
		}
		n.closeExceptRooms()
	}()

	if n.self, err = routing.NewLocalNode(conf); err != nil {
		return nil, err
	}
	// Before anything else: the first room panics without it. The second call
	// in a process changes nothing.
	if err = prometheus.Init(string(n.self.NodeID()), livekit.NodeType_SERVER); err != nil {
		return nil, err
	}

	var bus psrpc.MessageBus
	if redisURL != "" {
		if n.redis, err = connect(redisURL); err != nil {
			return nil, err
		}
		n.closers = append(n.closers, func() { _ = n.redis.Close() })
		bus = psrpc.NewRedisMessageBus(n.redis)
		n.store = service.NewRedisStore(n.redis)
	} else {
		bus = psrpc.NewLocalMessageBus()
		n.store = service.NewLocalStore()
	}

	client := rpc.NewClientParams(conf.PSRPC, bus, logger.GetLogger(), rpc.PSRPCMetricsObserver{})
	signalClient, err := routing.NewSignalClient(n.self.NodeID(), bus, conf.SignalRelay)
	if err != nil {
		return nil, err
	}
	managerClient, err := routing.NewRoomManagerClient(client, conf.Room)
	if err != nil {
		return nil, err
	}
	n.closers = append(n.closers, managerClient.Close)
	keepalive, err := rpc.NewKeepalivePubSub(client)
	if err != nil {
		return nil, err
	}
	n.router = routing.CreateRouter(n.redis, n.self, signalClient, managerClient, keepalive, conf.NodeStats)

	standard, err := service.NewRoomAllocator(conf, n.router, n.store)
	if err != nil {
		return nil, err
	}
	n.allocator = &allocator{RoomAllocator: standard, router: n.router, self: n.self.NodeID(), store: n.store, codecs: codecsFor}

	if n.redis != nil {
		n.allocator.redisJustStarted = func(ctx context.Context) bool { return redisUptime(ctx, n.redis) < redisStartupSeconds }
	}

	roomClient, err := rpc.NewTypedRoomClient(client)
	if err != nil {
		return nil, err
	}
	n.closers = append(n.closers, roomClient.Close)
	participantClient, err := rpc.NewTypedParticipantClient(client)
	if err != nil {
		return nil, err
	}
	n.closers = append(n.closers, participantClient.Close)
	n.api, err = service.NewRoomService(conf.Limit, conf.API, n.router, n.allocator, n.store, nil,
		rpc.NewTopicFormatter(), roomClient, participantClient)
	if err != nil {
		return nil, err
	}

	reports := wrap(telemetry.NewTelemetryService(nil, telemetry.NewAnalyticsService(conf, n.self)))
	n.rtc = service.NewRTCService(conf, n.allocator, n.router, reports)
	n.rooms, err = service.NewLocalRoomManager(conf, n.store, n.self, n.router, n.allocator, reports, nil, nil, nil,
		utils.NewDefaultTimedVersionGenerator(),
		service.NewTURNAuthHandler(auth.NewFileBasedKeyProviderFromMap(conf.Keys)), bus, nil)
	if err != nil {
		return nil, err
	}
	n.signal, err = service.NewSignalServer(n.self.NodeID(), n.self.Region(), bus, conf.SignalRelay,
		&sessionHandler{self: n.self, router: n.router, rooms: n.rooms, admissions: admissions, refusals: refusals})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// start makes the node reachable for participants and for other nodes.
func (n *node) start() error {
	if err := n.router.RegisterNode(); err != nil {
		return err
	}
	if err := n.router.RemoveDeadNodes(); err != nil {
		return err
	}
	if err := n.router.Start(); err != nil {
		return err
	}
	return n.signal.Start()
}

// closeExceptRooms frees everything beside the rooms, however far wire came. LiveKit
// offers no way to end a handful of its goroutines; they hold no socket.
func (n *node) closeExceptRooms() {
	if n.signal != nil {
		n.signal.Stop()
	}
	if n.router != nil {
		n.router.Stop()
	}
	for _, f := range n.closers {
		f()
	}
}

// withRoomAdmin returns a context in which LiveKit's API allows to manage one session.
func (n *node) withRoomAdmin(ctx context.Context, session string) context.Context {
	return n.withGrant(ctx, &auth.VideoGrant{RoomAdmin: true, Room: session})
}

// withGrant returns a context in which LiveKit's API allows what grant says.
func (n *node) withGrant(ctx context.Context, grant *auth.VideoGrant) context.Context {
	return service.WithGrants(ctx, &auth.ClaimGrants{Video: grant}, "")
}
