package audit_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// start is the time of the first entry.
var start = time.UnixMilli(1_780_000_000_123).UTC()

// origin has a value in every field.
var origin = audit.Origin{
	Kind:      audit.KindToken,
	ActorID:   "token-id",
	ActorName: "O'Brien 𝄞",
	RequestID: "req_1",
	Address:   "2001:db8::1",
	Node:      "node",
}

// record records n changes, one per transaction and hour.
func record(t testing.TB, db *store.DB, n int) {
	t.Helper()
	ctx := audit.WithOrigin(context.Background(), origin)
	for i := range n {
		err := db.Write(ctx, func(ctx context.Context) error {
			return audit.Record(ctx, db, start.Add(time.Duration(i)*time.Hour), audit.Change{
				Action:    audit.ProjectChanged,
				Subject:   fmt.Sprint("subject ", i),
				ProjectID: fmt.Sprint("project ", i%2),
				Before:    audit.Fields{"name": "a", "same": 1},
				After:     audit.Fields{"name": "<b> & \u2028", "same": 1},
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func newService(s audit.Store) *audit.Service {
	return audit.NewService(s, func() time.Time { return start.AddDate(2, 0, 0) })
}

// verify returns the report, and the sentence about the problem if there is one.
func verify(t testing.TB, db *store.DB) (r audit.Report, problem string) {
	t.Helper()
	r, err := newService(db).Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Problem != nil {
		problem = r.Problem.String()
	}
	return r, problem
}

func exec(t testing.TB, raw *sql.DB, statements ...string) {
	t.Helper()
	for _, q := range statements {
		if _, err := raw.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

func TestRecord_OnlyWithOriginAndDifference(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	for name, tc := range map[string]struct {
		ctx           context.Context
		before, after audit.Fields
	}{
		"no origin": {context.Background(), nil, audit.Fields{"name": "a"}},
		"no difference": {audit.WithOrigin(context.Background(), origin),
			audit.Fields{"list": []string{"a"}, "none": nil}, audit.Fields{"list": []string{"a"}}},
	} {
		err := db.Write(tc.ctx, func(ctx context.Context) error {
			return audit.Record(ctx, db, start, audit.Change{Action: audit.ProjectChanged, Before: tc.before, After: tc.after})
		})
		if r, _ := verify(t, db); err != nil || r.N != 0 {
			t.Errorf("%s: got %d entries, %v, want none", name, r.N, err)
		}
	}
	ctx := audit.WithOrigin(context.Background(), origin)
	if err := audit.Record(ctx, db, start, audit.Change{After: audit.Fields{"name": "a"}}); err == nil {
		t.Error("a record outside a transaction succeeded, want an error")
	}
}

// A change that is rolled back leaves no entry and no gap, also if it shares a
// transaction with others.
func TestRecord_RolledBackWithChange(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		db := p.Open(t)
		ctx := audit.WithOrigin(context.Background(), origin)
		errWork := errors.New("work failed")
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				err := db.Write(ctx, func(ctx context.Context) error {
					err := audit.Record(ctx, db, start, audit.Change{Subject: fmt.Sprint(i), After: audit.Fields{"i": i}})
					if err == nil && i%2 == 1 {
						err = errWork
					}
					return err
				})
				if i%2 == 0 && err != nil || i%2 == 1 && err != errWork {
					t.Errorf("change %d: got %v", i, err)
				}
			})
		}
		wg.Wait()
		if r, problem := verify(t, db); problem != "" || r.Rows != 20 || r.N != 20 {
			t.Errorf("got %+v, problem %q, want 20 entries", r, problem)
		}
	})
}

// Two nodes record changes at the same time as they lock other rows in any order. The
// numbers have no gaps, and each change is recorded once.
func TestRecord_OnTwoNodes(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	nodes := []*store.DB{storetest.Open(t, url, ""), storetest.Open(t, url, "")}
	projects := []string{storetest.Project(t, nodes[0]).ID, storetest.Project(t, nodes[0]).ID}
	ctx := audit.WithOrigin(context.Background(), origin)
	const writers, rounds = 16, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			db := nodes[w%2]
			for i := range rounds {
				err := db.Write(ctx, func(ctx context.Context) error {
					if err := db.LockProject(ctx, projects[(w/2+i)%2]); err != nil || w%4 == 3 {
						return err // a quarter of the writers only lock
					}
					return audit.Record(ctx, db, time.Now(), audit.Change{Subject: fmt.Sprint(w, " ", i),
						After: audit.Fields{"w": w, "i": i}})
				})
				if err != nil {
					t.Errorf("writer %d, round %d: %v", w, i, err)
				}
			}
		})
	}
	wg.Wait()
	const want = writers * rounds * 3 / 4
	if r, problem := verify(t, nodes[0]); problem != "" || r.Rows != want {
		t.Errorf("got %+v, problem %q, want %d entries", r, problem, want)
	}
	entries, err := nodes[0].AuditEntriesAfter(ctx, 0, want+1)
	if err != nil {
		t.Fatal(err)
	}
	subjects := map[string]bool{}
	for i, e := range entries {
		subjects[e.Subject] = true
		if e.N != int64(i+1) {
			t.Fatalf("the entry at position %d: got the number %d, want %[1]d", i+1, e.N)
		}
	}
	if len(subjects) != want {
		t.Errorf("got %d subjects, want %d", len(subjects), want)
	}
}

// Verify names the entry for each way to change one, in every column.
func TestVerify_ChangedColumn(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		db, raw := p.Open(t), p.Raw(t)
		record(t, db, 5)
		if r, problem := verify(t, db); problem != "" || r.Rows != 5 || r.N != 5 || len(r.Hash) != 64 {
			t.Fatalf("before the changes: got %+v, problem %q, want 5 intact entries", r, problem)
		}
		rows, err := raw.Query(`SELECT * FROM audit WHERE n = 3`)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if closeErr := rows.Close(); err != nil || closeErr != nil || len(columns) < 15 {
			t.Fatalf("got columns %v, %v, %v, want at least 15", columns, err, closeErr)
		}
		for _, column := range columns {
			value, want := column+` || 'x'`, "entry 3 was changed"
			switch column {
			case "n":
				value, want = `n + 100`, "entry 3 was removed"
			case "at":
				value = `at + 1`
			case "actor_kind":
				value = `'service'`
			}
			exec(t, raw, `CREATE TABLE kept AS SELECT * FROM audit WHERE n = 3`,
				`UPDATE audit SET `+column+` = `+value+` WHERE n = 3`)
			if r, problem := verify(t, db); problem != want || r.Rows != 2 {
				t.Errorf("%s: got %d intact entries and the problem %q, want 2 and %q", column, r.Rows, problem, want)
			}
			exec(t, raw, `DELETE FROM audit WHERE n IN (3, 103)`, `INSERT INTO audit SELECT * FROM kept`, `DROP TABLE kept`)
		}
		if r, problem := verify(t, db); problem != "" || r.Rows != 5 {
			t.Errorf("after the changes: got %+v, problem %q, want 5 intact entries", r, problem)
		}
	})
}

func TestVerify_ChangedChain(t *testing.T) {
	const copied = `at, actor_kind, actor_id, actor_name, request_id, address, node, action, subject, project_id, before,
		after, prev_hash, hash FROM audit WHERE n = `
	for name, tc := range map[string]struct {
		change []string
		want   string
	}{
		"first removed":  {[]string{`DELETE FROM audit WHERE n = 1`}, "entry 1 was removed"},
		"middle removed": {[]string{`DELETE FROM audit WHERE n IN (3, 4)`}, "entry 3 was removed"},
		"removed and renumbered": {[]string{`DELETE FROM audit WHERE n = 3`, `UPDATE audit SET n = 3 WHERE n = 4`,
			`UPDATE audit SET n = 4 WHERE n = 5`, `UPDATE audit_chain SET n = 4`}, "entry 3 was moved from another position"},
		"last removed": {[]string{`DELETE FROM audit WHERE n = 5`}, "the entries from 5 on were cut off"},
		"all removed":  {[]string{`DELETE FROM audit`}, "the entries from 1 on were cut off"},
		"last removed, and the chain shortened": {[]string{`DELETE FROM audit WHERE n = 5`, `UPDATE audit_chain SET n = 4`},
			"entry 4 or the one before it was replaced"},
		"swapped": {[]string{`UPDATE audit SET n = 100 WHERE n = 2`, `UPDATE audit SET n = 2 WHERE n = 4`,
			`UPDATE audit SET n = 4 WHERE n = 100`}, "entry 2 was moved from another position"},
		"appended":         {[]string{`INSERT INTO audit SELECT 6, ` + copied + `5`}, "entry 6 was inserted"},
		"prepended":        {[]string{`INSERT INTO audit SELECT 0, ` + copied + `1`}, "entry 0 was inserted"},
		"negative number":  {[]string{`INSERT INTO audit SELECT -7, ` + copied + `1`}, "entry -7 was inserted"},
		"chain lengthened": {[]string{`UPDATE audit_chain SET n = 9000000000000000000`}, "the entries from 6 on were cut off"},
		"hash of the chain": {[]string{`UPDATE audit_chain SET hash = prev_hash FROM audit WHERE audit.n = 2`},
			"entry 5 or the one before it was replaced"},
		"hash of the anchor": {[]string{`UPDATE audit_chain SET pruned_hash = 'x'`}, "entry 1 or the one before it was replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
				db := p.Open(t)
				record(t, db, 5)
				exec(t, p.Raw(t), tc.change...)
				if _, problem := verify(t, db); problem != tc.want {
					t.Errorf("got %q, want %q", problem, tc.want)
				}
			})
		})
	}
}

// An entry that was replaced together with its hash breaks the link of the next one.
func TestVerify_ReplacedWithNewHash(t *testing.T) {
	t.Parallel()
	p := storetest.Database{Dir: t.TempDir()}
	db := p.Open(t)
	record(t, db, 3)
	// The same entry by another actor, recorded in a database of its own.
	other := storetest.Database{Dir: t.TempDir()}
	forged := other.Open(t)
	record(t, forged, 1)
	second := audit.WithOrigin(context.Background(), audit.Origin{Kind: audit.KindLocal, ActorName: "mallory"})
	if err := forged.Write(second, func(ctx context.Context) error {
		return audit.Record(ctx, forged, start.Add(time.Hour), audit.Change{After: audit.Fields{"name": "b"}})
	}); err != nil {
		t.Fatal(err)
	}
	exec(t, p.Raw(t), `ATTACH DATABASE '`+other.File()+`' AS other; DELETE FROM audit WHERE n = 2;
		INSERT INTO audit SELECT * FROM other.audit WHERE n = 2`)
	if r, problem := verify(t, db); problem != "entry 3 or the one before it was replaced" || r.Rows != 2 {
		t.Errorf("got %+v, problem %q, want that entry 3 or the one before it was replaced", r, problem)
	}
}

func TestService_List(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		db := p.Open(t)
		record(t, db, 7)
		for name, tc := range map[string]struct {
			query audit.Query
			want  []int64
			next  int64
		}{
			"all":               {audit.Query{Limit: 100}, []int64{7, 6, 5, 4, 3, 2, 1}, 0},
			"first page":        {audit.Query{Limit: 3}, []int64{7, 6, 5}, 5},
			"second page":       {audit.Query{Limit: 3, BelowN: 5}, []int64{4, 3, 2}, 2},
			"last page":         {audit.Query{Limit: 3, BelowN: 2}, []int64{1}, 0},
			"since":             {audit.Query{Limit: 3, Since: start.Add(5 * time.Hour)}, []int64{7, 6}, 0},
			"since, page":       {audit.Query{Limit: 1, Since: start.Add(5 * time.Hour), BelowN: 7}, []int64{6}, 0},
			"since the future":  {audit.Query{Limit: 3, Since: start.Add(7 * time.Hour)}, nil, 0},
			"project":           {audit.Query{Limit: 2, ProjectID: "project 1"}, []int64{6, 4}, 4},
			"project and since": {audit.Query{Limit: 9, ProjectID: "project 0", Since: start.Add(time.Hour)}, []int64{7, 5, 3}, 0},
			"unknown project":   {audit.Query{Limit: 2, ProjectID: "none"}, nil, 0},
			"subject":           {audit.Query{Limit: 2, Subject: "subject 3"}, []int64{4}, 0},
			"unknown subject":   {audit.Query{Limit: 2, Subject: "subject"}, nil, 0},
			"action":            {audit.Query{Limit: 6, Action: audit.ProjectChanged}, []int64{7, 6, 5, 4, 3, 2}, 2},
			"action, last page": {audit.Query{Limit: 6, Action: audit.ProjectChanged, BelowN: 2}, []int64{1}, 0},
			"another action":    {audit.Query{Limit: 6, Action: audit.ProjectCreated}, nil, 0},
			"name of the actor": {audit.Query{Limit: 1, Actor: origin.ActorName, BelowN: 2}, []int64{1}, 0},
			"ID of the actor":   {audit.Query{Limit: 9, Actor: origin.ActorID, ProjectID: "project 1"}, []int64{6, 4, 2}, 0},
			"another actor":     {audit.Query{Limit: 9, Actor: string(origin.Kind)}, nil, 0},
		} {
			entries, next, err := newService(db).List(t.Context(), tc.query)
			var got []int64
			for _, e := range entries {
				got = append(got, e.N)
			}
			if err != nil || !slices.Equal(got, tc.want) || next != tc.next {
				t.Errorf("%s: got %v, next %d, %v, want %v, %d", name, got, next, err, tc.want, tc.next)
			}
		}
		first, _, err := newService(db).List(t.Context(), audit.Query{Limit: 1, BelowN: 2})
		if err != nil {
			t.Fatal(err)
		}
		e := first[0]
		if e.At != start || e.Origin != origin || e.Action != audit.ProjectChanged || e.Subject != "subject 0" ||
			e.ProjectID != "project 0" || e.Before != `{"name":"a"}` || e.PrevHash != "" {
			t.Errorf("got %+v, want the first change as it was recorded", e)
		}
		if _, _, err := newService(db).List(t.Context(), audit.Query{Limit: 101}); err == nil ||
			err.Error() != "limit must be between 1 and 100, not 101" {
			t.Errorf("limit 101: got %v", err)
		}
	})
}

// TestService_ListSearchesPageByPage finds one of many entries. Each page reads a bounded number of them.
func TestService_ListSearchesPageByPage(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		db := p.Open(t)
		record(t, db, 1010)
		q := audit.Query{Limit: 10, Subject: "subject 0"}
		page, next, err := newService(db).List(t.Context(), q)
		if err != nil || len(page) != 0 || next != 11 {
			t.Fatalf("first page: got %v, next %d, %v, want none and 11", page, next, err)
		}
		q.BelowN = next
		page, next, err = newService(db).List(t.Context(), q)
		if err != nil || len(page) != 1 || page[0].N != 1 || next != 0 {
			t.Errorf("second page: got %v, next %d, %v, want the first entry", page, next, err)
		}
	})
}

// observedWrites is a store that calls a function at the end of each transaction with the time of its beginning.
type observedWrites struct {
	*store.DB
	ended func(began time.Time)
}

func (s observedWrites) Write(ctx context.Context, work func(ctx context.Context) error) error {
	began := time.Now()
	err := s.DB.Write(ctx, work)
	s.ended(began)
	return err
}

// Prune leaves the database to others after each transaction, for four times as long as it took. It ends early if the
// server stops.
func TestService_PrunePauses(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	const entries, transactions = 1010, 3
	record(t, db, entries)
	before := start.Add(entries * time.Hour)
	ctx, stop := context.WithCancel(t.Context())
	service := newService(observedWrites{db, func(time.Time) { stop() }})
	if err := service.Prune(ctx, before); !errors.Is(err, context.Canceled) {
		t.Errorf("a server that stops during the first pause: got %v, want %v", err, context.Canceled)
	}
	record(t, db, entries/2)
	n, last, least := 0, time.Time{}, time.Duration(0) // transactions, end of the last one, pause that it needs
	service = newService(observedWrites{db, func(began time.Time) {
		if n++; n > 1 && began.Sub(last) < least {
			t.Errorf("pause before transaction %d: got %s, want at least %s", n, began.Sub(last), least)
		}
		last = time.Now()
		least = 4 * last.Sub(began)
	}})
	if err := service.Prune(t.Context(), before); err != nil || n != transactions {
		t.Errorf("got %d transactions, %v, want %d", n, err, transactions)
	}
}

// Prune deletes the old entries in batches and records that. The rest can be verified,
// and a deletion by somebody else is still found.
func TestService_Prune(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		db := p.Open(t)
		record(t, db, 1010) // more than two batches
		ctx := audit.WithOrigin(context.Background(), audit.Origin{Kind: audit.KindService, Node: "node"})
		service := newService(db)
		if err := service.Prune(ctx, start); err != nil {
			t.Fatal(err)
		}
		if r, problem := verify(t, db); r.Rows != 1010 || problem != "" {
			t.Fatalf("nothing to prune: got %+v, problem %q, want 1010 entries", r, problem)
		}
		if err := service.Prune(ctx, start.Add(1005*time.Hour)); err != nil {
			t.Fatal(err)
		}
		entries, err := db.AuditEntriesAfter(ctx, 0, 100)
		if err != nil || len(entries) != 8 || entries[0].N != 1006 || entries[7].N != 1013 {
			t.Fatalf("got %+v, %v, want five old entries and three about the deletion", entries, err)
		}
		if last := entries[7]; last.Action != audit.AuditPruned || last.Before != `{"first":1001,"last":1005}` ||
			last.Kind != audit.KindService {
			t.Errorf("got %+v, want the deletion of 1001 to 1005 by the service", last)
		}
		if r, problem := verify(t, db); r.Rows != 8 || r.N != 1013 || problem != "" {
			t.Errorf("got %+v, problem %q, want 8 intact entries", r, problem)
		}
		record(t, db, 1)
		exec(t, p.Raw(t), `DELETE FROM audit WHERE n = 1006`)
		if _, problem := verify(t, db); problem != "entry 1006 was removed" {
			t.Errorf("after a deletion: got %q, want that entry 1006 was removed", problem)
		}
	})
}

// An entry with a wrong time in the future does not keep the entries before and after it for ever, and one with a wrong
// time in the past does not delete newer ones.
func TestService_PruneWrongTimes(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	ctx := audit.WithOrigin(context.Background(), origin)
	at := func(years ...int) {
		for _, n := range years {
			err := db.Write(ctx, func(ctx context.Context) error {
				return audit.Record(ctx, db, start.AddDate(n, 0, 0), audit.Change{Action: audit.ProjectChanged, Subject: "s",
					After: audit.Fields{"name": "a"}})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	at(slices.Repeat([]int{10}, 600)...) // more than one batch
	at(10, 0, 10, 0, 2, 0, 10)           // the clock of the service says 2
	for range 2 {                        // the second time it deletes nothing
		if err := newService(db).Prune(ctx, start.AddDate(1, 0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := db.AuditEntriesAfter(ctx, 0, 100)
	if err != nil || len(entries) != 4 || entries[0].N != 605 || entries[3].Action != audit.AuditPruned {
		t.Errorf("got %+v, %v, want the last three entries and one about the deletion", entries, err)
	}
}

// pruningStore prunes entries while they are verified.
type pruningStore struct {
	*store.DB
	prune func()
}

func (s pruningStore) AuditEntriesAfter(ctx context.Context, n int64, limit int) ([]audit.Entry, error) {
	s.prune()
	return s.DB.AuditEntriesAfter(ctx, n, limit)
}

func TestVerify_WhileEntriesArePrunedAndAdded(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	record(t, db, 10)
	ctx := audit.WithOrigin(context.Background(), origin)
	prune := sync.OnceFunc(func() {
		if err := newService(db).Prune(ctx, start.Add(4*time.Hour)); err != nil {
			t.Error(err)
		}
	})
	r, err := audit.NewService(pruningStore{db, prune}, time.Now).Verify(ctx)
	if err != nil || r.Problem != nil || r.Rows != 7 {
		t.Errorf("got %+v, %v, want the 6 entries that remain and the one about the deletion", r, err)
	}
}

func TestTarget_HidesPathAndQuery(t *testing.T) {
	t.Parallel()
	for target, want := range map[audit.Target]string{
		"":                                   `""`,
		"https://example.org":                `"https://example.org/…"`,
		"https://example.org:8443/a/b?c=d#e": `"https://example.org:8443/…"`,
		"https://user:password@example.org/": `"https://example.org/…"`,
		"%zz":                                `"…"`,
	} {
		got, err := json.Marshal(target)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", target, got, err, want)
		}
	}
}
