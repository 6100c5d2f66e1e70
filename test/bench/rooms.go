package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	_ "modernc.org/sqlite"             // driver "sqlite"

	"parley/test/bench/measure"
)

const (
	writeConnections = 64 // concurrent connections that create rooms
	warmUp           = 2 * time.Second
)

// sqlite measures durable room creation on SQLite with the default settings, which are
// synchronous=FULL.
func (b *bench) sqlite(ctx context.Context) ([]figure, error) {
	p, err := b.startParley(ctx, filepath.Join(b.dir, "sqlite"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	a, err := newRoomLoad("Parley on SQLite", p.serverInfo, p.cpu(), writeConnections)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	figures, _, err := b.compareWithBare(ctx, bareComparison{
		of:       "room creation, SQLite, 64 connections",
		load:     a,
		request:  createRoom(p.serverInfo),
		cpuGoal:  5,
		rateGoal: 0.20,
	})
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return figures, checkRoomCount(ctx, "sqlite", filepath.Join(p.dataDir, "parley.db"), a.Sent())
}

// newRoomLoad opens the connections of a load that creates rooms, and creates one room to
// check the server.
func newRoomLoad(name string, h serverInfo, cpu measure.CPU, connections int) (*measure.Load, error) {
	l, err := measure.Dial(measure.Target{Name: name, Address: h.Address, CPU: cpu, Request: createRoom(h)},
		connections)
	if err != nil {
		return nil, err
	}
	body, err := l.SendOne()
	if err == nil {
		var created struct {
			Status    bool   `json:"status"`
			RoomID    string `json:"room_id"`
			FinalLink string `json:"final_link"`
		}
		err = json.Unmarshal(body, &created)
		if err == nil && (!created.Status || created.RoomID == "" || created.FinalLink == "") {
			err = fmt.Errorf("%s did not create a room: %s", name, body)
		}
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// bareComparison is a load that is compared with the same number of connections to a bare
// server.
type bareComparison struct {
	of   string // the measured operation
	load *measure.Load
	// request appends a request to the bare server.
	request           func(to []byte, n uint64) []byte
	cpuGoal, rateGoal float64 // a rateGoal of zero means no goal
}

// compareWithBare compares a load with a bare server and, by the same procedure, with itself
// and with each of the others. It returns the figures of the first comparison and the pairs of
// the other comparisons, of which the first is the control.
func (b *bench) compareWithBare(ctx context.Context, q bareComparison, others ...*measure.Load) (
	[]figure, []measure.Pairs, error,
) {
	bare, err := b.startBare(q.request, q.load.Connections())
	if err != nil {
		return nil, nil, err
	}
	defer bare.quit()
	all := append([]*measure.Load{bare.load, q.load}, others...)
	for _, l := range all {
		if _, err := l.Slice(ctx, warmUp); err != nil {
			return nil, nil, err
		}
	}
	pairs, err := measure.Compare(ctx, q.load, all, b.pairs, b.slice)
	if err != nil {
		return nil, nil, err
	}
	return bareFigures(q.of, pairs[0], pairs[1], q.cpuGoal, q.rateGoal), pairs[1:], nil
}

// checkRoomCount returns an error unless every acknowledged room is in the database.
func checkRoomCount(ctx context.Context, driver, name string, acknowledged uint64) error {
	db, err := sql.Open(driver, name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var rooms uint64
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM rooms`).Scan(&rooms); err != nil {
		return err
	}
	if rooms != acknowledged {
		return fmt.Errorf("%d rooms were acknowledged, but %d are in the database", acknowledged, rooms)
	}
	return nil
}
