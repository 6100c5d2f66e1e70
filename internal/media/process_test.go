package media_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"parley/internal/cluster/clustertest"
	"parley/internal/media"
	"parley/internal/media/mediatest"
	"parley/internal/refusal"
	"parley/internal/room"
	"parley/internal/testkit"
)

// A test that needs two engines, or kills one, starts this test program again, because a
// process can have only one engine.
func TestMain(m *testing.M) { testkit.Main(m, runProcess) }

// processConfig is the configuration of a test process.
type processConfig struct {
	UDPPort  int
	RedisURL string
	Sessions []room.MediaSession
	Locked   []string // identities that may publish nothing in the first session
	TURNURL  string   // of the TURN server that participants get; empty for none
}

// runProcess serves until the test has ended.
func runProcess(cfg processConfig) error {
	observer, authorizer := &observer{}, &fakeAuthorizer{types: map[string]room.Type{"sound": room.Audio}}
	for _, s := range cfg.Sessions {
		prefix, _, _ := strings.Cut(s.Name, ".")
		authorizer.types[prefix] = s.Type
	}
	for _, identity := range cfg.Locked {
		authorizer.grant(cfg.Sessions[0].Name, identity, room.Authorization{Type: cfg.Sessions[0].Type})
	}
	engineConfig := newConfig(cfg.UDPPort, slog.Default())
	registry := prometheus.NewRegistry()
	engineConfig.Refusals = refusal.NewRecorder(registry, slog.Default(), time.Now)
	engineConfig.RedisURL = cfg.RedisURL
	if cfg.TURNURL != "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		engineConfig.TURN = &media.TURN{Listener: l, URLs: []string{cfg.TURNURL}}
	}
	engine, err := media.New(engineConfig)
	if err != nil {
		return err
	}
	observer.onJoined = engine.Admit
	defer engine.Stop(context.Background())
	if err := engine.Start(context.Background(), observer, authorizer); err != nil {
		return err
	}
	for _, s := range cfg.Sessions {
		if err := engine.Open(context.Background(), s); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", engine.Handler())
	mux.HandleFunc("/heap", func(w http.ResponseWriter, _ *http.Request) {
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		_, _ = fmt.Fprint(w, memory.HeapInuse>>20)
	})
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/check-token", func(w http.ResponseWriter, r *http.Request) {
		token, err := engine.PreflightToken(r.Context(), r.URL.Query().Get("network"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusTooManyRequests)
			return
		}
		_, _ = fmt.Fprint(w, token)
	})
	go func() { _ = http.Serve(l, mux) }()
	fmt.Printf("http://%s\n", l.Addr())
	testkit.AwaitParent()
	return nil
}

// startProcess starts a test process and returns its base URL and a function that kills it.
func startProcess(t *testing.T, cfg processConfig) (url string, kill func()) {
	t.Helper()
	return startLoggedProcess(t, cfg, os.Stderr)
}

// startLoggedProcess starts a test process that writes its log to the given writer.
func startLoggedProcess(t *testing.T, cfg processConfig, log io.Writer) (url string, kill func()) {
	t.Helper()
	stdout, kill := testkit.StartChild(t, cfg, log)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("first line of the started process: got error %v, want its URL", err)
	}
	return strings.TrimSpace(line), kill
}

func TestProcess_Restarted(t *testing.T) {
	cfg := processConfig{
		UDPPort:  testkit.FreeUDPPort(t),
		Sessions: []room.MediaSession{{Name: "r.1", Type: room.Audio, MaxParticipants: 5}},
	}
	baseURL, kill := startProcess(t, cfg)
	local := newFixture(t) // signs with the same secret
	ada := joinWithToken(t, baseURL, local.accessToken(t, "r.1", "ada", room.Audio))
	freshToken(t, ada)
	kill()

	baseURL, _ = startProcess(t, cfg)
	rejoined := joinWithToken(t, baseURL, ada.Token())
	ben := joinWithToken(t, baseURL, local.accessToken(t, "r.1", "ben", room.Audio))
	publish(t, rejoined, "mic", mediatest.Microphone)
	testkit.Eventually(t, "sound arrives", func() bool { return ben.Received(mediatest.Audio) > 0 })
}

// In a cluster of two processes, each process can serve, list, control and close a session
// of the other.
func TestCluster_RemoteSession(t *testing.T) {
	redisURL := clustertest.NewRedis(t).URL()
	other := processConfig{UDPPort: testkit.FreeUDPPort(t)}
	other.RedisURL = redisURL
	remoteURL, _ := startProcess(t, other)
	local := newFixture(t, func(c *media.Config) { c.RedisURL = redisURL })

	session := openRemoteSession(t, local, "sound", room.Audio)
	ada := joinWithToken(t, local.url, local.accessToken(t, session, "ada", room.Audio))
	ben := joinWithToken(t, remoteURL, local.accessToken(t, session, "ben", room.Audio))
	publish(t, ben, "mic", mediatest.Microphone)
	testkit.Eventually(t, "sound arrives", func() bool { return ada.Received(mediatest.Audio) > 0 })
	publishMislabeled(t, ada, "cam", mediatest.Microphone, mediatest.Audio, mediatest.Video)
	testkit.Eventually(t, "the server rejects video", ada.Rejected)

	spy := joinWithToken(t, local.url, local.accessTokenFor(t, session, "spy", room.Authorization{Type: room.Audio,
		Hidden: true}))
	if err := local.engine.UpdatePermissions(t.Context(), session, "spy", room.Host, allGrants); err != nil {
		t.Fatal(err)
	}
	if err := spy.Publish(t.Context(), "mic", mediatest.Microphone); !errors.Is(err, mediatest.ErrNotAllowed) {
		t.Errorf("publish a microphone of a hidden participant: got error %v, want %v", err, mediatest.ErrNotAllowed)
	}
	if list := local.participants(t, session); len(list) != 3 {
		t.Errorf("participants: got %v, want three", list)
	}
	if err := local.engine.Remove(t.Context(), session, "ben"); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, ben, "PARTICIPANT_REMOVED")
	if err := local.engine.Remove(t.Context(), session, "nobody"); err != nil {
		t.Error(err)
	}
	if err := local.engine.Close(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, ada, "ROOM_DELETED")
	if ada.EverSaw("spy") {
		t.Error("ada: got the hidden participant seen, want not seen")
	}
	testkit.Eventually(t, "nobody is there", func() bool { return len(local.participants(t, session)) == 0 })
	if err := local.engine.Close(t.Context(), session); err != nil {
		t.Error(err)
	}
	session = openRemoteSession(t, local, "picture", room.Video)
	assertControl(t, local, session,
		joinWithToken(t, local.url, local.accessToken(t, session, "ada", room.Video)),
		joinWithToken(t, remoteURL, local.accessToken(t, session, "ben", room.Video)))
	if got := local.recorded(); len(got) != 0 {
		t.Errorf("got observer calls %v in the process that does not host the session, want none", got)
	}
}

// A session of a process that was killed can be closed, also before anybody else hosts it.
func TestCluster_CloseSessionOfLostProcess(t *testing.T) {
	redisURL := clustertest.NewRedis(t).URL()
	other := processConfig{UDPPort: testkit.FreeUDPPort(t), RedisURL: redisURL}
	_, kill := startProcess(t, other)
	local := newFixture(t, func(c *media.Config) { c.RedisURL = redisURL })
	session := openRemoteSession(t, local, "sound", room.Audio)
	kill()
	testkit.Eventually(t, "the session is closed", func() bool {
		return local.engine.Close(t.Context(), session) == nil
	})
	if _, err := local.engine.Participants(t.Context(), session); err != nil {
		t.Errorf("participants of the closed session: got error %v, want no session", err)
	}
	// A session of the same name begins anew, without the lost process.
	local.openSession(t, session, room.Audio)
	if !local.engine.IsLocal(session) {
		t.Error("a new session of the same name: got it hosted elsewhere, want by the process that is left")
	}
}

// Without Redis, the people whose page and session are on the same node notice nothing: their requests arrive, and
// those who leave have left by choice.
func TestCluster_SignalingWithoutRedis(t *testing.T) {
	server := clustertest.NewRedis(t)
	f := newFixture(t, func(c *media.Config) { c.RedisURL = server.URL() })
	f.openSession(t, "r.1", room.Audio)
	ada, ben := f.join(t, "r.1", "ada", room.Audio), f.join(t, "r.1", "ben", room.Audio)
	publish(t, ada, "mic", mediatest.Microphone)
	awaitPackets(t, ben, "ada", mediatest.Microphone)
	server.Kill()

	publish(t, ben, "mic", mediatest.Microphone)
	awaitPackets(t, ada, "ben", mediatest.Microphone)
	ada.Leave()
	f.expectCalls(t, observerCall{"r.1", "ada", ada.SID(), ""}, observerCall{"r.1", "ben", ben.SID(), ""},
		observerCall{"r.1", "ada", ada.SID(), room.LeftByChoice})
}

// While Redis hangs, what happens in the sessions of a node does not wait for it. Afterwards Redis knows what changed.
func TestCluster_RedisHangs(t *testing.T) {
	ctx := t.Context()
	server := clustertest.NewRedis(t)
	// Without a time limit of the engine, a wait for Redis would be longer than the test.
	f := newFixture(t, func(c *media.Config) { c.RedisURL = server.URL() + "?read_timeout=10m" })
	const ends, stays = "r.1", "r.2"
	f.openSession(t, ends, room.Audio)
	f.openSession(t, stays, room.Audio)
	var people []*mediatest.Participant
	var calls []observerCall
	for _, identity := range []string{"ada", "ben", "chen"} {
		p := f.join(t, ends, identity, room.Audio)
		people = append(people, p)
		calls = append(calls, observerCall{ends, identity, p.SID(), ""})
		f.expectCalls(t, calls...)
	}
	server.Freeze()
	var locked atomic.Int32
	go func() {
		for _, identity := range []string{"ada", "ben", "chen"} {
			if f.engine.UpdatePermissions(ctx, ends, identity, room.Guest, room.Grants{}) == nil {
				locked.Add(1)
			}
		}
	}()
	testkit.Eventually(t, "the permissions of three people are set", func() bool { return locked.Load() == 3 })
	people[0].Leave()
	calls = append(calls, observerCall{ends, "ada", people[0].SID(), room.LeftByChoice})
	f.expectCalls(t, calls...)
	if err := f.engine.UpdateMetadata(ctx, stays, room.Metadata{Breakout: 7}); err != nil {
		t.Fatal(err)
	}
	go func() { _ = f.engine.Close(ctx, ends) }()
	testkit.Eventually(t, "the others have left", func() bool { return len(f.recorded()) == len(calls)+2 })
	server.Thaw()

	options, err := redis.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	known := func(session string) string { return client.HGet(ctx, service.RoomsKey, session).Val() }
	hosted := func(session string) bool { return client.HExists(ctx, routing.NodeRoomKey, session).Val() }
	testkit.Eventually(t, "Redis forgets the session that ended", func() bool {
		return known(ends) == "" && !hosted(ends)
	})
	testkit.Eventually(t, "Redis knows the new metadata", func() bool {
		return strings.Contains(known(stays), `"breakout":7`) && hosted(stays)
	})
	f.engine.Stop(ctx)
	if known(stays) != "" || hosted(stays) {
		t.Error("after the stop: got the session in Redis, want it deleted")
	}
}

// openRemoteSession opens a session that the other process hosts. LiveKit selects nodes at
// random, so it opens sessions until the other process hosts one.
func openRemoteSession(t *testing.T, local *fixture, prefix string, kind room.Type) string {
	t.Helper()
	for n := range 50 {
		name := fmt.Sprintf("%s.%d", prefix, n)
		local.openSession(t, name, kind)
		if !local.engine.IsLocal(name) {
			return name
		}
	}
	t.Fatal("sessions hosted by the other process: got none of 50, want at least one")
	return ""
}

// Participants of tests leave no goroutines behind.
func TestParticipants_NoGoroutineLeak(t *testing.T) {
	remoteURL, _ := startProcess(t, processConfig{
		UDPPort:  testkit.FreeUDPPort(t),
		Sessions: []room.MediaSession{{Name: "r.1", Type: room.Video, MaxParticipants: 9}},
	})
	local := newFixture(t) // signs with the same secret
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()
	for _, end := range []func(*mediatest.Participant){(*mediatest.Participant).Leave, (*mediatest.Participant).Abort} {
		ada := joinWithToken(t, remoteURL, local.accessToken(t, "r.1", "ada", room.Video))
		ben := joinWithToken(t, remoteURL, local.accessToken(t, "r.1", "ben", room.Video))
		publish(t, ada, "cam", mediatest.Camera)
		awaitPackets(t, ben, "ada", mediatest.Camera)
		end(ada)
		end(ben)
	}
	testkit.Eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}
