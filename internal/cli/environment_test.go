package cli

import (
	"slices"
	"testing"

	"github.com/alecthomas/kong"

	"parley/internal/config"
)

// TestUnknownEnv_CommandVariables tests that serve and doctor know the variables of all commands, because a machine on
// which commands run often has them for all processes.
func TestUnknownEnv_CommandVariables(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, config.Options(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	err = kong.Visit(parser.Model.Node, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			names = append(names, flag.Envs...)
		}
		return next(nil)
	})
	if err != nil || !slices.Contains(names, "PARLEY_API_KEY") {
		t.Fatalf("got the variables %v, %v, want also PARLEY_API_KEY", names, err)
	}
	for i, name := range names {
		names[i] = name + "=x"
	}
	if unknown := config.UnknownEnv(names); len(unknown) > 0 {
		t.Errorf("got %v as unknown variables, want none", unknown)
	}
}
