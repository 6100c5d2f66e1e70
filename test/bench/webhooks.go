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
	eventEvery = 10 * time.Millisecond // rooms made one by one
	events     = 500
	backlog    = 20_000
	// Bounds on how long the backlog is gathered, which is less than what an
	// attempt may take, and on how long it is then drained.
	gatherTime = 10 * time.Second
	drainTime  = 10 * time.Second
)

// webhooks measures, on both databases, how soon an event's first attempt
// arrives, and how many deliveries a second one fast receiver gets.
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

// deliveries measures on one database. The receiver is this program, so that
// both ends of a time are read from one clock.
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
	soon, err := p.firstAttempts(ctx, database, r)
	if err != nil {
		return nil, err
	}
	many, err := p.drain(ctx, database, r, cpu(p))
	if err != nil {
		return nil, err
	}
	return append(soon, many...), p.end()
}

// setWebhookURL makes a URL the target of everything in the project.
func (p *parley) setWebhookURL(ctx context.Context, url string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPatch, "http://"+p.Address+"/api/manage/projects/"+p.ProjectID,
		strings.NewReader(`{"default_webhook_url":"`+url+`"}`))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+p.AdminToken)
	q.Header.Set("Content-Type", "application/json")
	answer, err := healthClient.Do(q)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("setting the target was answered with %s", answer.Status)
	}
	return nil
}

// firstAttempts makes rooms one by one and takes the time from each answer,
// which comes when the room and its event are committed, to the arrival of its
// webhook.
func (p *parley) firstAttempts(ctx context.Context, database string, r *receiver) ([]figure, error) {
	l, err := newRoomLoad("Parley on "+database, p.serverInfo, p.cpu(), 1)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := r.await(ctx, 1, drainTime); err != nil { // that of the room which was made to try
		return nil, err
	}
	answered := map[string]time.Time{}
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	for len(answered) < events {
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
		var made struct {
			RoomID string `json:"room_id"`
		}
		if err := json.Unmarshal(body, &made); err != nil {
			return nil, err
		}
		answered[made.RoomID] = now
	}
	if err := r.await(ctx, 1+events, drainTime); err != nil {
		return nil, err
	}
	arrived := r.collect()
	var waits []time.Duration
	for room, at := range answered {
		waits = append(waits, arrived[room].Sub(at))
	}
	slices.Sort(waits)
	of := fmt.Sprintf("webhooks, %s, from the answer to the call to the first attempt, %d events, %d a second", database, events, time.Second/eventEvery)
	at := func(name string, n int) figure {
		return figure{Of: of, Name: name, Value: millis(waits[n]), Unit: "ms"}
	}
	return []figure{at("p50", events/2), at("p99", events*99/100)}, nil
}

// drain has rooms made while the receiver keeps its callers waiting, and then
// takes the time until all of their webhooks have come.
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
	goOn := r.blockResponses()
	defer goOn()
	for until := time.Now().Add(gatherTime - time.Second); l.Sent() < backlog && time.Now().Before(until); {
		if _, err := l.Slice(ctx, time.Second/4); err != nil {
			return nil, err
		}
	}
	waiting := int(l.Sent()) - 1
	before, err := cpu()
	if err != nil {
		return nil, err
	}
	goOn()
	began := time.Now()
	if err := r.await(ctx, waiting, drainTime); err != nil && !errors.Is(err, errLate) {
		return nil, err
	}
	took := time.Since(began)
	after, err := cpu()
	if err != nil {
		return nil, err
	}
	came := len(r.collect())
	of := fmt.Sprintf("webhooks, %s, a backlog of one event in each of many rooms, one receiver, 4 at once", database)
	return []figure{{Of: of, Name: "deliveries", Value: float64(came) / took.Seconds(), Unit: "/s",
		Comment: fmt.Sprintf("%d of %d in %.1f s, %.0f µs of processor time each", came, waiting, took.Seconds(), micros((after-before)/time.Duration(came)))}}, nil
}
