package main

import (
	_ "embed" // for the class that does not depend on the descriptions
	"fmt"
	"slices"
	"strings"
)

//go:embed Fields.php
var phpFields string

// phpTypes are the types of properties, and the functions that read them from JSON.
var phpTypes = map[kind]struct{ native, doc, reader string }{
	kindString:  {"string", "string", "Fields::string(...)"},
	kindInteger: {"int", "int", "Fields::integer(...)"},
	kindNumber:  {"float", "float", "Fields::number(...)"},
	kindBoolean: {"bool", "bool", "Fields::boolean(...)"},
	kindTime:    {"DateTimeImmutable", "DateTimeImmutable", "Fields::time(...)"},
	kindFree:    {"array", "array<string, mixed>", "Fields::object(...)"},
	kindEvent:   {"Event", "Event", "EventFactory::read(...)"},
}

// writePHP returns the files by their names.
func writePHP(m *model) map[string]string {
	files := map[string]string{
		"Fields.php":       phpHead + phpFields,
		"Event.php":        phpEvent,
		"UnknownEvent.php": phpUnknownEvent,
		"EventFactory.php": phpEventFactory(m),
		"Requests.php":     phpRequests(m),
	}
	for _, o := range m.objects {
		if o.use != inRequest {
			files[o.name+".php"] = phpClass(o)
		}
	}
	return files
}

const phpHead = "<?php\n\n// " + header + "\n\n"

const phpNamespace = phpHead + "declare(strict_types=1);\n\nnamespace Parley\\Types;\n"

// phpClass returns the file of an object of a response or an event.
func phpClass(o *object) string {
	c := new(code)
	c.WriteString(phpNamespace)
	var used []string
	if slices.ContainsFunc(o.fields, func(f field) bool { return f.shape.hasTime() }) {
		used = append(used, "DateTimeImmutable")
	}
	used = append(used, "UnexpectedValueException")
	c.line(0, "")
	for _, name := range used {
		c.line(0, "use %s;", name)
	}
	c.line(0, "")
	c.phpDoc(0, o.doc)
	end := ""
	if o.eventType != "" {
		end = " implements Event"
	}
	c.line(0, "final class %s%s", o.name, end)
	c.line(0, "{")
	c.line(1, "public function __construct(")
	for _, f := range o.ordered() {
		c.phpProperty(f)
	}
	for _, f := range o.headers {
		c.phpProperty(f)
	}
	c.line(1, ") {")
	c.line(1, "}")
	c.phpFromArray(o)
	c.line(0, "}")
	return c.String()
}

// phpProperty writes a parameter of the constructor, which is a property too.
func (c *code) phpProperty(f field) {
	native, described := phpType(f.shape)
	missing := ""
	switch {
	case f.fromHeader && f.shape.kind == kindString:
		missing = " = ''"
	case f.fromHeader && f.shape.kind == kindList:
		missing = " = []"
	case f.optional():
		native, described, missing = "?"+native, described+"|null", " = null"
	}
	doc := f.doc
	if strings.TrimPrefix(native, "?") != strings.TrimSuffix(described, "|null") {
		doc += "\n\n@var " + described
	}
	if doc = strings.TrimSpace(doc); doc != "" {
		c.phpDoc(2, doc)
	}
	c.line(2, "public readonly %s $%s%s,", native, f.name, missing)
}

// phpFromArray writes the public factory, which takes the values of headers too, and the
// reader for objects that contain this one.
func (c *code) phpFromArray(o *object) {
	parameters, arguments := "", ""
	var tags []string
	for _, f := range o.headers {
		native, described := phpType(f.shape)
		switch f.shape.kind {
		case kindString:
			parameters += ", string $" + f.name + " = ''"
		case kindList:
			parameters += ", array $" + f.name + " = []"
			tags = append(tags, "@param "+described+" $"+f.name)
		default:
			parameters += ", ?" + native + " $" + f.name + " = null"
		}
		arguments += ", $" + f.name
	}
	c.line(0, "")
	c.phpTags(slices.Concat(
		[]string{"@param array<array-key, mixed> $data the decoded JSON"}, tags,
		[]string{"@throws UnexpectedValueException if a field is absent or has another type; it names the path"}))
	c.phpMethod("fromArray", "array $data"+parameters)
	c.line(2, "return self::read($data, ''%s);", arguments)
	c.line(1, "}")
	c.line(0, "")
	c.phpTags(append([]string{"@internal"}, tags...))
	c.phpMethod("read", "mixed $value, string $path"+parameters)
	c.line(2, "$fields = new Fields($value, $path);")
	c.line(0, "")
	c.line(2, "return new self(")
	for _, f := range o.ordered() {
		how := "required"
		if f.optional() {
			how = "optional"
		}
		c.line(3, "%s: $fields->%s('%s', %s),", f.name, how, f.name, phpReader(f.shape))
	}
	for _, f := range o.headers {
		c.line(3, "%s: $%s,", f.name, f.name)
	}
	c.line(2, ");")
	c.line(1, "}")
}

// phpMethod writes the first lines of a static method, with a parameter on each line if they are long.
func (c *code) phpMethod(name, parameters string) {
	const start, end = "public static function ", "): self"
	if one := start + name + "(" + parameters + end; len(one)+4 <= lineWidth {
		c.line(1, "%s", one)
		c.line(1, "{")
		return
	}
	c.line(1, "%s%s(", start, name)
	for parameter := range strings.SplitSeq(parameters, ", ") {
		c.line(2, "%s,", parameter)
	}
	c.line(1, "%s {", end)
}

// phpTags writes a documentation comment that has only tags.
func (c *code) phpTags(tags []string) {
	if len(tags) == 1 {
		c.line(1, "/** %s */", tags[0])
		return
	}
	c.line(1, "/**")
	for _, tag := range tags {
		c.line(1, " * %s", tag)
	}
	c.line(1, " */")
}

// phpDoc writes a documentation comment, whose tags are paragraphs of their own.
func (c *code) phpDoc(level int, doc string) {
	doc = strings.ReplaceAll(doc, "*/", "* /")
	lines := wrap(doc, lineWidth-4*level-len(" * "))
	if len(lines) == 1 && len(lines[0])+4*level+len("/**  */") <= lineWidth {
		c.line(level, "/** %s */", lines[0])
		return
	}
	c.line(level, "/**")
	for _, l := range lines {
		c.line(level, "%s", strings.TrimRight(" * "+l, " "))
	}
	c.line(level, " */")
}

// phpType returns the type of a property for PHP and for its documentation.
func phpType(s shape) (native, described string) {
	switch {
	case s.kind == kindObject:
		return s.name, s.name
	case s.kind == kindList:
		_, items := phpType(*s.items)
		return "array", "list<" + items + ">"
	case s.kind == kindMap:
		// PHP makes integers of keys such as "4711".
		_, items := phpType(*s.items)
		return "array", "array<array-key, " + items + ">"
	case s.kind == kindUnion:
		var names []string
		for _, one := range s.either {
			_, name := phpType(one)
			names = append(names, name)
		}
		return strings.Join(names, "|"), strings.Join(names, "|")
	}
	known := phpTypes[s.kind]
	if len(s.values) > 0 {
		// A newer server may send other values.
		return known.native, phpLiterals(s.values) + "|" + known.doc
	}
	return known.native, known.doc
}

// phpLiterals returns the type that has only these values.
func phpLiterals(values []any) string {
	literals := make([]string, len(values))
	for i, v := range values {
		literals[i] = fmt.Sprint(v)
		if text, ok := v.(string); ok {
			literals[i] = "'" + text + "'"
		}
	}
	return strings.Join(literals, "|")
}

// phpReader returns the callable that reads a value from decoded JSON.
func phpReader(s shape) string {
	switch s.kind {
	case kindObject:
		return s.name + "::read(...)"
	case kindList:
		return "Fields::listOf(" + phpReader(*s.items) + ")"
	case kindMap:
		return "Fields::mapOf(" + phpReader(*s.items) + ")"
	}
	return phpTypes[s.kind].reader
}

// hasTime reports whether a value is a time, or contains one that has no class around it.
func (s shape) hasTime() bool { return s.kind == kindTime || s.items != nil && s.items.hasTime() }
