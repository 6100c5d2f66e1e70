package legacy

import (
	"strings"

	"parley/internal/api/web"
	"parley/internal/room"
)

// Common reads the fields that every creation has. number reads one that
// version 4 also takes as a string.
func Common(o *web.Object, kind room.Type, number func(o *web.Object, name string) int) room.Request {
	metadata := o.RequiredObject("metadata")
	return room.Request{
		Type:            kind,
		MaxParticipants: number(o, "max_participants"),
		EmptyTimeout:    number(o, "empty_timeout"),
		Title:           metadata.RequiredText("room_title"),
		WelcomeMessage:  metadata.RequiredText("welcome_message"),
		ClientRoomID:    Text(o, "client_room_id"),
	}
}

// Text reads an optional text; "" when it is absent.
func Text(o *web.Object, name string) string {
	if text := o.Text(name); text != nil {
		return *text
	}
	return ""
}

const (
	mostIgnored = 20 // names in a header
	longestName = 64
)

// Ignored collects the names of fields that were sent and have no effect, for
// a header: at most 20 of them, each of letters, digits, "_", "-" and ".".
type Ignored []string

// Add names fields of an object that stands at prefix.
func (i *Ignored) Add(o *web.Object, prefix string, names ...string) {
	for _, name := range names {
		if len(*i) < mostIgnored && o.Has(name) {
			*i = append(*i, safe(prefix+name))
		}
	}
}

// AddOthers names all fields of an object but the known ones.
func (i *Ignored) AddOthers(o *web.Object, prefix string, known ...string) {
next:
	for _, name := range o.Names() {
		for _, k := range known {
			if name == k {
				continue next
			}
		}
		i.Add(o, prefix, name)
	}
}

// safe makes a name fit for a header, whatever a client has put in it.
func safe(name string) string {
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			return c
		}
		return '_'
	}, name)
	return name[:min(len(name), longestName)]
}
