package main

import (
	"context"
	"encoding/json"
	"os"

	"parley/internal/seal"
	"parley/internal/store"
)

// unsharedStore is Parley's store with a transaction of its own for every write: what
// sharing them is compared with. It is the very same store, opened once for
// each writer, so that none ever has a second write to take along. What remains
// of the sharing is the savepoint around the one write.
type unsharedStore struct {
	*store.DB
	free chan *store.DB
}

// Write implements the stores' interfaces. The transaction travels in the
// context, so that reads and writes of any of the stores find it there.
func (e unsharedStore) Write(ctx context.Context, work func(context.Context) error) error {
	db := <-e.free
	defer func() { e.free <- db }()
	return db.Write(ctx, work)
}

// unsharedArgument says where the databases are.
type unsharedArgument struct{ DatabaseURL, DataDir string }

// serveUnshared serves version 3 as app does, on such a store.
func serveUnshared(argument string) error {
	var where unsharedArgument
	if err := json.Unmarshal([]byte(argument), &where); err != nil {
		return err
	}
	ctx := context.Background()
	master := seal.NewKey()
	e := unsharedStore{free: make(chan *store.DB, writeConnections)}
	for range writeConnections {
		db, err := store.Open(ctx, where.DatabaseURL, where.DataDir)
		if err != nil {
			return err
		}
		if err := db.Unlock(ctx, seal.NewBox(master)); err != nil {
			return err
		}
		e.DB = db
		e.free <- db
	}
	d, err := newDomain(ctx, e)
	if err != nil {
		return err
	}
	return announce(d.serverInfo(), d.handler(d.rooms, os.Stderr))
}
