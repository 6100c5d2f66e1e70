package roomapi

import (
	"math"
	"net/http"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/room"
)

// creationRoutes returns the routes that create a room. The body names the project.
func (a *API) creationRoutes() []Route {
	quick, scheduled := ProjectAuth(a.quickProject), ProjectAuth(scheduledProject)
	routes := []Route{
		{Path: "/rooms/create_quick_audio_room", Auth: quick, Handle: a.createQuick(room.Audio), isOldest: true},
		{Path: "/rooms/create_quick_video_room", Auth: quick, Handle: a.createQuick(room.Video)},
		{Path: "/rooms/create_schedule_audio_room", Auth: scheduled, Handle: a.schedule(room.Audio), isOldest: true},
		{Path: "/rooms/create_schedule_video_room", Auth: scheduled, Handle: a.schedule(room.Video), isOldest: true},
	}
	for i := range routes {
		routes[i].Method, routes[i].Effect, routes[i].NeedsActiveProject = http.MethodPost, Creates, true
		routes[i].FieldPaths = roomFields
	}
	return routes
}

// roomFields are the paths of the fields of a room.
var roomFields = map[string]string{
	"title":           "metadata.room_title",
	"welcome_message": "metadata.welcome_message",
	"duration":        "metadata.room_features.room_duration",
	"breakout_rooms":  "metadata.room_features.breakout_room_features.allowed_number_rooms",
}

func (a *API) quickProject(c *Call) (projectID string, err error) {
	id, isUUID, err := c.projectInBody()
	if err == nil && !isUUID && !a.AnyProjectID {
		err = errProjectID
	}
	return id, err
}

func scheduledProject(c *Call) (projectID string, err error) {
	id, isUUID, err := c.projectInBody()
	if err == nil && !isUUID {
		err = errProjectID
	}
	return id, err
}

var errProjectID = fault.Invalidf("project_id must be a UUID")

func (a *API) createQuick(kind room.Type) func(c *Call) error {
	return func(c *Call) error {
		spec, ignored := a.Format.ReadQuick(c.Fields, kind)
		if err := c.Fields.Err(); err != nil {
			return err
		}
		created, err := a.rooms.CreateQuick(c.Request.Context(), c.Project, spec, c.IdempotencyKey)
		if err != nil {
			return err
		}
		c.WriteResult(a.Format.QuickResponse(created), created.Adjusted, ignored)
		return nil
	}
}

func (a *API) schedule(kind room.Type) func(c *Call) error {
	return func(c *Call) error {
		startAt := c.Fields.RequiredText("start_at")
		spec, ignored := a.Format.ReadScheduled(c.Fields, kind)
		err := c.Fields.Err()
		if err != nil {
			return err
		}
		if spec.StartAt, err = a.Format.ParseStart(startAt, a.Zone); err != nil {
			return err
		}
		created, err := a.rooms.Schedule(c.Request.Context(), c.Project, spec, c.IdempotencyKey)
		if err != nil {
			return err
		}
		c.WriteResult(a.Format.ScheduledResponse(created), created.Adjusted, ignored)
		return nil
	}
}

// reschedule changes a room that is not open yet.
func (a *API) reschedule(c *Call) error {
	roomID := c.Fields.RequiredText("room_id")
	change, ignored := a.Format.ReadChange(c.Fields)
	var err error
	if startAt := c.Fields.Text("start_at"); startAt != nil {
		change.StartAt, err = a.Format.ParseStart(*startAt, a.Zone)
	}
	if roomID, err = c.checkRoomID(roomID, err); err != nil {
		return err
	}
	changed, err := a.rooms.Reschedule(c.Request.Context(), c.Project, roomID, change, c.IdempotencyKey)
	if err != nil {
		return err
	}
	changed.StartAt = changed.StartAt.In(a.Zone)
	c.WriteResult(a.Format.ScheduledResponse(changed), changed.Adjusted, ignored)
	return nil
}

// ReadCommonFields reads the fields that every creation has. number reads an
// integer field, which may also be a string in version 4.
func ReadCommonFields(o *httpx.Object, kind room.Type,
	number func(o *httpx.Object, name string) int) room.Spec {
	metadata := o.RequiredObject("metadata")
	return room.Spec{
		Type:            kind,
		MaxParticipants: number(o, "max_participants"),
		EmptyTimeout:    Units(number(o, "empty_timeout"), time.Second),
		Title:           metadata.RequiredText("room_title"),
		WelcomeMessage:  metadata.RequiredText("welcome_message"),
		ClientRoomID:    OptionalText(o, "client_room_id"),
	}
}

// Units returns n units of time. A number that a Duration cannot hold becomes the
// nearest that it can, which is out of the bounds of every field.
func Units(n int, unit time.Duration) time.Duration {
	limit := int(math.MaxInt64 / unit)
	return time.Duration(min(max(n, -limit), limit)) * unit
}

// OptionalUnits returns n units of time; nil if n is nil.
func OptionalUnits(n *int, unit time.Duration) *time.Duration {
	if n == nil {
		return nil
	}
	return new(Units(*n, unit))
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
