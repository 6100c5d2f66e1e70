package main

import (
	"context"
	"path/filepath"
	"strings"

	"parley/test/bench/measure"
)

// refuse compares the time of a refusal for an existing key with that for an unknown key,
// because a difference would reveal whether a guessed key exists. It uses one connection, so
// that requests wait only for the server.
func (b *bench) refuse(ctx context.Context) ([]figure, error) {
	p, err := b.startParley(ctx, filepath.Join(b.dir, "refuse"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	known, unknown := p.serverInfo, p.serverInfo
	known.GatewaySecret = "gs_" + strings.Repeat("0", 43)
	unknown.GatewaySecret = known.GatewaySecret
	unknown.APIKey = p.APIKey[:3] + strings.Repeat("0", len(p.APIKey)-3)
	dial := func(name string, h serverInfo) (*measure.Load, error) {
		return measure.Dial(measure.Target{
			Name:    name,
			Address: p.Address,
			CPU:     p.cpu(),
			Request: signedRequest(h, "GET", "/api/v5/keys", nil),
			Status:  "401",
		}, 1)
	}
	a, err := dial("a known key", known)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	u, err := dial("an unknown key", unknown)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	for _, l := range []*measure.Load{a, u} {
		if _, err := l.Slice(ctx, warmUp); err != nil {
			return nil, err
		}
	}
	results, err := measure.Compare(ctx, a, []*measure.Load{u, a}, b.pairs, b.slice)
	if err != nil {
		return nil, err
	}
	const of = "refused read, a known key beside an unknown one, 1 connection"
	ratio, control := results[0].Latency(), results[1].Latency()
	return []figure{
		figure{Of: of, Name: "time to the answer, the unknown's = 1", Value: ratio, Comment: "median"}.
			withOutcome("0.95 to 1.05", isControlValid(ratio)).withControl(control),
		{Of: of, Name: "control, time", Value: control, Comment: "A against A, valid within 0.95 to 1.05"},
	}, p.end()
}
