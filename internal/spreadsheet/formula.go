// Package spreadsheet writes text for CSV files that people open in a spreadsheet.
package spreadsheet

import (
	"regexp"
	"strings"
)

// ByteOrderMark makes Excel read a CSV file as UTF-8. It is the first character of the file.
const ByteOrderMark = "\uFEFF"

// plainNumber matches a cell that begins like a formula and is a number.
var plainNumber = regexp.MustCompile(`^[+-][0-9]+(\.[0-9]+)?$`)

// formulaStart matches the beginning of a formula, also in full-width characters.
// Some spreadsheets also start a new cell at a semicolon, a tab or a line break, so that a
// formula can begin in the middle of a text. They leave out the quotes around a cell, so that
// it can also begin after quotes.
var formulaStart = regexp.MustCompile(`(^|[;\t\r\n])[ "]*[=+\-@＝＋－＠]`)

// EscapeFormulas puts an apostrophe before each place where a spreadsheet could start to read
// a formula. A number stays as it is.
func EscapeFormulas(text string) string {
	if plainNumber.MatchString(text) {
		return text
	}
	return formulaStart.ReplaceAllStringFunc(text, func(start string) string {
		at := strings.IndexAny(start, "=+-@＝＋－＠")
		return start[:at] + "'" + start[at:]
	})
}
