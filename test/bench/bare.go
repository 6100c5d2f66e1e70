package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"parley/test/bench/measure"
)

// serverInfo is the JSON that a server of this program prints when it listens.
type serverInfo struct {
	Address string `json:"address"`
	// The credentials are empty if the server is not Parley.
	OrganizationID string `json:"organization_id,omitempty"`
	ProjectID      string `json:"project_id,omitempty"`
	APIKey         string `json:"api_key,omitempty"`
	GatewaySecret  string `json:"gateway_secret,omitempty"`
	AdminToken     string `json:"admin_token,omitempty"`
}

// serveBare serves the baseline with net/http alone. It reads the body and writes a constant
// response: 300 bytes for a GET, and otherwise one of the size of a room creation.
func serveBare(string) error {
	read := []byte(`{"keys":"` + strings.Repeat("0", 288) + `"}` + "\n")
	const created = `{"final_link":"http://127.0.0.1:8080/r/019a0000-0000-7000-8000-000000000000#t=` +
		`AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",` +
		`"room_id":"019a0000-0000-7000-8000-000000000000",` +
		`"status":true}` + "\n"
	creation := []byte(created)
	return announce(serverInfo{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = w.Write(read)
			return
		}
		_, _ = w.Write(creation)
	}))
}

// bareServer is a running bare server with connections to it.
type bareServer struct {
	*child
	load *measure.Load
}

// startBare starts a bare server and opens connections to it, which send what request appends.
func (b *bench) startBare(request func(to []byte, n uint64) []byte, connections int) (*bareServer, error) {
	var h serverInfo
	c, err := startSelf(b.dir, roleBare, "", &h)
	if err != nil {
		return nil, err
	}
	l, err := measure.Dial(measure.Target{Name: "the bare server", Address: h.Address,
		CPU: measure.ProcessCPU(c.pid()), Request: request}, connections)
	if err != nil {
		c.quit()
		return nil, err
	}
	return &bareServer{child: c, load: l}, nil
}

// quit closes the connections and stops the server.
func (s *bareServer) quit() {
	s.load.Close()
	s.child.quit()
}

// announce serves on a free loopback port and prints its address.
func announce(h serverInfo, handler http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h.Address = l.Addr().String()
	if err := json.NewEncoder(os.Stdout).Encode(h); err != nil {
		return err
	}
	return http.Serve(l, handler)
}
