package network

import (
	"context"
	"errors"
	"net"
	"time"
)

// minAcceptPause and maxAcceptPause bound the pause after an error of a listener, which doubles.
const minAcceptPause, maxAcceptPause = 5 * time.Millisecond, time.Second

// Accept returns the next connection of a listener. As net/http, it waits after an error that passes, such as too many
// open files, and tries again until ctx ends. It calls failed with each such error.
func Accept(ctx context.Context, l net.Listener, failed func(error)) (net.Conn, error) {
	for pause := minAcceptPause; ; pause = min(2*pause, maxAcceptPause) {
		conn, err := l.Accept()
		var passing interface{ Temporary() bool }
		if err == nil || ctx.Err() != nil || !errors.As(err, &passing) || !passing.Temporary() {
			return conn, err
		}
		failed(err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}
