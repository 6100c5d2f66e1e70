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

	"parley/test/bench/measure"
)

// The key of the LiveKit server, which nobody but this program reaches.
const (
	livekitKey    = "bench"
	livekitSecret = "a secret of a server on loopback"
)

// livekit compares a durable room with LiveKit's CreateRoom: a live session in
// memory, which is gone with its process.
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
	// LiveKit's warm-up is short and the comparison no longer than it has to
	// be: each of its rooms costs it 200 kB, and processor time for as long as
	// it lives, which weighs on both servers.
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
	ours, theirs := measure.MediansOf(results[0].A), measure.MediansOf(results[0].B)
	return []figure{
		figure{Of: of, Name: "rps, LiveKit's = 1", Value: results[0].Rate(),
			Comment: fmt.Sprintf("%.0f /s, LiveKit %.0f /s", ours.PerSecond, theirs.PerSecond)}.atLeast(8).withControl(results[1].Rate()),
		{Of: of, Name: "cpu, LiveKit's = 1", Value: results[0].CPU(),
			Comment: fmt.Sprintf("%.1f µs a request, LiveKit %.1f µs", micros(ours.CPUPerRequest), micros(theirs.CPUPerRequest))},
		{Of: of, Name: "p99", Value: millis(ours.P99), Unit: "ms", Comment: fmt.Sprintf("LiveKit %.1f ms", millis(theirs.P99))},
	}, nil
}

// serveLiveKit is LiveKit's own server as its own main starts it, on loopback.
func serveLiveKit(string) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	udp, err := freeUDPPort()
	if err != nil {
		return err
	}
	conf, err := config.NewConfig(fmt.Sprintf(`
port: %s
bind_addresses: ["127.0.0.1"]
keys: {%s: %q}
rtc: {udp_port: %d, node_ip: "127.0.0.1", enable_loopback_candidate: true, ips: {includes: ["127.0.0.1/32"]}}
`, port, livekitKey, livekitSecret, udp), true, nil, nil)
	if err != nil {
		return err
	}
	conf.RTC.TCPPort = 0 // it would listen on every address
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
	if err := json.NewEncoder(os.Stdout).Encode(serverInfo{Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(server.HTTPPort()))}); err != nil {
		return err
	}
	return server.Start()
}

// accepts reports whether something listens.
func accepts(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}
