package cli

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"parley/internal/config"
)

// eachCommand calls check for every command, with the names of its flags and with whether the list has it. Every
// command of the list must exist.
func eachCommand[T any](
	t *testing.T, list map[string]T, check func(name, help string, flags map[string]bool, listed bool),
) {
	t.Helper()
	parser, err := kong.New(new(commands), config.Options(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, leaf := range parser.Model.Leaves(false) {
		flags := map[string]bool{}
		for _, group := range leaf.AllFlags(false) {
			for _, flag := range group {
				flags[flag.Name] = true
			}
		}
		name := strings.TrimPrefix(leaf.FullPath(), parser.Model.Name+" ")
		_, listed := list[name]
		if listed {
			found++
		}
		check(name, leaf.Help, flags, listed)
	}
	if found != len(list) {
		t.Errorf("got %d of the %d listed commands, want all", found, len(list))
	}
}
