package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/livekit/livekit-server/pkg/config"
	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/livekit-server/pkg/telemetry/prometheus"
	"github.com/livekit/protocol/auth"

	"parley/internal/testkit"
	"parley/test/bench/measure"
)

// These are the credentials of the LiveKit server, which only this program can reach.
const (
	livekitKey    = "bench"
	livekitSecret = "a secret of a server on loopback"
)

// livekit compares the creation of a durable room with LiveKit's CreateRoom, which creates a
// session in memory that is lost with its process.
func (b *bench) livekit(ctx context.Context) ([]figure, error) {
	p, err := b.startParley(ctx, filepath.Join(b.dir, "beside-livekit"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	a, err := newRoomLoad("Parley on SQLite", p.serverInfo, p.cpu(), writeConnections)
	if err != nil {
		return nil, err
	}
	defer a.Close()

	var h serverInfo
	c, err := startSelf(b.dir, roleLiveKit, "", &h)
	if err != nil {
		return nil, err
	}
	defer c.quit()
	if err := c.await(ctx, 10*time.Millisecond, func() bool { return accepts(h.Address) }); err != nil {
		return nil, err
	}
	token, err := auth.NewAccessToken(livekitKey, livekitSecret).
		SetVideoGrant(&auth.VideoGrant{RoomCreate: true}).SetValidFor(time.Hour).ToJWT()
	if err != nil {
		return nil, err
	}
	l, err := measure.Dial(measure.Target{Name: "LiveKit", Address: h.Address, CPU: measure.ProcessCPU(c.pid()),
		Request: createSession(h.Address, token)}, writeConnections)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	// LiveKit's warm-up and the comparison are short, because each of its rooms needs
	// 200 kB of memory, and processor time for as long as it exists, which slows down both
	// servers.
	if _, err := a.Slice(ctx, warmUp); err != nil {
		return nil, err
	}
	if _, err := l.Slice(ctx, warmUp/8); err != nil {
		return nil, err
	}
	results, err := measure.Compare(ctx, a, []*measure.Load{l, a}, min(b.pairs, 6), b.slice)
	if err != nil {
		return nil, err
	}
	const of = "room creation, SQLite, beside LiveKit's CreateRoom, 64 connections"
	parley, livekit := measure.MediansOf(results[0].A), measure.MediansOf(results[0].B)
	return []figure{
		figure{Of: of, Name: "rps, LiveKit's = 1", Value: results[0].Rate(),
			Comment: fmt.Sprintf("%.0f /s, LiveKit %.0f /s", parley.PerSecond, livekit.PerSecond)}.
			atLeast(8).withControl(results[1].Rate()),
		{Of: of, Name: "cpu, LiveKit's = 1", Value: results[0].CPU(),
			Comment: fmt.Sprintf("%.1f µs a request, LiveKit %.1f µs",
				micros(parley.CPUPerRequest), micros(livekit.CPUPerRequest))},
		{Of: of, Name: "p99", Value: millis(parley.P99), Unit: "ms",
			Comment: fmt.Sprintf("LiveKit %.1f ms", millis(livekit.P99))},
	}, nil
}

// serveLiveKit runs LiveKit's own server on loopback, as LiveKit's main function starts it.
func serveLiveKit(string) error {
	port, err := testkit.PickTCPPort()
	if err != nil {
		return err
	}
	udp, err := testkit.PickUDPPort()
	if err != nil {
		return err
	}
	conf, err := config.NewConfig(fmt.Sprintf(`
port: %d
bind_addresses: ["127.0.0.1"]
keys: {%s: %q}
rtc: {udp_port: %d, node_ip: "127.0.0.1", enable_loopback_candidate: true, ips: {includes: ["127.0.0.1/32"]}}
`, port, livekitKey, livekitSecret, udp), true, nil, nil)
	if err != nil {
		return err
	}
	conf.RTC.TCPPort = 0 // LiveKit would listen on every address
	config.InitLoggerFromConfig(&conf.Logging)
	self, err := routing.NewLocalNode(conf)
	if err != nil {
		return err
	}
	if err := prometheus.Init(string(self.NodeID()), self.NodeType()); err != nil {
		return err
	}
	server, err := service.InitializeServer(conf, self)
	if err != nil {
		return err
	}
	info := serverInfo{Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(server.HTTPPort()))}
	if err := json.NewEncoder(os.Stdout).Encode(info); err != nil {
		return err
	}
	return server.Start()
}

// accepts reports whether a server listens on the address.
func accepts(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}
