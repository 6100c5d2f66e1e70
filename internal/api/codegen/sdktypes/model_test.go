package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// describe returns a description with one operation, whose request and response are the
// schemas Sent and Got.
func describe(schemas string) []byte {
	return []byte(`
paths:
  /rooms:
    post:
      operationId: createRoom
      summary: Create a room
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Sent"}}}}
      responses:
        "200":
          description: The room.
          headers: {X-Request-ID: {}, X-Ignored-Fields: {}}
          content: {application/json: {schema: {$ref: "#/components/schemas/Got"}}}
components:
  schemas:
` + schemas)
}

const room = `
    Sent:
      type: object
      required: [count]
      properties:
        project_id: {type: string}
        count: {$ref: "#/components/schemas/Count"}
        text: {type: [string, "null"], maxLength: 255}
        limit: {oneOf: [{$ref: "#/components/schemas/Count"}, {type: "null"}]}
        order: {oneOf: [{type: string, enum: [ASC, DESC]}, {type: "null"}], default: DESC, description: The order.}
        names: {type: [array, "null"], items: {type: string}}
        part: {type: [object, "null"], properties: {size: {type: [integer, "null"]}}}
    Count: {oneOf: [{type: integer}, {type: string}], description: A number.}
    State: {type: string, enum: [open, over], description: The state.}
    Named: {type: object, required: [name], properties: {name: {type: string}}}
    Timed: {type: object, properties: {at: {type: string, format: date-time}}}
    Room:
      description: A room.
      allOf:
        - $ref: "#/components/schemas/Named"
        - $ref: "#/components/schemas/Timed"
        - {type: object, required: [at], properties: {size: {type: integer}}}
    Got:
      type: object
      required: [state, kind, room, last, owner]
      properties:
        state: {$ref: "#/components/schemas/State"}
        kind: {type: string, enum: [room]}
        room: {$ref: "#/components/schemas/Room"}
        last: {type: [string, "null"], format: date-time, description: Extension. The last time.}
        owner: {oneOf: [{$ref: "#/components/schemas/Named"}, {type: "null"}]}
        described: {allOf: [{$ref: "#/components/schemas/State"}], description: The next state. Extension.}
        seconds: {type: object, additionalProperties: {type: number}}
        other: {type: object, maxProperties: 0}
        people:
          type: array
          items: {type: object, properties: {name: {type: string}}}
        event: {oneOf: [{$ref: "#/components/schemas/Named"}], discriminator: {propertyName: type}}
`

// fieldLines returns the fields of an object, as name, type and documentation. A question mark is
// after the type of a field that may be absent or null.
func fieldLines(t *testing.T, m *model, name string) (lines []string) {
	t.Helper()
	o := m.byName[name]
	if o == nil {
		t.Fatalf("the model has no object %s", name)
	}
	for _, f := range o.fields {
		mark := ""
		if f.optional() {
			mark = "?"
		}
		lines = append(lines, strings.TrimSpace(f.name+" "+pythonType(f.shape)+mark+" "+f.doc))
	}
	return lines
}

func readModel(t *testing.T, versions ...string) *model {
	t.Helper()
	m := newModel()
	for i, schemas := range versions {
		if err := m.read([]string{"v4", "v3"}[i], describe(schemas)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestModel_Fields(t *testing.T) {
	t.Parallel()
	m := readModel(t, room)
	for name, want := range map[string][]string{
		"Sent": {
			"count Union[int, str] A number.",
			"text str?",
			"limit Union[int, str]? A number.",
			`order Literal["ASC", "DESC"]? The order.`,
			"names List[str]?",
			"part SentPart?",
		},
		"SentPart": {"size int?"},
		"Named":    {"name str"},
		"Room":     {"name str", "at datetime", "size int?"},
		"Got": {
			"state State The state.",
			`kind Literal["room"]`,
			"room Room",
			"last datetime? The last time.",
			"owner Named?",
			"described State? The next state.",
			"seconds Dict[str, float]?",
			"other Dict[str, Any]?",
			"people List[GotPeople]?",
			"event Event?",
		},
	} {
		if diff := cmp.Diff(want, fieldLines(t, m, name)); diff != "" {
			t.Errorf("fields of %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestModel_WholeResponseHasFieldsOfHeaders(t *testing.T) {
	t.Parallel()
	m := readModel(t, room)
	var got []string
	for _, f := range m.byName["Got"].headers {
		got = append(got, f.name)
	}
	if diff := cmp.Diff([]string{"request_id", "ignored_fields"}, got); diff != "" {
		t.Errorf("fields of headers (-want +got):\n%s", diff)
	}
	if got := m.byName["Room"].headers; got != nil {
		t.Errorf("an object inside a response has the fields of headers %v, want none", got)
	}
}

func TestModel_VersionsShareAnObject(t *testing.T) {
	t.Parallel()
	m := readModel(t, `
    Sent: {type: object, required: [count], properties: {count: {oneOf: [{type: integer}, {type: string}]}}}
    Got: {type: object, required: [id, link], properties: {id: {type: string}, link: {type: string, description: A link.}}}
`, `
    Sent: {type: object, required: [count], properties: {count: {type: integer}, old: {type: string}}}
    Got: {type: object, required: [id], properties: {id: {type: string, description: An id.}}}
`)
	for name, want := range map[string][]string{
		"Sent": {"count Union[int, str]", "old str?"},
		"Got":  {"id str An id.", "link str? A link."},
	} {
		if diff := cmp.Diff(want, fieldLines(t, m, name)); diff != "" {
			t.Errorf("fields of %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestModel_Refuses(t *testing.T) {
	t.Parallel()
	const sent = "    Sent: {type: object, properties: {a: {type: string}}}\n"
	for name, c := range map[string]struct{ schemas, want string }{
		"a union in a response": {
			"    Got: {type: object, description: A., properties: {a: {oneOf: [{type: string}, {type: integer}]}}}",
			"Got.a has several types",
		},
		"a schema without a type":      {"    Got: {type: object, properties: {a: {}}}", "Got.a: the schema has the types []"},
		"an array without items":       {"    Got: {type: object, properties: {a: {type: array}}}", "Got.a: the array has no items"},
		"a reference to nothing":       {"    Got: {$ref: '#/components/schemas/None'}", "None does not exist"},
		"a response that is no object": {"    Got: {type: string}", "the body is not an object"},
	} {
		m := newModel()
		err := m.read("v4", describe(sent+c.schemas))
		if err == nil {
			err = m.check()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got the error %v, want %q", name, err, c.want)
		}
	}
}

func TestModel_RefusesTypesThatVersionsDoNotShare(t *testing.T) {
	t.Parallel()
	const sent = "    Sent: {type: object, properties: {a: {type: string}}}\n"
	m := readModel(t, sent+"    Got: {type: object, properties: {a: {type: string}}}")
	err := m.read("v3", describe(sent+"    Got: {type: object, properties: {a: {type: integer}}}"))
	if want := "Got.a has two types"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got the error %v, want %q", err, want)
	}
}

func TestPythonRequest_FieldThatIsAKeyword(t *testing.T) {
	t.Parallel()
	m := readModel(t, `
    Sent: {type: object, description: A page., required: [limit], properties: {limit: {type: integer}, from: {type: integer}}}
    Got: {type: object, properties: {a: {type: string}}}
`)
	c := new(code)
	c.pythonRequest(m.byName["Sent"])
	want := `

class _SentRequired(TypedDict):
    limit: int


_SentFrom = TypedDict("_SentFrom", {"from": int}, total=False)


class Sent(_SentRequired, _SentFrom, total=False):
    """A page."""

    pass
`
	if diff := cmp.Diff(want, c.String()); diff != "" {
		t.Errorf("the class of a request (-want +got):\n%s", diff)
	}
}
