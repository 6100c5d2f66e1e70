package rooms

import (
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/room"
)

// ReadCommonFields reads the fields that every creation has. number reads an
// integer field, which may also be a string in version 4.
func ReadCommonFields(o *httpx.Object, kind room.Type,
	number func(o *httpx.Object, name string) int) room.CreateRequest {
	metadata := o.RequiredObject("metadata")
	return room.CreateRequest{
		Type:            kind,
		MaxParticipants: number(o, "max_participants"),
		EmptyTimeout:    number(o, "empty_timeout"),
		Title:           metadata.RequiredText("room_title"),
		WelcomeMessage:  metadata.RequiredText("welcome_message"),
		ClientRoomID:    OptionalText(o, "client_room_id"),
	}
}

// OptionalText returns an optional text, "" if it is absent.
func OptionalText(o *httpx.Object, name string) string {
	if text := o.Text(name); text != nil {
		return *text
	}
	return ""
}

const (
	maxIgnoredNames = 20 // names in a header
	maxNameLength   = 64
)

// IgnoredFields are the names of fields that were sent and have no effect, for a
// header: at most 20 names of letters, digits, "_", "-" and ".".
type IgnoredFields []string

// Add adds those of the names that the object at prefix has.
func (i *IgnoredFields) Add(o *httpx.Object, prefix string, names ...string) {
	for _, name := range names {
		if len(*i) < maxIgnoredNames && o.Has(name) {
			*i = append(*i, headerSafe(prefix+name))
		}
	}
}

// AddAllExcept adds all fields of the object at prefix except the known ones.
func (i *IgnoredFields) AddAllExcept(o *httpx.Object, prefix string, known ...string) {
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

// headerSafe replaces the characters of a name that a header must not contain.
func headerSafe(name string) string {
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			return c
		}
		return '_'
	}, name)
	return name[:min(len(name), maxNameLength)]
}
