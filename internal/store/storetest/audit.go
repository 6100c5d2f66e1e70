package storetest

import (
	"context"
	"math"
	"testing"

	"parley/internal/audit"
)

func (s *suite) testAudit(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	chain, newest, err := db.AuditChain(ctx)
	requireEqual(t, chain, err, audit.Chain{})
	requireEqual(t, newest, nil, 0)
	var all []audit.Entry
	for i, text := range trickyTexts {
		e := audit.Entry{
			N:  int64(i + 1),
			At: testTime(i),
			Origin: audit.Origin{
				Kind:      audit.KindToken,
				ActorID:   text,
				ActorName: text,
				RequestID: text,
				Address:   text,
				Node:      text,
			},
			Action:    audit.Action(text),
			Subject:   text,
			ProjectID: text,
			Before:    text,
			After:     text,
			PrevHash:  text,
			Hash:      NewID(),
		}
		err := db.Write(ctx, func(ctx context.Context) error {
			chain, err := db.LockAuditChain(ctx)
			requireEqual(t, chain.N, err, int64(i))
			return db.AppendAuditEntry(ctx, e)
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	got, err := db.AuditEntriesAfter(ctx, math.MinInt64, 100)
	requireEqual(t, got, err, all)
	got, err = db.AuditEntriesAfter(ctx, 2, 2)
	requireEqual(t, got, err, all[2:4])
	got, err = db.AuditEntries(ctx, audit.Query{Limit: 2, BelowN: 4, Since: testTime(2)})
	requireEqual(t, got, err, all[2:3])
	got, err = db.AuditEntries(ctx, audit.Query{Limit: 9, Since: testTime(1), Before: testTime(3)})
	requireEqual(t, got, err, []audit.Entry{all[2], all[1]})
	got, err = db.AuditEntries(ctx, audit.Query{Limit: 2, ProjectID: trickyTexts[1], Before: testTime(1)})
	requireEqual(t, got, err, nil)
	got, err = db.AuditEntries(ctx, audit.Query{Limit: 2, ProjectID: trickyTexts[1]})
	requireEqual(t, got, err, all[1:2])

	if err := db.Write(ctx, func(ctx context.Context) error { return db.PruneAuditEntries(ctx, all[1]) }); err != nil {
		t.Fatal(err)
	}
	got, err = db.AuditEntriesAfter(ctx, math.MinInt64, 100)
	requireEqual(t, got, err, all[2:])
	last := all[len(all)-1]
	chain, newest, err = db.AuditChain(ctx)
	requireEqual(t, chain, err, audit.Chain{N: last.N, Hash: last.Hash, PrunedN: 2, PrunedHash: all[1].Hash})
	requireEqual(t, newest, nil, last.N)

	if _, err := db.LockAuditChain(ctx); err == nil {
		t.Error("a lock outside a transaction: got no error, want one")
	}
	last.N--
	requireConstraintError(t, db.Write(ctx, func(ctx context.Context) error { return db.AppendAuditEntry(ctx, last) }))
}
