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

// formulaStart matches the beginning of a formula, also in full-width characters. In some
// languages a spreadsheet separates cells at semicolons, so that one can begin inside a text.
var formulaStart = regexp.MustCompile(`(^|[;\t\r\n]) *[=+\-@＝＋－＠]`)

// Cell prevents a spreadsheet from reading a part of a text as a formula, with an apostrophe
// before it. A number stays as it is.
func Cell(text string) string {
	if plainNumber.MatchString(text) {
		return text
	}
	return formulaStart.ReplaceAllStringFunc(text, func(start string) string {
		at := strings.IndexAny(start, "=+-@＝＋－＠")
		return start[:at] + "'" + start[at:]
	})
}
