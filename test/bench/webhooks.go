package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/test/bench/measure"
)

const (
	eventEvery = 10 * time.Millisecond // interval between two rooms
	events     = 500
	backlog    = 20_000
	// gatherTime limits how long the backlog is created; it is less than the timeout of a
	// delivery attempt. drainTime limits how long the backlog is delivered.
	gatherTime = 10 * time.Second
	drainTime  = 10 * time.Second
)

// webhooks measures on both databases the time until an event's first delivery attempt, and
// the rate of deliveries to one fast receiver.
func (b *bench) webhooks(ctx context.Context) ([]figure, error) {
	figures, err := b.deliveries(ctx, "SQLite", "", func(p *parley) measure.CPU { return p.cpu() })
	if err != nil {
		return nil, err
	}
	c, err := startCluster(ctx, b.dir, "webhooks-postgres")
	if err != nil {
		return nil, err
	}
	defer c.end()
	database, err := c.create(ctx, "webhooks")
	if err != nil {
		return nil, err
	}
	more, err := b.deliveries(ctx, "PostgreSQL", database, func(p *parley) measure.CPU {
		return measure.SumCPU(p.cpu(), measure.ProcessTreeCPU(c.pid()))
	})
	return append(figures, more...), err
}

// deliveries measures webhooks on one database. This program is the receiver, so that both
// ends of a duration are read from the same clock.
func (b *bench) deliveries(ctx context.Context, database, url string, cpu func(*parley) measure.CPU) ([]figure, error) {
	r, err := startReceiver()
	if err != nil {
		return nil, err
	}
	defer r.close()
	p, err := b.startParley(ctx, filepath.Join(b.dir, "webhooks-"+database), url, "--webhook-allow", "127.0.0.1")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	if err := p.setWebhookURL(ctx, r.url); err != nil {
		return nil, err
	}
	latencies, err := p.firstAttempts(ctx, database, r)
	if err != nil {
		return nil, err
	}
	rates, err := p.drain(ctx, database, r, cpu(p))
	if err != nil {
		return nil, err
	}
	return append(latencies, rates...), p.end()
}

// setWebhookURL sets the default webhook URL of the project.
func (p *parley) setWebhookURL(ctx context.Context, url string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPatch, "http://"+p.Address+"/api/manage/projects/"+p.ProjectID,
		strings.NewReader(`{"default_webhook_url":"`+url+`"}`))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+p.AdminToken)
	q.Header.Set("Content-Type", "application/json")
	res, err := healthClient.Do(q)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("set the webhook URL: status %s", res.Status)
	}
	return nil
}

// firstAttempts creates rooms one by one and measures the time from each response, which is
// sent when the room and its event are committed, to the arrival of its webhook.
func (p *parley) firstAttempts(ctx context.Context, database string, r *receiver) ([]figure, error) {
	l, err := newRoomLoad("Parley on "+database, p.serverInfo, p.cpu(), 1)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := r.await(ctx, 1, drainTime); err != nil { // of the room that newRoomLoad created
		return nil, err
	}
	respondedAt := map[string]time.Time{}
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	for len(respondedAt) < events {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
		body, err := l.SendOne()
		now := time.Now()
		if err != nil {
			return nil, err
		}
		var created struct {
			RoomID string `json:"room_id"`
		}
		if err := json.Unmarshal(body, &created); err != nil {
			return nil, err
		}
		respondedAt[created.RoomID] = now
	}
	if err := r.await(ctx, 1+events, drainTime); err != nil {
		return nil, err
	}
	arrived := r.collect()
	var waits []time.Duration
	for room, responded := range respondedAt {
		waits = append(waits, arrived[room].Sub(responded))
	}
	slices.Sort(waits)
	of := fmt.Sprintf("webhooks, %s, from the answer to the call to the first attempt, %d events, %d a second",
		database, events, time.Second/eventEvery)
	percentile := func(name string, n int) figure {
		return figure{Of: of, Name: name, Value: millis(waits[n]), Unit: "ms"}
	}
	return []figure{percentile("p50", events/2), percentile("p99", events*99/100)}, nil
}

// drain creates rooms while the receiver blocks its responses, and then measures the time
// until all webhooks of these rooms have arrived.
func (p *parley) drain(ctx context.Context, database string, r *receiver, cpu measure.CPU) ([]figure, error) {
	l, err := newRoomLoad("Parley on "+database, p.serverInfo, cpu, writeConnections)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := r.await(ctx, 1, drainTime); err != nil {
		return nil, err
	}
	r.collect()
	unblock := r.blockResponses()
	defer unblock()
	for until := time.Now().Add(gatherTime - time.Second); l.Sent() < backlog && time.Now().Before(until); {
		if _, err := l.Slice(ctx, time.Second/2); err != nil {
			return nil, err
		}
	}
	waiting := int(l.Sent()) - 1
	before, err := cpu()
	if err != nil {
		return nil, err
	}
	unblock()
	began := time.Now()
	if err := r.await(ctx, waiting, drainTime); err != nil && !errors.Is(err, errLate) {
		return nil, err
	}
	took := time.Since(began)
	after, err := cpu()
	if err != nil {
		return nil, err
	}
	arrived := len(r.collect())
	of := fmt.Sprintf("webhooks, %s, a backlog of one event in each of many rooms, one receiver, 4 at once", database)
	return []figure{{Of: of, Name: "deliveries", Value: float64(arrived) / took.Seconds(), Unit: "/s",
		Comment: fmt.Sprintf("%d of %d in %.1f s, %.0f µs of processor time each", arrived, waiting, took.Seconds(),
			micros((after-before)/time.Duration(arrived)))}}, nil
}
