package main

import (
	"context"
	"encoding/json"
	"os"

	"parley/internal/seal"
	"parley/internal/store"
)

// unsharedStore is Parley's store with a separate transaction for every write, with which
// shared transactions are compared. It opens the same store once for each writer, so that a
// transaction never contains a second write. Only the savepoint around the write remains.
type unsharedStore struct {
	*store.DB
	free chan *store.DB
}

// Write performs the work in a transaction of a free store. The context contains the
// transaction, so that reads and writes of all stores use it.
func (e unsharedStore) Write(ctx context.Context, work func(context.Context) error) error {
	db := <-e.free
	defer func() { e.free <- db }()
	return db.Write(ctx, work)
}

// unsharedArgument is the argument of the role with the location of the database.
type unsharedArgument struct{ DatabaseURL, DataDir string }

// serveUnshared serves version 3 as app does, with an unsharedStore.
func serveUnshared(argument string) error {
	var location unsharedArgument
	if err := json.Unmarshal([]byte(argument), &location); err != nil {
		return err
	}
	ctx := context.Background()
	master := seal.NewKey()
	e := unsharedStore{free: make(chan *store.DB, writeConnections)}
	for range writeConnections {
		db, err := store.Open(ctx, location.DatabaseURL, location.DataDir)
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
