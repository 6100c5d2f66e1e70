package store

import (
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
