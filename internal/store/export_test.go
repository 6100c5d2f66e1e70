package store

import (
	"context"
	"fmt"
	"io/fs"
	"testing/fstest"
)

// Migrations returns the migrations of the package up to version last.
func Migrations(last int) fs.FS {
	dir := fstest.MapFS{}
	files, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		panic(err)
	}
	for _, name := range files {
		if name <= fmt.Sprintf("%05d~", last) {
			data, err := fs.ReadFile(migrations(), name)
			if err != nil {
				panic(err)
			}
			dir[name] = &fstest.MapFile{Data: data}
		}
	}
	return dir
}

// CheckOlderNodesFor is CheckOlderNodes for a program with other migrations.
var CheckOlderNodesFor = checkOlderNodes

// SelectPastRoomCounts is the statement that adds up the past rooms of a project.
var SelectPastRoomCounts = selectPastRoomCounts

// PackedData returns the stored data of the packed events of a room.
func PackedData(ctx context.Context, s *DB, roomID string) (data []string, err error) {
	packs, err := s.queryPacks(ctx, selectPacks+`WHERE room_id = $1 ORDER BY last_sequence`, roomID)
	for _, p := range packs {
		rows, err := p.unpack()
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			data = append(data, row.data)
		}
	}
	return data, err
}
