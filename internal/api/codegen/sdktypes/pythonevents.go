package main

import "slices"

// pythonEvents writes the class for events of other types, the union of all events, and the
// functions that read one.
func (c *code) pythonEvents(m *model) {
	c.WriteString(pythonUnknownEvent)
	c.line(0, "")
	c.line(0, "")
	c.line(0, "Event = Union[")
	var events []*object
	for _, o := range m.of(inEvent) {
		if o.eventType != "" {
			events = append(events, o)
			c.line(1, "%s,", o.name)
		}
	}
	c.line(1, "UnknownEvent,")
	c.line(0, "]")
	c.pythonDoc(0, "An event, which a webhook delivers or the list of a room's events contains.")
	c.line(0, "")
	c.line(0, "_EVENTS: Dict[str, _Reader[Event]] = {")
	for _, o := range events {
		c.line(1, "%q: %s._read,", o.eventType, o.name)
	}
	c.line(0, "}")
	c.WriteString(pythonParseEvent)
}

// pythonExports writes the public names of the module.
func (c *code) pythonExports(m *model) {
	names := []string{"Event", "UnknownEvent", "parse_event"}
	for _, o := range m.objects {
		names = append(names, o.name)
	}
	for _, e := range m.enums {
		names = append(names, e.name)
	}
	slices.Sort(names)
	c.line(0, "")
	c.line(0, "")
	c.line(0, "__all__ = [")
	for _, name := range names {
		c.line(1, "%q,", name)
	}
	c.line(0, "]")
}

const pythonUnknownEvent = `

@dataclass(frozen=True)
class UnknownEvent:
    """An event of a type that this version of the SDK does not know."""

    type: str
    id: str = ""
    """The id of the event. It is the same in every delivery and list."""
    timestamp: Optional[datetime] = None
    """The time of the event, in UTC with millisecond precision."""
    sequence: Optional[int] = None
    """The number of the event in the room, or in the project, without gaps."""
    previous: Optional[int] = None
    """The sequence of the previous event for this receiver; 0 for the first event."""
    project_id: str = ""
    data: Dict[str, Any] = field(default_factory=dict)
    """The content of the event, as it was received."""

    @classmethod
    def from_json(cls, data: object) -> UnknownEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> UnknownEvent:
        fields = _Fields(value, path)
        return cls(
            type=fields.required("type", _string),
            id=fields.optional("id", _string) or "",
            timestamp=fields.optional("timestamp", _time),
            sequence=fields.optional("sequence", _integer),
            previous=fields.optional("previous", _integer),
            project_id=fields.optional("project_id", _string) or "",
            data=fields.optional("data", _object) or {},
        )
`

const pythonParseEvent = `

def _event(value: object, path: str) -> Event:
    kind = _Fields(value, path).required("type", _string)
    return _EVENTS.get(kind, UnknownEvent._read)(value, path)


def parse_event(data: object) -> Event:
    """Returns the event in the decoded body of a webhook.

    An event of a type that this version of the SDK does not know is an UnknownEvent.
    Raises ValueError, which names the field, if the body is not an event.
    """
    return _event(data, "")
`
