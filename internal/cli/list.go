package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"parley/internal/spreadsheet"
)

// lister contains the flags of commands that print a list.
type lister struct {
	manager
	CSV bool `name:"csv" xor:"format" help:"CSV output with the names of --json in the first line."`
}

// structured reports whether the output is for programs.
func (l lister) structured() bool { return l.JSON || l.CSV }

// printItems prints a list as JSON or CSV, or returns err. neverListed are the names of fields that an item has only in
// the responses to other commands, so that they are no columns.
func printItems[T any](s *streams, l lister, items []T, err error, neverListed ...string) error {
	if err != nil || !l.CSV {
		return s.printResult(items, err)
	}
	return printCSV(s.out, items, neverListed...)
}

// printCSV prints a row for each item and a column for each field of its JSON, without those that are never listed.
func printCSV[T any](out io.Writer, items []T, neverListed ...string) error {
	w := csv.NewWriter(out)
	var columns []int // indexes of fields
	var heading []string
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" && !slices.Contains(neverListed, name) {
			columns, heading = append(columns, i), append(heading, name)
		}
	}
	_ = w.Write(heading) // Error returns the error of all writes
	for _, item := range items {
		row := make([]string, len(columns))
		for i, column := range columns {
			text, err := csvCell(reflect.ValueOf(item).Field(column).Interface())
			if err != nil {
				return err
			}
			row[i] = text
		}
		_ = w.Write(row)
	}
	w.Flush()
	return w.Error()
}

// csvCell returns a value as its JSON shows it, and a string without quotes. A string that a
// spreadsheet would run as a formula gets an apostrophe in front.
func csvCell(value any) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("CSV: %w", err)
	}
	text := string(raw)
	switch {
	case text == "null":
		return "", nil
	case text[0] != '"':
		return text, nil
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", fmt.Errorf("CSV: %w", err)
	}
	return spreadsheet.EscapeFormulas(text), nil
}
