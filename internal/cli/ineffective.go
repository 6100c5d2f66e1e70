package cli

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// flagChecker is a command in which some flags have no effect because of the other arguments.
type flagChecker interface {
	// whyIneffective returns what follows "has no effect" in the error for a flag, or an empty string if the flag has one.
	whyIneffective(flag *kong.Flag) string
}

// refuseIneffectiveFlags returns an error if the command line has a flag without an effect, because its author expects
// one. Variables and the configuration file are for all commands, so their values may have none.
func refuseIneffectiveFlags(parsed *kong.Context) error {
	command, ok := parsed.Selected().Target.Interface().(flagChecker)
	if !ok {
		return nil
	}
	for _, p := range parsed.Path {
		if p.Flag == nil || p.Resolved {
			continue
		}
		if why := command.whyIneffective(p.Flag); why != "" {
			name := "--" + p.Flag.Name
			if p.Flag.Negated {
				name = "--no-" + p.Flag.Name
			}
			return usageError{fmt.Errorf("%s has no effect %s", name, why)}
		}
	}
	return nil
}
