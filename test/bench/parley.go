package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"parley/internal/testkit"
	"parley/test/bench/measure"
)

// parley is a running bin/parley serve.
type parley struct {
	*child
	serverInfo
	dataDir     string
	startupTime time.Duration // from exec to the first 200 of /healthz
}

// startParley runs the real program on a data directory and returns when it is healthy. The
// databaseURL is empty for SQLite.
func (b *bench) startParley(ctx context.Context, dataDir, databaseURL string, flags ...string) (*parley, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return b.startParleyAt(ctx, address, dataDir, databaseURL, flags...)
}

// startParleyAt is startParley with the address of the server.
func (b *bench) startParleyAt(
	ctx context.Context, address, dataDir, databaseURL string, flags ...string,
) (*parley, error) {
	udp, err := testkit.PickUDPPort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.binary, "serve", "--data-dir", dataDir, "--listen", address, "--rtc-udp-port",
		strconv.Itoa(udp),
		// The rate limits are off, because all load comes from one address with one key.
		"--no-rate-limits-enabled")
	cmd.Args = append(cmd.Args, flags...)
	cmd.Env = cleanEnviron()
	if databaseURL != "" {
		cmd.Env = append(cmd.Env, "PARLEY_DATABASE_URL="+databaseURL)
	}
	p := &parley{dataDir: dataDir, serverInfo: serverInfo{Address: address}}
	before := time.Now()
	if p.child, err = start(b.dir, "parley", cmd); err != nil {
		return nil, err
	}
	err = p.await(ctx, time.Millisecond, func() bool { return isHealthy(address) })
	p.startupTime = time.Since(before)
	if err == nil {
		err = p.readCredentials()
	}
	if err != nil {
		p.quit()
		return nil, err
	}
	return p, nil
}

// cpu returns the processor time of the supervisor and of the service process.
func (p *parley) cpu() measure.CPU { return measure.ProcessTreeCPU(p.pid()) }

// end stops the server with SIGTERM and returns an error if its exit status is not 0.
func (p *parley) end() error { return p.stop(syscall.SIGTERM) }

// readCredentials reads the credentials from the quick start file, which the first start
// writes to the data directory.
func (p *parley) readCredentials() error {
	raw, err := os.ReadFile(filepath.Join(p.dataDir, "quickstart.json"))
	if err != nil {
		return err
	}
	address := p.Address
	err = json.Unmarshal(raw, &p.serverInfo)
	p.Address = address
	return err
}

var healthClient = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func isHealthy(address string) bool {
	res, err := healthClient.Get("http://" + address + "/healthz")
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// freeAddress returns a loopback address with a TCP port that was free a moment ago.
func freeAddress() (string, error) {
	port, err := testkit.PickTCPPort()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}
