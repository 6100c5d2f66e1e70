package measure

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Target is a server under load.
type Target struct {
	Name    string
	Address string // host:port
	// CPU returns the processor time used so far by all processes of this server,
	// including its database.
	CPU CPU
	// Request appends the n-th request, a whole HTTP/1.1 message. Each call gets a
	// different n.
	Request func(to []byte, n uint64) []byte
	// Status is the expected status of every response; empty means 200.
	Status string
}

// Load consists of connections that each send a request, wait for its response and send the
// next (closed loop).
type Load struct {
	target Target
	conns  []*conn
	sent   atomic.Uint64
}

// responseTimeout is the time after the end of a slice in which the outstanding responses
// have to arrive.
const responseTimeout = 10 * time.Second

// PauseAfterSlice is a pause after each slice, so that the work that a server does after its
// last response counts for that slice. It must be longer than the intervals in which servers
// store what they have recorded for each request.
const PauseAfterSlice = 400 * time.Millisecond

// Dial opens the connections. They stay open from slice to slice.
func Dial(target Target, connections int) (*Load, error) {
	l := &Load{target: target}
	for range connections {
		c, err := dial(target.Address, cmp.Or(target.Status, "200"))
		if err != nil {
			l.Close()
			return nil, fmt.Errorf("%s: %w", target.Name, err)
		}
		l.conns = append(l.conns, c)
	}
	return l, nil
}

// Connections returns the number of connections.
func (l *Load) Connections() int { return len(l.conns) }

// Close closes the connections.
func (l *Load) Close() {
	for _, c := range l.conns {
		_ = c.Close()
	}
}

// Sent returns the number of requests that have been sent. After a slice without an error, all
// of them got a response with the expected status.
func (l *Load) Sent() uint64 { return l.sent.Load() }

// SendOne sends one request and returns the body of the response.
func (l *Load) SendOne() ([]byte, error) {
	c := l.conns[0]
	if err := c.SetDeadline(time.Now().Add(responseTimeout)); err != nil {
		return nil, err
	}
	c.out = l.target.Request(c.out[:0], l.sent.Add(1))
	body, err := c.exchange()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.target.Name, err)
	}
	return body, nil
}

// Slice contains the results of one slice of load.
type Slice struct {
	Requests int
	Elapsed  time.Duration
	CPU      time.Duration
	P50, P99 time.Duration
}

// PerSecond returns the number of responses per second.
func (s Slice) PerSecond() float64 { return float64(s.Requests) / s.Elapsed.Seconds() }

// CPUPerRequest returns the server's processor time per request.
func (s Slice) CPUPerRequest() time.Duration { return s.CPU / time.Duration(s.Requests) }

// Slice loads the server for the given time, then waits for the outstanding responses, and for
// PauseAfterSlice. It returns an error if a response has another status than the target's.
func (l *Load) Slice(ctx context.Context, length time.Duration) (Slice, error) {
	if err := ctx.Err(); err != nil {
		return Slice{}, err
	}
	interrupted := context.AfterFunc(ctx, func() {
		for _, c := range l.conns {
			_ = c.SetDeadline(time.Unix(1, 0))
		}
	})
	defer interrupted()
	before, err := l.target.CPU()
	if err != nil {
		return Slice{}, err
	}
	start := time.Now()
	errs := make([]error, len(l.conns))
	var work sync.WaitGroup
	for i, c := range l.conns {
		work.Go(func() { errs[i] = l.drive(c, start, start.Add(length)) })
	}
	work.Wait()
	s := Slice{Elapsed: time.Since(start)}
	for _, err := range errs {
		if err != nil {
			return Slice{}, fmt.Errorf("%s: %w", l.target.Name, cmp.Or(ctx.Err(), err))
		}
	}
	time.Sleep(PauseAfterSlice)
	after, err := l.target.CPU()
	if err != nil {
		return Slice{}, err
	}
	s.CPU = after - before
	var all []time.Duration
	for _, c := range l.conns {
		all = append(all, c.latencies...)
	}
	s.Requests, s.P50, s.P99 = len(all), percentile(all, 0.5), percentile(all, 0.99)
	return s, nil
}

func (l *Load) drive(c *conn, start, end time.Time) error {
	c.latencies = c.latencies[:0]
	if err := c.SetDeadline(end.Add(responseTimeout)); err != nil {
		return err
	}
	for now := start; now.Before(end); {
		c.out = l.target.Request(c.out[:0], l.sent.Add(1))
		sent := time.Now()
		if _, err := c.exchange(); err != nil {
			return err
		}
		now = time.Now()
		c.latencies = append(c.latencies, now.Sub(sent))
	}
	return nil
}
