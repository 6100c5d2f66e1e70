package media_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"parley/internal/media"
	"parley/internal/media/mediatest"
	"parley/internal/room"
)

// One engine to a process: what needs two, or has to be killed, starts this
// test program again as a process of its own.
const processEnv = "PARLEY_MEDIA_TEST_PROCESS"

func TestMain(m *testing.M) {
	if text := os.Getenv(processEnv); text != "" {
		if err := runProcess(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// processConfig is what a started process is told.
type processConfig struct {
	Media    media.Config
	Sessions []room.MediaSession
}

// runProcess serves until its standard input is closed, or it is killed.
func runProcess(text string) error {
	var cfg processConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return err
	}
	observer, door := &observer{}, &fakeAuthorizer{types: map[string]room.Type{"sound": room.Audio}}
	for _, s := range cfg.Sessions {
		prefix, _, _ := strings.Cut(s.Name, ".")
		door.types[prefix] = s.Type
	}
	engine, err := media.New(cfg.Media, observer, door)
	if err != nil {
		return err
	}
	observer.onJoined = engine.Admit
	defer engine.Stop(context.Background())
	if err := engine.Start(context.Background()); err != nil {
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
	go func() { _ = http.Serve(l, mux) }()
	fmt.Printf("http://%s\n", l.Addr())
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	_ = err // the end of the input is the end
	return nil
}

// startProcess returns where the process serves, and what kills it.
func startProcess(t *testing.T, cfg processConfig) (url string, kill func()) {
	t.Helper()
	return startLoggedProcess(t, cfg, os.Stderr)
}

// startLoggedProcess is startProcess for tests that want to know what the process logs.
func startLoggedProcess(t *testing.T, cfg processConfig, log io.Writer) (url string, kill func()) {
	t.Helper()
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), processEnv+"="+string(text))
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill = func() {
		killed = true
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(func() {
		if !killed {
			_ = stdin.Close()
			_ = cmd.Wait()
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the process did not start: %v", err)
	}
	return strings.TrimSpace(line), kill
}

func processMediaConfig(t *testing.T) media.Config {
	t.Helper()
	return media.Config{SigningKey: "parley", SigningSecret: testSecret, NodeIP: "127.0.0.1", UDPPort: freeUDPPort(t)}
}

func TestProcess_Restarted(t *testing.T) {
	cfg := processConfig{
		Media:    processMediaConfig(t),
		Sessions: []room.MediaSession{{Name: "r.1", Type: room.Audio, MaxParticipants: 5}},
	}
	at, kill := startProcess(t, cfg)
	here := newFixture(t) // signs with the same secret
	ada := connect(t, at, here.accessToken(t, "r.1", "ada", room.Audio))
	freshToken(t, ada)
	kill()

	at, _ = startProcess(t, cfg)
	again := connect(t, at, ada.Token())
	ben := connect(t, at, here.accessToken(t, "r.1", "ben", room.Audio))
	publish(t, again, "mic", mediatest.Microphone)
	eventually(t, "sound arrives", func() bool { return ben.Received(mediatest.Audio) > 0 })
}

// Two processes and a Redis: a session lives on one of them and is served,
// listed, cleared and closed through either.
func TestCluster_RemoteSession(t *testing.T) {
	redis := startRedis(t)
	other := processConfig{Media: processMediaConfig(t)}
	other.Media.RedisURL = redis
	there, _ := startProcess(t, other)
	here := newFixture(t, func(c *media.Config) { c.RedisURL = redis })

	session := openRemoteSession(t, here, "sound", room.Audio)
	ada := connect(t, here.url, here.accessToken(t, session, "ada", room.Audio))
	ben := connect(t, there, here.accessToken(t, session, "ben", room.Audio))
	publish(t, ben, "mic", mediatest.Microphone)
	eventually(t, "sound arrives", func() bool { return ada.Received(mediatest.Audio) > 0 })
	publishMislabeled(t, ada, "cam", mediatest.Microphone, mediatest.Audio, mediatest.Video)
	eventually(t, "no place for a picture", ada.Rejected)

	spy := connect(t, here.url, here.accessTokenFor(t, session, "spy", room.Authorization{Type: room.Audio, Hidden: true}))
	if err := here.engine.UpdatePermissions(t.Context(), session, "spy", room.Host, allGrants); err != nil {
		t.Fatal(err)
	}
	if err := spy.Publish(t.Context(), "mic", mediatest.Microphone); !errors.Is(err, mediatest.ErrNotAllowed) {
		t.Errorf("a hidden microphone: %v", err)
	}
	if list := here.participants(t, session); len(list) != 3 {
		t.Errorf("participants are %v", list)
	}
	if err := here.engine.Remove(t.Context(), session, "ben"); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, ben, "PARTICIPANT_REMOVED")
	if err := here.engine.Remove(t.Context(), session, "nobody"); err != nil {
		t.Error(err)
	}
	if err := here.engine.Close(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, ada, "ROOM_DELETED")
	if ada.EverSaw("spy") {
		t.Error("ada was told of the hidden one")
	}
	eventually(t, "nobody is there", func() bool { return len(here.participants(t, session)) == 0 })
	if err := here.engine.Close(t.Context(), session); err != nil {
		t.Error(err)
	}
	session = openRemoteSession(t, here, "picture", room.Video)
	assertControl(t, here, session,
		connect(t, here.url, here.accessToken(t, session, "ada", room.Video)),
		connect(t, there, here.accessToken(t, session, "ben", room.Video)))
	if got := here.recorded(); len(got) != 0 {
		t.Errorf("the process that does not host the session told %v", got)
	}
}

// openRemoteSession opens a session that the other process hosts. They are spread by
// chance: it opens until there is one.
func openRemoteSession(t *testing.T, here *fixture, prefix string, kind room.Type) string {
	t.Helper()
	for n := range 50 {
		name := fmt.Sprintf("%s.%d", prefix, n)
		here.openSession(t, name, kind)
		if !here.engine.IsLocal(name) {
			return name
		}
	}
	t.Fatal("the other process is given no session")
	return ""
}

// What participants of tests hold, they give back.
func TestParticipants_NoGoroutineLeak(t *testing.T) {
	there, _ := startProcess(t, processConfig{
		Media:    processMediaConfig(t),
		Sessions: []room.MediaSession{{Name: "r.1", Type: room.Video, MaxParticipants: 9}},
	})
	here := newFixture(t) // signs with the same secret
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()
	for _, end := range []func(*mediatest.Participant){(*mediatest.Participant).Leave, (*mediatest.Participant).Abort} {
		ada := connect(t, there, here.accessToken(t, "r.1", "ada", room.Video))
		ben := connect(t, there, here.accessToken(t, "r.1", "ben", room.Video))
		publish(t, ada, "cam", mediatest.Camera)
		awaitPackets(t, ben, "ada", mediatest.Camera)
		end(ada)
		end(ben)
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

func startRedis(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("redis-server is not installed: run make test-setup")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr)
	_ = l.Close()
	cmd := exec.Command(program, "--bind", "127.0.0.1", "--port", fmt.Sprint(addr.Port), "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, "Redis listens", func() bool {
		conn, err := net.DialTimeout("tcp", addr.String(), time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return fmt.Sprintf("redis://%s/0", addr)
}
