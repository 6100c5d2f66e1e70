package main

import (
	_ "embed" // for the parts of the files that do not depend on the descriptions
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed prelude.py
var pythonPrelude string

// pythonKeywords are the fields of the descriptions that cannot be names in Python. Their
// attributes have an underscore at the end.
var pythonKeywords = []string{"from"}

// pythonTypes are the types of the SDK, and the functions that read them from JSON.
var pythonTypes = map[kind]struct{ name, reader string }{
	kindString:  {"str", "_string"},
	kindInteger: {"int", "_integer"},
	kindNumber:  {"float", "_number"},
	kindBoolean: {"bool", "_boolean"},
	kindTime:    {"datetime", "_time"},
	kindFree:    {"Dict[str, Any]", "_object"},
	kindEvent:   {"Event", "_event"},
}

// writePython returns the module with all types.
func writePython(m *model) string {
	c := new(code)
	c.line(0, `"""%s"""`, header)
	c.line(0, "")
	c.WriteString(pythonPrelude)
	c.line(0, "")
	for _, e := range m.enums {
		c.pythonEnum(e)
	}
	for _, o := range m.objects {
		if o.use == inRequest {
			c.pythonRequest(o)
		} else {
			c.pythonClass(o)
		}
	}
	c.pythonEvents(m)
	c.pythonExports(m)
	return c.String()
}

// pythonEnum writes the name of a list of values.
func (c *code) pythonEnum(e enum) {
	c.line(0, "")
	if one := e.name + " = " + pythonLiteral(e.values); len(one) <= lineWidth {
		c.line(0, "%s", one)
	} else {
		c.line(0, "%s = Literal[", e.name)
		for _, v := range e.values {
			c.line(1, "%s,", pythonValue(v))
		}
		c.line(0, "]")
	}
	if e.doc != "" {
		c.pythonDoc(0, e.doc)
	}
}

// pythonLiteral returns the type that has only these values.
func pythonLiteral(values []any) string {
	literals := make([]string, len(values))
	for i, v := range values {
		literals[i] = pythonValue(v)
	}
	return "Literal[" + strings.Join(literals, ", ") + "]"
}

// pythonValue returns a value of an enum, which is a string or an integer.
func pythonValue(v any) string {
	if text, ok := v.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(v)
}

// pythonDoc writes a docstring.
func (c *code) pythonDoc(level int, doc string) {
	doc = strings.NewReplacer(`\`, `\\`, `"""`, `'''`).Replace(doc)
	const quotes = 3
	lines := wrap(doc, lineWidth-4*level-2*quotes)
	if len(lines) == 1 && !strings.HasSuffix(doc, `"`) {
		c.line(level, `"""%s"""`, lines[0])
		return
	}
	c.line(level, `"""%s`, lines[0])
	for _, l := range lines[1:] {
		c.line(level, "%s", l)
	}
	c.line(level, `"""`)
}

// pythonClass writes the class of an object of a response or an event.
func (c *code) pythonClass(o *object) {
	c.line(0, "")
	c.line(0, "")
	c.line(0, "@dataclass(frozen=True)")
	c.line(0, "class %s:", o.name)
	c.pythonDoc(1, o.doc)
	c.line(0, "")
	for _, f := range append(o.ordered(), o.headers...) {
		c.pythonField(f)
	}
	c.pythonFromJSON(o)
	c.line(0, "")
	c.line(1, "@classmethod")
	c.line(1, "def _read(cls, value: object, path: str) -> %s:", o.name)
	c.line(2, "fields = _Fields(value, path)")
	c.line(2, "return cls(")
	for _, f := range o.ordered() {
		how := "required"
		if f.optional() {
			how = "optional"
		}
		c.line(3, "%s=fields.%s(%q, %s),", pythonName(f.name), how, f.name, pythonReader(f.shape))
	}
	c.line(2, ")")
}

// pythonField writes an attribute with its default, if any.
func (c *code) pythonField(f field) {
	kindOf, missing := pythonType(f.shape), ""
	switch {
	case f.fromHeader && f.shape.kind == kindString:
		missing = ` = ""`
	case f.fromHeader && f.shape.kind == kindList:
		missing = " = field(default_factory=list)"
	case f.optional():
		kindOf, missing = "Optional["+kindOf+"]", " = None"
	}
	c.line(1, "%s: %s%s", pythonName(f.name), kindOf, missing)
	if f.doc != "" {
		c.pythonDoc(1, f.doc)
	}
}

const pythonFromJSONDoc = `"""Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""`

// pythonFromJSON writes the public constructor. A whole response has its headers too.
func (c *code) pythonFromJSON(o *object) {
	c.line(0, "")
	c.line(1, "@classmethod")
	if len(o.headers) == 0 {
		c.line(1, "def from_json(cls, data: object) -> %s:", o.name)
		c.line(2, pythonFromJSONDoc)
		c.line(2, `return cls._read(data, "")`)
		return
	}
	parameters, arguments := "cls, data: object, *", `cls._read(data, "")`
	for _, f := range o.headers {
		given := f.name
		switch f.shape.kind {
		case kindString:
			parameters += ", " + f.name + `: str = ""`
		case kindList:
			parameters += ", " + f.name + ": Sequence[str] = ()"
			given = "list(" + f.name + ")"
		default:
			parameters += ", " + f.name + ": Optional[" + pythonType(f.shape) + "] = None"
		}
		arguments += ", " + f.name + "=" + given
	}
	c.pythonParentheses(1, "def from_json(", parameters, ") -> "+o.name+":")
	c.line(2, pythonFromJSONDoc)
	c.pythonParentheses(2, "return replace(", arguments, ")")
}

// pythonParentheses writes the items of a list, on a line each if they are long.
func (c *code) pythonParentheses(level int, start, items, end string) {
	if one := start + items + end; len(one)+4*level <= lineWidth {
		c.line(level, "%s", one)
		return
	}
	c.line(level, "%s", start)
	for item := range strings.SplitSeq(items, ", ") {
		c.line(level+1, "%s,", item)
	}
	c.line(level, "%s", end)
}

// pythonName returns the name of the attribute for a field.
func pythonName(name string) string {
	if slices.Contains(pythonKeywords, name) {
		return name + "_"
	}
	return name
}

// pythonType returns the annotation of a value that is not null.
func pythonType(s shape) string {
	switch {
	case s.name != "":
		return s.name
	case len(s.values) > 0:
		return pythonLiteral(s.values)
	case s.kind == kindList:
		return "List[" + pythonType(*s.items) + "]"
	case s.kind == kindMap:
		return "Dict[str, " + pythonType(*s.items) + "]"
	case s.kind == kindUnion:
		var names []string
		for _, one := range s.either {
			names = append(names, pythonType(one))
		}
		return "Union[" + strings.Join(names, ", ") + "]"
	}
	return pythonTypes[s.kind].name
}

// pythonReader returns the function that reads a value from decoded JSON.
func pythonReader(s shape) string {
	switch {
	case s.kind == kindObject:
		return s.name + "._read"
	case len(s.values) > 0:
		return strings.Replace(pythonTypes[s.kind].reader, "_", "_any_", 1)
	case s.kind == kindList:
		return "_list_of(" + pythonReader(*s.items) + ")"
	case s.kind == kindMap:
		return "_map_of(" + pythonReader(*s.items) + ")"
	}
	return pythonTypes[s.kind].reader
}
