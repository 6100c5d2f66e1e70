package media

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

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

// idleTimeoutSeconds is the time after which LiveKit closes an idle session by itself, in
// seconds. It is long, because the domain decides when a session is over. It is not
// infinite, so that an abandoned session does not stay forever.
const idleTimeoutSeconds = 48 * 60 * 60

// maxBufferedBytes is the maximum size of the data messages that are buffered for one
// receiver, in bytes. Further messages to that receiver are dropped.
const maxBufferedBytes = 1 << 20

// redisTimeout limits each of the two attempts of a command of Redis. It is short, because people who connect wait for
// it, and their page tries again by itself.
const redisTimeout = time.Second

// node consists of the parts of LiveKit that its wire_gen.go builds, except those that are
// not used here (the twirp API, egress, ingress, SIP, agents, the HTTP side of WHIP,
// TURN, and the Prometheus and debug servers).
//
// The signatures of LiveKit's constructors change between releases. Therefore all of them
// are called in this file, and the tests of this package join with real participants.
type node struct {
	conf     *config.Config
	self     *routing.LocalNodeImpl
	router   routing.Router
	store    service.ObjectStore
	rooms    *service.RoomManager // the sessions that this process hosts
	api      *service.RoomService // the sessions of the whole cluster
	rtc      *service.RTCService  // the signaling of browsers
	signals  []*service.SignalServer
	sessions *sessionHandler
	redis    redis.UniversalClient // nil on a single machine
	hosted   *hostedStore          // nil on a single machine
	closers  []func()

	packets   *packetLimits
	allocator *allocator
}

// livekitConfig returns LiveKit's defaults with explicit settings of sockets, session
// lifetimes and permissions.
func livekitConfig(cfg Config, addrs addresses) (*config.Config, error) {
	nodeIPs := make([]string, len(addrs.node))
	for i, ip := range addrs.node {
		nodeIPs[i] = ip.String()
	}
	// NewConfig needs these two settings, because without them LiveKit searches for an
	// address and opens ten thousand ports.
	conf, err := config.NewConfig(fmt.Sprintf("rtc: {udp_port: %d, node_ip: %q}",
		cfg.UDPPort, strings.Join(nodeIPs, ",")), true, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("media: configure LiveKit: %w", err)
	}
	conf.Keys = map[string]string{cfg.SigningKey: cfg.SigningSecret}
	conf.RTC.TCPPort = 0 // limitTransport receives media on a listener with limits
	for _, ip := range addrs.bind {
		conf.RTC.IPs.Includes = append(conf.RTC.IPs.Includes, fmt.Sprintf("%s/%d", ip, ip.BitLen()))
		if ip.IsLoopback() {
			conf.RTC.EnableLoopbackCandidate = true
		}
	}

	conf.Room.AutoCreate = false
	conf.Room.EmptyTimeout = idleTimeoutSeconds
	conf.Room.DepartureTimeout = idleTimeoutSeconds
	// Data tracks are not used here, and in an audio session they could carry video. Also,
	// a packet of 12 bytes that announces extensions crashes the process (Header.Unmarshal
	// in datatrack/packet.go; not fixed in 1.13.5).
	conf.EnableDataTracks = false
	// LiveKit buffers the messages that a receiver does not read, by default without a
	// bound.
	conf.RTC.DataChannelMaxBufferedAmount = maxBufferedBytes
	// The hosting process is asked, because the store may be out of date.
	conf.API.EnablePsrpcForGetListParticpants = true

	if cfg.RedisURL != "" {
		conf.NodeStats.StatsUpdateInterval = nodeStatsInterval
	} else {
		// Without retries a refused participant is refused immediately.
		conf.SignalRelay.ConnectAttempts = 1
	}
	return conf, nil
}

// connectRedis returns a client of the cluster's Redis after a successful PING.
func connectRedis(url string) (redis.UniversalClient, error) {
	opts, err := redis.ParseURL(url)
	if err != nil {
		// The parser's error contains the URL with its password.
		return nil, errors.New("the Redis URL must have the form redis://user:password@host:port/database")
	}
	opts.MaxRetries, opts.DialerRetries = 1, 1
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout = redisTimeout, redisTimeout, redisTimeout
	opts.ContextTimeoutEnabled = true
	client := redis.NewClient(opts)
	if err := client.Ping(context.Background()).Err(); err != nil {
		_ = client.Close()
		return nil, fmt.Errorf("no answer from Redis at %s: %w", opts.Addr, err)
	}
	return client, nil
}

// redisUptime returns the uptime of Redis in seconds, or math.MaxInt if it is unknown.
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

// buildNode creates the node. The second to last step binds the media ports. If buildNode
// fails, no port stays bound.
func buildNode(conf *config.Config, announced []netip.Addr, servers iceServers, tcp net.Listener, redisURL string,
	admissions *admissions, refusals *refusal.Recorder,
	wrap func(telemetry.TelemetryService) telemetry.TelemetryService) (_ *node, err error) {
	n := &node{conf: conf, packets: &packetLimits{refusals: refusals}}
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
	// The metrics come first, because without them the first room panics. A second call
	// in the same process has no effect.
	if err = prometheus.Init(string(n.self.NodeID()), livekit.NodeType_SERVER); err != nil {
		return nil, err
	}

	var bus psrpc.MessageBus
	localBus := psrpc.NewLocalMessageBus()
	if redisURL != "" {
		if n.redis, err = connectRedis(redisURL); err != nil {
			return nil, err
		}
		n.closers = append(n.closers, func() { _ = n.redis.Close() })
		bus = psrpc.NewRedisMessageBus(n.redis)
		n.store = service.NewRedisStore(n.redis)
	} else {
		bus = localBus
		n.store = service.NewLocalStore()
	}

	client := rpc.NewClientParams(conf.PSRPC, bus, logger.GetLogger(), rpc.PSRPCMetricsObserver{})
	signals, err := routing.NewSignalClient(n.self.NodeID(), localBus, conf.SignalRelay)
	if err != nil {
		return nil, err
	}
	if n.redis != nil {
		others, err := routing.NewSignalClient(n.self.NodeID(), bus, conf.SignalRelay)
		if err != nil {
			return nil, err
		}
		signals = &signalClient{SignalClient: others, local: signals, self: n.self.NodeID()}
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
	n.router = routing.CreateRouter(n.redis, n.self, signals, managerClient, keepalive, conf.NodeStats)

	standard, err := service.NewRoomAllocator(conf, n.router, n.store)
	if err != nil {
		return nil, err
	}
	n.allocator = &allocator{
		RoomAllocator: standard,
		router:        n.router,
		self:          n.self.NodeID(),
		store:         n.store,
		codecs:        codecsFor,
	}
	if n.redis != nil {
		n.allocator.redisJustStarted = func(ctx context.Context) bool {
			return redisUptime(ctx, n.redis) < redisStartupSeconds
		}
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
	var apiObjects service.ServiceStore = n.store
	if n.redis != nil {
		apiObjects = apiStore{n.store}
	}
	n.api, err = service.NewRoomService(conf.Limit, conf.API, n.router, n.allocator, apiObjects, nil,
		rpc.NewTopicFormatter(), roomClient, participantClient)
	if err != nil {
		return nil, err
	}

	reports := wrap(telemetry.NewTelemetryService(nil, telemetry.NewAnalyticsService(conf, n.self)))
	n.rtc = service.NewRTCService(conf, n.allocator, n.router, reports)
	router, objects := n.router, n.store
	if n.redis != nil {
		n.hosted = &hostedStore{
			ObjectStore: n.store,
			redis:       n.redis,
			router:      n.router,
			self:        n.self.NodeID(),
			wake:        make(chan struct{}, 1),
		}
		router, objects = hostedRouter{n.router}, n.hosted
	}
	n.rooms, err = service.NewLocalRoomManager(conf, objects, n.self, router, n.allocator, reports, nil, nil, nil,
		utils.NewDefaultTimedVersionGenerator(),
		service.NewTURNAuthHandler(auth.NewFileBasedKeyProviderFromMap(conf.Keys)), bus, nil)
	if err != nil {
		return nil, err
	}
	if n.hosted != nil {
		n.hosted.rooms = n.rooms // start makes the first requests possible
	}
	closeTCP, err := limitTransport(n.rooms, n.packets, tcp)
	if err != nil {
		return nil, err
	}
	n.closers = append(n.closers, closeTCP)
	n.sessions = &sessionHandler{
		self:       n.self,
		router:     n.router,
		rooms:      n.rooms,
		announced:  announced,
		iceServers: servers,
		admissions: admissions,
		packets:    n.packets,
		log:        admissions.log,
		refusals:   refusals,
	}
	buses := []psrpc.MessageBus{localBus}
	if n.redis != nil {
		buses = append(buses, bus)
	}
	for _, bus := range buses {
		s, err := service.NewSignalServer(n.self.NodeID(), n.self.Region(), bus, conf.SignalRelay, n.sessions)
		if err != nil {
			return nil, err
		}
		n.signals = append(n.signals, s)
	}
	return n, nil
}

// start registers the node, so that participants and other nodes can reach it.
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
	for _, s := range n.signals {
		if err := s.Start(); err != nil {
			return err
		}
	}
	return nil
}

// closeExceptRooms closes everything except the rooms, also if buildNode has not created
// all of it. A few goroutines without sockets remain, because LiveKit cannot end them.
func (n *node) closeExceptRooms() {
	for _, s := range n.signals {
		s.Stop()
	}
	if n.router != nil {
		n.router.Stop()
	}
	for _, f := range n.closers {
		f()
	}
}

// withRoomAdmin returns a context with the permission to manage one session with
// LiveKit's API.
func (n *node) withRoomAdmin(ctx context.Context, session string) context.Context {
	return n.withGrant(ctx, &auth.VideoGrant{RoomAdmin: true, Room: session})
}

// withGrant returns a context with the permissions of grant for LiveKit's API.
func (n *node) withGrant(ctx context.Context, grant *auth.VideoGrant) context.Context {
	return service.WithGrants(ctx, &auth.ClaimGrants{Video: grant}, "")
}
