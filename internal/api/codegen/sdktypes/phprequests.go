package main

import "strings"

// phpRequests returns the class whose documentation declares the types of request bodies.
func phpRequests(m *model) string {
	c := new(code)
	c.WriteString(phpNamespace)
	c.line(0, "")
	c.line(0, "/**")
	c.line(0, " * The types of request bodies, for static analysis. Import one with")
	c.line(0, " * `@phpstan-import-type JoinRoomRequest from \\Parley\\Types\\Requests`.")
	for _, o := range m.of(inRequest) {
		c.line(0, " *")
		c.phpDocLines(o.name+": "+o.doc, " * ", " * ")
		for _, f := range o.fields {
			if f.doc != "" {
				c.phpDocLines(f.name+": "+f.doc, " * - ", " *   ")
			}
		}
	}
	for _, o := range m.of(inRequest) {
		c.line(0, " *")
		c.line(0, " * @phpstan-type %s array{", o.name)
		for _, f := range o.fields {
			mark := ""
			if !f.required {
				mark = "?"
			}
			null := ""
			if f.nullable {
				null = "|null"
			}
			c.line(0, " *     %s%s: %s%s,", f.name, mark, phpRequestType(f.shape), null)
		}
		c.line(0, " * }")
	}
	c.line(0, " */")
	c.line(0, "final class Requests")
	c.line(0, "{")
	c.line(1, "private function __construct()")
	c.line(1, "{")
	c.line(1, "}")
	c.line(0, "}")
	return c.String()
}

// phpRequestType returns a type of a request, whose enums have no other values.
func phpRequestType(s shape) string {
	if len(s.values) > 0 {
		return phpLiterals(s.values)
	}
	if s.kind == kindList {
		return "list<" + phpRequestType(*s.items) + ">"
	}
	_, described := phpType(s)
	return described
}

func (c *code) phpDocLines(text, first, next string) {
	for i, line := range wrap(strings.ReplaceAll(text, "*/", "* /"), lineWidth-len(first)) {
		if i > 0 {
			first = next
		}
		c.line(0, "%s%s", first, line)
	}
}
