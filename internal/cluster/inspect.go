package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// MinRedis is the oldest major version of Redis that the service supports.
const MinRedis = 6

// RedisState is what a Redis server says about itself.
type RedisState struct {
	// Version is the version, such as 7.0.15, and Major its first number; 0 if the server does not say it.
	Version string
	Major   int
	// EvictionPolicy is what the server does when its memory is full, such as noeviction. It is empty if
	// its memory is not bounded.
	EvictionPolicy string
	// ClockOffset is how far the clock of the server is ahead of the clock here. It is wrong by at most half
	// of the time that the question took.
	ClockOffset time.Duration
	// Latency is the shortest time of some commands, which the network takes.
	Latency time.Duration
}

const (
	// latencyCommands is the number of commands of which the shortest time counts, so that a busy machine does not
	// matter.
	latencyCommands = 10
	// latencyTime is the time after which there is no further command than minLatencyCommands, so that the first ones are
	// not alone if the machine stops for a moment.
	latencyTime        = time.Second
	minLatencyCommands = 3
)

// InspectRedis asks the Redis server at url about itself. It changes nothing. reached reports whether a node
// could use the server; if so, an error says why the server does not tell its state. Errors do not contain
// the password.
func InspectRedis(ctx context.Context, url string) (state RedisState, reached bool, err error) {
	r, err := Connect(ctx, url, slog.New(slog.DiscardHandler))
	if err != nil {
		return state, false, err
	}
	defer func() { _ = r.Close() }()
	fields := map[string]string{}
	for _, section := range []string{"server", "memory"} { // Redis before version 7 takes one
		info, err := r.client.Info(ctx, section).Result()
		if err != nil {
			return state, true, fmt.Errorf("read the state of Redis: %w", err)
		}
		for line := range strings.Lines(info) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			fields[name] = value
		}
	}
	state.Version = fields["redis_version"]
	major, _, _ := strings.Cut(state.Version, ".")
	state.Major, _ = strconv.Atoi(major)
	if fields["maxmemory"] != "0" {
		state.EvictionPolicy = fields["maxmemory_policy"]
	}
	for began, i := time.Now(), 0; i < minLatencyCommands || i < latencyCommands && time.Since(began) < latencyTime; i++ {
		before := time.Now()
		now, err := r.client.Time(ctx).Result()
		if err != nil {
			return state, true, fmt.Errorf("read the clock of Redis: %w", err)
		}
		if took := time.Since(before); i == 0 || took < state.Latency {
			state.Latency, state.ClockOffset = took, now.Sub(before.Add(took/2))
		}
	}
	return state, true, nil
}
