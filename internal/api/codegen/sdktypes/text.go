package main

import (
	"fmt"
	"regexp"
	"strings"
)

// lineWidth is the number of characters of a line of generated code.
const lineWidth = 100

// code collects lines with an indentation.
type code struct{ strings.Builder }

// line adds a line. Each level of indentation is four spaces.
func (c *code) line(level int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != "" {
		text = strings.Repeat("    ", level) + text
	}
	c.WriteString(text + "\n")
}

// extension marks what the published interface does not have, before or after a description. It
// means nothing to the users of an SDK.
var extension = regexp.MustCompile(`^Extension( \([^)]*\))?\.\s*|\s+Extension\.$`)

// cleanDoc returns a description with one line for each paragraph.
func cleanDoc(text string) string {
	text = extension.ReplaceAllString(strings.TrimSpace(text), "")
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

// wrap breaks a text into lines of at most width characters.
func wrap(text string, width int) (lines []string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			lines = append(lines, "")
		}
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
				lines = append(lines, line)
				line = ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// pascal returns a name in the form of class names.
func pascal(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// inlineName returns the name of an object that a field contains and that has no name.
func inlineName(parent, field string) string {
	if name := inline[parent+"."+field]; name != "" {
		return name
	}
	for _, suffix := range []string{"Request", "Event", "Info"} {
		if start, found := strings.CutSuffix(parent, suffix); found {
			return start + pascal(field)
		}
	}
	return parent + pascal(field)
}
