package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// localSocket is the file of a data directory through which commands on this machine ask the running server.
const localSocket = "parley.sock"

// ListenLocal opens the local socket of a data directory, which only the user of the server can use. The caller must
// have locked the data directory.
func ListenLocal(dataDir string) (net.Listener, error) {
	path := filepath.Join(dataDir, localSocket)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return nil, fmt.Errorf("replace the local socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("open the local socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("open the local socket: %w", err)
	}
	return l, nil
}

// DialLocal connects to the server that runs with a data directory.
func DialLocal(ctx context.Context, dataDir string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", filepath.Join(dataDir, localSocket))
}
