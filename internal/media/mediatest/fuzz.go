package mediatest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"parley/internal/room"
)

// Fuzzer attacks one session of a server from outside, as guests that may publish. The seed
// and the number of the round determine all inputs, but not their timing. Its methods may
// run concurrently, each in one goroutine.
type Fuzzer struct {
	// BaseURL of the server.
	BaseURL string
	// Type of the session.
	Type room.Type
	// Token returns the media token of a new guest.
	Token func(context.Context) (string, error)
	// Seed of all random choices.
	Seed uint64
	// RequestsPerSecond is the rate of the signal requests of one connection. It is below
	// the server's limit, so that the requests reach its parsers.
	RequestsPerSecond int
	// PacketsPerSecond is the rate of the packets of one connection.
	PacketsPerSecond int

	// Packets counts the RTP, RTCP and SCTP packets and the data messages that were sent.
	// Requests counts the signal requests and join requests.
	Packets, Requests atomic.Int64
	// Connections counts the connections that were accepted. Refused counts the rounds
	// whose guest was refused, or disconnected before it had sent everything.
	Connections, Refused atomic.Int64
}

// String returns the counts and the seed.
func (f *Fuzzer) String() string {
	return fmt.Sprintf("%s room: %d packets, %d requests, %d connections, %d refused or disconnected, seed %d", f.Type,
		f.Packets.Load(), f.Requests.Load(), f.Connections.Load(), f.Refused.Load(), f.Seed)
}

// Each attack has its own stream of random numbers.
const (
	mediaStream uint64 = iota << 32
	signalStream
	sctpStream
)

func (f *Fuzzer) newRand(stream uint64, round int) *rand.Rand {
	return rand.New(rand.NewPCG(f.Seed, stream+uint64(round)))
}

// ErrUnreachable is the error of an attack when the server no longer answers.
var ErrUnreachable = errors.New("mediatest: the server does not answer")

// connectError is the error of a guest that could not connect.
type connectError struct{ error }

func (e connectError) Unwrap() error { return e.error }

// runRounds runs rounds until ctx ends. Failed rounds are expected, because the server
// defends itself. It returns ErrUnreachable if no guest can connect in 20 rounds in a row.
func (f *Fuzzer) runRounds(ctx context.Context, round func(ctx context.Context, n int) error) error {
	failures := 0
	for n := 0; ctx.Err() == nil; n++ {
		err := round(ctx, n)
		if err == nil {
			failures = 0
			continue
		}
		f.Refused.Add(1)
		if failed := (connectError{}); !errors.As(err, &failed) {
			failures = 0
		} else if failures++; failures >= 20 && ctx.Err() == nil {
			return fmt.Errorf("%w: round %d, seed %d: %w", ErrUnreachable, n, f.Seed, err)
		}
		sleepContext(ctx, 50*time.Millisecond)
	}
	return nil
}

// sleepContext returns after d or when ctx ends.
func sleepContext(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// pacer limits a loop to perSecond steps per second.
type pacer struct {
	start     time.Time
	steps     int
	perSecond int
}

func newPacer(perSecond int) *pacer { return &pacer{start: time.Now(), perSecond: max(perSecond, 1)} }

func (p *pacer) wait(ctx context.Context) {
	p.steps++
	due := p.start.Add(time.Duration(p.steps) * time.Second / time.Duration(p.perSecond))
	if wait := time.Until(due); wait > 5*time.Millisecond {
		sleepContext(ctx, wait)
	}
}

// dialNewGuest connects a new guest.
func (f *Fuzzer) dialNewGuest(ctx context.Context, options RawOptions) (*Raw, error) {
	token, err := f.Token(ctx)
	if err != nil {
		return nil, connectError{err}
	}
	return f.dial(ctx, token, options)
}

func (f *Fuzzer) dial(ctx context.Context, token string, options RawOptions) (*Raw, error) {
	r, err := Dial(ctx, f.BaseURL, token, options)
	if err != nil {
		return nil, connectError{err}
	}
	f.Connections.Add(1)
	return r, nil
}

func randomBytes(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// mutate returns the data with one to four changes.
func mutate(rnd *rand.Rand, data []byte) []byte {
	data = slices.Clone(data)
	for range 1 + rnd.IntN(4) {
		if len(data) == 0 {
			return randomBytes(rnd, rnd.IntN(8))
		}
		index := rnd.IntN(len(data))
		switch rnd.IntN(6) {
		case 0:
			data[index] ^= 1 << rnd.IntN(8)
		case 1:
			data[index] = byte(rnd.Uint32())
		case 2:
			data = data[:index]
		case 3:
			data = slices.Insert(data, index, randomBytes(rnd, 1+rnd.IntN(4))...)
		case 4:
			data = slices.Delete(data, index, min(index+1+rnd.IntN(4), len(data)))
		case 5:
			data[index] = pick(rnd, []byte{0, 1, 0x7f, 0x80, 0xff})
		}
	}
	return data
}

func pick[T any](rnd *rand.Rand, from []T) T { return from[rnd.IntN(len(from))] }

func oneChanceIn(rnd *rand.Rand, oneIn int) bool { return rnd.IntN(oneIn) == 0 }
