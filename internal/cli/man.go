package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"parley/internal/app"
)

type manCommand struct{}

// Run prints the manual page, which contains the help of every command.
func (manCommand) Run(s *streams, k *kong.Context) error {
	model := k.Model
	fmt.Fprintf(s.out, ".TH PARLEY 1 \"\" %s\n", roffQuote("parley "+app.Build().Version))
	fmt.Fprintf(s.out, ".SH NAME\nparley \\- %s\n", roffText(model.Help))
	fmt.Fprint(s.out, ".SH SYNOPSIS\n.B parley\n.I command\n[flags]\n.SH COMMANDS\n")
	for _, command := range model.Leaves(true) {
		printManCommand(s.out, command)
	}
	_, err := fmt.Fprint(s.out, ".SH EXIT STATUS\n0 for success, 1 if the command was not done, 2 for wrong usage.\n")
	return err
}

// printManCommand prints the help and the flags of a command.
func printManCommand(w io.Writer, command *kong.Node) {
	fmt.Fprintf(w, ".SS %s\n%s\n", roffQuote(command.Summary()), roffText(command.Help))
	for _, arg := range command.Positional {
		fmt.Fprintf(w, ".TP\n.I %s\n%s\n", roffText(arg.Summary()), roffText(arg.Help))
	}
	for _, flag := range command.Flags {
		if flag.Hidden {
			continue
		}
		help := roffText(flag.Help)
		if len(flag.Envs) > 0 {
			help += " ($" + strings.Join(flag.Envs, ", $") + ")"
		}
		fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roffText(flag.String()), help)
	}
}

// roffText returns text in which nothing is a command of roff.
func roffText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

func roffQuote(text string) string {
	return `"` + strings.ReplaceAll(roffText(text), `"`, `\(dq`) + `"`
}
