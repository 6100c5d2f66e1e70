package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"parley/internal/config"
)

// printTable prints rows under a heading, aligned.
func printTable(w io.Writer, heading []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{heading}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = sanitizeText(cell); cells[i] == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), " "))
	}
	return t.Flush()
}

// printFields prints pairs of names and values, one per line and aligned. It skips
// empty values.
func printFields(w io.Writer, pairs ...string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", pairs[i], sanitizeText(pairs[i+1]))
		}
	}
	return t.Flush()
}

// sanitizeText replaces control characters, so that text of others cannot control
// the terminal.
func sanitizeText(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
			return '\ufffd'
		}
		return c
	}, text)
}

func quoteName(name string) string { return `"` + sanitizeText(name) + `"` }

// formatTime returns a time for people, or an empty string for nil.
func formatTime[T interface{ UTC() time.Time }](t *T) string {
	if t == nil {
		return ""
	}
	return (*t).UTC().Format("2006-01-02 15:04:05 UTC")
}

// formatDeadline returns a time and how far away it is.
func formatDeadline(t time.Time) string {
	return fmt.Sprintf("%s, in %s", formatTime(&t), config.Duration(time.Until(t).Round(time.Second)))
}
