package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
)

// irreversible contains the flags of commands whose effect cannot be undone.
type irreversible struct {
	DryRun bool `name:"dry-run" help:"Dry run: a description of the effect, without any change."`
	Yes    bool `help:"Consent in advance, so that the command does not ask. It never asks without a terminal."`
}

// proceedIf is proceed for a command whose effect can be undone unless it has certain flags. Without them it does not
// ask.
func (f irreversible) proceedIf(final bool, s *streams, asJSON bool, describe func() (string, error)) (bool, error) {
	if !final && !f.DryRun {
		return true, nil
	}
	return f.proceed(s, asJSON, describe)
}

var errDeclined = errors.New("nothing was changed, because the answer was not yes")

// proceed reports whether the command may have its effect, which describe returns, such as
// "end room R". It asks on a terminal only, so that scripts go on as before.
func (f irreversible) proceed(s *streams, asJSON bool, describe func() (string, error)) (bool, error) {
	if !f.DryRun && (f.Yes || !s.terminal) {
		return true, nil
	}
	effect, err := describe()
	if err != nil {
		return false, err
	}
	if f.DryRun && asJSON {
		return false, printJSON(s.out, map[string]any{"dry_run": true, "effect": effect})
	}
	if f.DryRun {
		_, err := fmt.Fprintf(s.out, "This would %s. Nothing was changed.\n", effect)
		return false, err
	}
	fmt.Fprintf(s.err, "This will %s. It cannot be undone. Type yes to continue: ", effect)
	answer, err := bufio.NewReader(s.in).ReadString('\n')
	if err != nil {
		fmt.Fprintln(s.err) // so that the error has a line of its own
	}
	if strings.TrimSpace(answer) != "yes" {
		return false, errDeclined
	}
	return true, nil
}

// isTerminal reports whether f is a terminal. The null device is a character device too.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
