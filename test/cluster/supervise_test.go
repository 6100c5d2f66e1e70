package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// child returns the id of the process that runs the service, or 0 while there is none.
func (n *node) child() (pid int) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		n.t.Fatal(err)
	}
	for _, file := range stats {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		state, parent := "", 0
		number, rest, _ := strings.Cut(string(raw), " ")
		_, _ = fmt.Sscan(rest[strings.LastIndexByte(rest, ')')+1:], &state, &parent)
		if parent == n.Cmd.Process.Pid && state != "Z" {
			_, _ = fmt.Sscan(number, &pid)
			return pid
		}
	}
	return 0
}

// crash kills the process that runs the service.
func (n *node) crash() {
	n.t.Helper()
	pid := n.child()
	if pid == 0 {
		n.t.Fatal("service process: got none, want one")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		n.t.Fatal(err)
	}
}

// get requests a path on a new connection and returns the body.
func (n *node) get(path, token string) (string, error) {
	r, err := http.NewRequest(http.MethodGet, n.url+path, nil)
	if err != nil {
		return "", err
	}
	r.Close = true
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, body)
	}
	return string(body), err
}

// delayStop sends an incomplete request, which delays the stop of the server by four seconds.
func (n *node) delayStop() {
	n.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { _ = conn.Close() })
	_, _ = fmt.Fprint(conn, "POST /api/v3/rooms/create_quick_audio_room HTTP/1.1\r\n"+
		"Host: x\r\nContent-Length: 10\r\n\r\n{")
	testkit.Eventually(n.t, "the request is being read", func() bool {
		metrics, _ := n.get("/metrics", n.s.AdminToken)
		return strings.Contains(metrics, `parley_http_requests_total{part="v3"} 1`)
	})
}

// If the service process is killed under load, no connection is refused, and every request
// on a new connection is answered. Only requests that the killed process had accepted fail.
func TestSupervisor_CallersWaitForRestart(t *testing.T) {
	t.Parallel()
	n := (&service{master: seal.NewKey()}).startNode(t)
	var mu sync.Mutex
	var answered, broken int
	var slowest time.Duration
	var load sync.WaitGroup
	defer load.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 4 {
		load.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				_, err := n.get("/healthz", "")
				took := time.Since(began)
				mu.Lock()
				switch {
				case errors.Is(err, syscall.ECONNREFUSED):
					t.Errorf("request during the restart: got error %v, want it to wait for the server", err)
				case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
					errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
					broken++
				case err != nil:
					t.Errorf("request /healthz: got error %v, want none", err)
				default:
					answered++
					slowest = max(slowest, took)
				}
				mu.Unlock()
				time.Sleep(2 * time.Millisecond) // paces the load
			}
		})
	}
	awaitAnswered := func(more int) {
		t.Helper()
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return answered
		}
		want := count() + more
		testkit.Eventually(t, fmt.Sprintf("%d more responses", more), func() bool { return count() >= want })
	}
	awaitAnswered(100)
	n.crash()
	awaitAnswered(100)
	cancel()
	load.Wait()
	t.Logf("%d responses, the slowest after %s, and %d failed requests", answered, slowest.Round(time.Millisecond),
		broken)
	if broken > 4 {
		t.Errorf("%d requests failed, want at most the 4 in flight", broken)
	}
	if restarts := n.healthFor(n.s.AdminToken)["restarts"]; restarts != "1" {
		t.Errorf("%s restarts, want 1", restarts)
	}
	if report := n.health(); report["restarts"] != "" || report["last_crash_at"] != "" || report["supervisor"] == "" {
		t.Errorf("health report for a stranger: got %v, want one without restarts", report)
	}
}

// Two participants hear each other again after the service process was killed, and the
// attendance has one leave for each join.
func TestSupervisor_ParticipantsReconnect(t *testing.T) {
	t.Parallel()
	s := &service{master: seal.NewKey()}
	n := s.startNode(t)
	db := s.openDatabase(t, n.dir)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	id, _, err := n.createRoom(5, 60)
	if err != nil {
		t.Fatal(err)
	}
	var participants [2]*mediatest.Participant
	joinAndPublish := func(i int) error {
		for ctx.Err() == nil { // retries until it has joined, as a page does
			_, p, err := n.join(ctx, id, seatKey(i))
			if err == nil {
				participants[i] = p
				return p.Publish(ctx, fmt.Sprintf("microphone %p", p), mediatest.Microphone)
			}
			time.Sleep(20 * time.Millisecond) // paces the attempts
		}
		return ctx.Err()
	}
	forBoth := func(do func(i int) error) {
		t.Helper()
		var all sync.WaitGroup
		for i := range participants {
			all.Go(func() {
				if err := do(i); err != nil {
					t.Errorf("participant %d: got error %v, want none", i, err)
				}
			})
		}
		if all.Wait(); t.Failed() {
			t.FailNow()
		}
	}
	awaitHeard := func(i int) error {
		return participants[i].AwaitPacketsFrom(ctx, participants[1-i].Identity(), mediatest.Microphone)
	}
	forBoth(joinAndPublish)
	forBoth(awaitHeard)
	testkit.Eventually(t, "both participants have attendance", func() bool {
		present, err := db.CurrentAttendance(ctx, id)
		return err == nil && len(present) == 2
	})

	killed := time.Now()
	n.crash()
	forBoth(func(i int) error {
		if err := participants[i].Wait(ctx, "the connection ends", participants[i].Closed); err != nil {
			return err
		}
		participants[i].Abort()
		return joinAndPublish(i)
	})
	forBoth(awaitHeard)
	t.Logf("heard again %s after the kill", time.Since(killed).Round(time.Millisecond))
	for _, p := range participants {
		p.Leave()
	}
	testkit.Eventually(t, "both have left", func() bool {
		present, err := db.CurrentAttendance(ctx, id)
		return err == nil && len(present) == 0
	})
	if joined := assertAttendance(t, db, id); joined != 4 {
		t.Errorf("%d joins, want 4", joined)
	}
	rows, err := storetest.Attendance(ctx, db, id)
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for _, row := range rows {
		if row.Reason == room.LeftServer {
			lost++
			if row.LeftAt.After(killed.Add(time.Millisecond)) {
				t.Errorf("attendance: got %+v, its end %s after the kill, want an end before the kill", row, row.LeftAt.Sub(killed))
			}
		}
	}
	if lost != 2 {
		t.Errorf("%d left because of the server, want 2: %+v", lost, rows)
	}
}

// Restarts in a crash loop are delayed, and the log, the health report, the metrics and the overview show
// the crash loop.
func TestSupervisor_ReportsCrashLoop(t *testing.T) {
	t.Parallel()
	n := (&service{master: seal.NewKey()}).startNode(t)
	for restarts := range 4 {
		want := "ok"
		if restarts >= 3 {
			want = "crash loop"
		}
		testkit.Eventually(t, fmt.Sprintf("healthy after %d restarts", restarts), func() bool {
			report := n.healthFor(n.s.AdminToken)
			return report["status"] == "ok" && report["restarts"] == fmt.Sprint(restarts) &&
				report["supervisor"] == want
		})
		overview, err := n.get("/api/manage/overview", n.s.AdminToken)
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]bool{"restarted": restarts == 1 || restarts == 2, "crash_loop": restarts >= 3} {
			if got := strings.Contains(overview, `"id":"`+id+`"`); got != want {
				t.Errorf("after %d restarts: got the finding %s %t, want %t: %s", restarts, id, got, want, overview)
			}
		}
		if restarts < 3 {
			n.crash()
			logged := fmt.Sprintf(" restarts=%d ", restarts+1)
			testkit.Eventually(t, "the process has ended", func() bool {
				return strings.Contains(n.Log.String(), logged)
			})
		}
	}
	metrics, err := n.get("/metrics", n.s.AdminToken)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nparley_restarts_total 3\n", "\nparley_crash_loop 1\n"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics: got no %q, want it in:\n%s", want, metrics)
		}
	}
	for _, want := range []string{`status="signal: killed"`, "delay=0s restarts=1 crash_loop=false",
		"delay=250ms restarts=2 crash_loop=false", "delay=500ms restarts=3 crash_loop=true"} {
		if !strings.Contains(n.Log.String(), want) {
			t.Errorf("log: got no %q, want it in:\n%s", want, n.Log)
		}
	}
}

// A renewal of the certificate that went wrong does not turn a crash into an outage: the service starts
// without a certificate, and uses the files as soon as they are correct.
func TestSupervisor_RestartsWithoutCertificate(t *testing.T) {
	t.Parallel()
	good, other := testkit.NewCertificate(t, 1), testkit.NewCertificate(t, 2)
	files := t.TempDir()
	certFile, keyFile := good.Write(t, files)
	metrics := fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t))
	n := &node{t: t, Server: parleytest.Start(t, parleytest.Options{DataDir: t.TempDir(), Args: []string{
		"--tls-cert-file", certFile, "--tls-key-file", keyFile, "--metrics-listen", metrics,
		"--public-url", "https://localhost:8443"}})}
	address := n.logField("listen")
	awaitHTTPS := func() {
		t.Helper()
		testkit.Eventually(t, "a TLS handshake", func() bool {
			conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: good.Pool, ServerName: "localhost"})
			if err == nil {
				_ = conn.Close()
			}
			return err == nil
		})
	}
	awaitHTTPS()
	testkit.Certificate{CertPEM: good.CertPEM, KeyPEM: other.KeyPEM}.Write(t, files)
	n.crash()
	n.url = "http://" + metrics
	testkit.Eventually(t, "the metrics after the crash", func() bool {
		text, err := n.get("/metrics", "")
		return err == nil && strings.Contains(text, "\nparley_restarts_total 1\n") &&
			strings.Contains(text, "\nparley_certificate_expires_seconds 0\n")
	})
	good.Write(t, files)
	awaitHTTPS()
}

// The service opens the port of --metrics-listen when another program gives it up, and again after a crash, because
// the supervisor does not have it.
func TestSupervisor_OpensMetricsLater(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	address := other.Addr().String()
	n := &node{t: t, url: "http://" + address, dir: t.TempDir()}
	n.Server = parleytest.Start(t, parleytest.Options{DataDir: n.dir, Args: []string{"--metrics-listen", address}})
	n.logField("listen")
	found, _ := parleytest.Command(nil, "doctor", "--data-dir", n.dir, "--metrics-listen", address).Output()
	want := "WARNING  port: The server cannot open its ports: --metrics-listen: the address " + address
	if !strings.Contains(string(found), want) {
		t.Errorf("parley doctor: got\n%s\nwant %s", found, want)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	for restarts := range 2 {
		testkit.Eventually(t, fmt.Sprintf("the metrics after %d restarts", restarts), func() bool {
			text, err := n.get("/metrics", "")
			return err == nil && strings.Contains(text, fmt.Sprintf("\nparley_restarts_total %d\n", restarts))
		})
		n.crash()
	}
}

// If the supervisor is killed, the service process ends too and releases its port and its
// lock for the next start.
func TestSupervisor_KilledWithService(t *testing.T) {
	t.Parallel()
	n := (&service{master: seal.NewKey()}).startNode(t)
	child := n.child()
	n.Kill()
	testkit.Eventually(t, "the service process ends", func() bool { return !isRunning(child) })
	l, err := net.Listen("tcp", strings.TrimPrefix(n.url, "http://"))
	if err != nil {
		t.Fatalf("listen on the address of the killed server: got error %v, want none", err)
	}
	_ = l.Close()
	n.start()
}

// The service stops in an orderly way if a service manager signals both processes at once.
func TestSupervisor_StopsWhenBothAreSignaled(t *testing.T) {
	t.Parallel()
	n := (&service{master: seal.NewKey()}).startNode(t)
	child := n.child()
	_ = syscall.Kill(child, syscall.SIGTERM)
	n.stop() // fails the test unless the exit status is 0
	if isRunning(child) {
		t.Error("service process after the stop: got it running, want it ended")
	}
}

// isRunning reports whether a process exists and is not a zombie.
func isRunning(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(raw), ") Z ")
}

// A second start on the same data directory is refused while the server runs. While
// the server stops, the second start waits for the address.
func TestSupervisor_SecondStart(t *testing.T) {
	t.Parallel()
	n := (&service{master: seal.NewKey()}).startNode(t)
	address := strings.TrimPrefix(n.url, "http://")
	second := func() (*exec.Cmd, *bytes.Buffer) {
		var errs bytes.Buffer
		cmd := parleytest.Command(n.environment(), "serve", "--listen", address, "--data-dir", n.dir, "--rtc-udp-port",
			fmt.Sprint(n.udp))
		cmd.Stderr = &errs
		return cmd, &errs
	}
	cmd, errs := second()
	_ = cmd.Run()
	want := fmt.Sprintf("parley: --data-dir: another Parley (process %d) is already running on %s\n",
		n.Cmd.Process.Pid, n.dir)
	if cmd.ProcessState.ExitCode() != 1 || !strings.HasSuffix(errs.String(), want) {
		t.Errorf("exit status %d, %q, want 1, %q", cmd.ProcessState.ExitCode(), errs, want)
	}

	n.delayStop()
	n.Signal(syscall.SIGTERM)
	began := time.Now()
	cmd, errs = second()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	if err := n.Wait(); err != nil {
		t.Errorf("stop the first server: got error %v, want none\n%s", err, n.Log)
	}
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("the stop took %s, want at least 2s, so that the second start waits", took)
	}
	testkit.Eventually(t, "the second server is healthy", func() bool { return n.health()["status"] == "ok" })
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("stop the second server: got error %v, want none\n%s", err, errs)
	}
}
