package rooms

import (
	"context"
	"net/http"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
)

// Keys finds who calls.
type Keys interface {
	ByAPIKey(ctx context.Context, text string) (key.APIKey, *key.Keyring, error)
}

// Options is how these routes behave here.
type Options struct {
	Skew time.Duration // how far a signed timestamp may be off
	// BodySignatures also lets calls through that sign their body, or their
	// target for GET, with the project secret and no time, as older clients do.
	BodySignatures bool
}

// Server answers the companion routes of one version.
type Server struct {
	api     *API
	rooms   Rooms
	keys    Keys
	options Options
}

// New returns the Server of a version.
func New(api *API, rooms Rooms, keys Keys, options Options) *Server {
	return &Server{api: api, rooms: rooms, keys: keys, options: options}
}

// route is one of the routes.
type route struct {
	method             string
	readOnly           bool // changes nothing, whatever its method is
	needsActiveProject bool // is for projects that admit new rooms and joins
	hasUserInfo        bool // has the field user_info
	handle             func(c *call) error
}

// routes are those that are alike in both versions.
func (s *Server) routes() map[string]route {
	return map[string]route{
		"/rooms/start_schedule_room":    {method: http.MethodPost, needsActiveProject: true, handle: s.startScheduleRoom},
		"/rooms/join_room":              {method: http.MethodPost, needsActiveProject: true, hasUserInfo: true, handle: s.joinRoom},
		"/rooms/create_invitation_link": {method: http.MethodPost, needsActiveProject: true, handle: s.createInvitationLink},
		"/rooms/end_room":               {method: http.MethodPost, handle: s.endRoom},
		"/rooms/fetch_past_rooms":       {method: http.MethodPost, readOnly: true, handle: s.fetchPastRooms},
		"/rooms/room_status":            {method: http.MethodGet, readOnly: true, handle: s.roomStatus},
		"/rooms/get_active_room_info":   {method: http.MethodGet, readOnly: true, handle: s.activeRoom},
		"/rooms/get_active_rooms_info":  {method: http.MethodGet, readOnly: true, handle: s.activeRooms},
		"/rooms/list_rooms":             {method: http.MethodGet, readOnly: true, handle: s.listRooms},
		"/analytics/get_analytics":      {method: http.MethodGet, readOnly: true, handle: s.analytics},
		"/analytics/export_attendance":  {method: http.MethodGet, readOnly: true, handle: s.exportAttendance},
	}
}

// Register registers the routes under a version's prefix. No generated code
// binds their parameters: it would do so before the signature.
func (s *Server) Register(mux *httpx.Mux, prefix string) {
	for path, rt := range s.routes() {
		mux.HandleFunc(rt.method+" "+prefix+path, func(w http.ResponseWriter, r *http.Request) { s.handle(w, r, rt) })
	}
}

// Reschedule answers the one route whose fields and answer are the version's
// own. read reads the fields that change, and names those without effect.
func (s *Server) Reschedule(w http.ResponseWriter, r *http.Request, read func(o *httpx.Object) (q room.RescheduleRequest, ignored []string, err error), answer func(room.Created) any) {
	s.handle(w, r, route{method: http.MethodPost, needsActiveProject: true, handle: func(c *call) error {
		return s.api.ServeIdempotent(c.w, c.r, c.project, c.body, IdempotentCall{Response: answer, ReplayKey: c.replayKey,
			Read: func() (CreateFunc, []string, error) {
				var q room.RescheduleRequest
				var ignored []string
				roomID, err := c.readRoomIDAnd(func() (err error) { q, ignored, err = read(c.fields); return err })
				return func(ctx context.Context, once *room.IdempotencyKey) (room.Created, error) {
					q.IdempotencyKey = once
					return s.rooms.Reschedule(ctx, c.project, roomID, q)
				}, ignored, err
			}})
	}})
}

// call is a call on its way.
type call struct {
	w          http.ResponseWriter
	r          *http.Request
	project    project.Project
	body       []byte
	fields     *httpx.Object        // of the body; nil on GET
	replayKey  *room.IdempotencyKey // identifies a request that is signed with its time; nil on GET
	bodySigned bool                 // signed over the body alone, as older clients do
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request, rt route) {
	if err := s.perform(&call{w: w, r: r}, rt); err != nil {
		s.api.WriteError(w, r, err)
	}
}

// errJoinEvent keeps a signed join event, which has a room_id too, from being
// carried out as a call.
var errJoinEvent = fault.Invalidf("user_info is not a field of this route: " +
	"a body with it is a join event, and its signature over the body is good for that alone")

// perform makes the checks in their order: the body as a whole, signature,
// rate, project, and last what stands in the request.
func (s *Server) perform(c *call, rt route) (err error) {
	if rt.method == http.MethodPost {
		c.body, err = httpx.ReadJSONBody(c.w, c.r)
	} else {
		c.body, err = httpx.ReadOptionalBody(c.w, c.r)
	}
	if err != nil {
		return err
	}
	credential := ""
	if c.project, credential, err = s.authenticate(c); err != nil {
		return err
	}
	rate := s.api.Limits.Writes
	if rt.readOnly {
		rate = s.api.Limits.Reads
	}
	if err := TakeToken(rate, credential); err != nil {
		return err
	}
	if err := c.project.Writable(); err != nil {
		return err
	}
	if rt.needsActiveProject {
		if err := c.project.AllowsJoins(); err != nil {
			return err
		}
	}
	if rt.method == http.MethodPost {
		if c.fields, err = httpx.ParseObject(c.body); err != nil {
			return err
		}
		if c.bodySigned && !rt.hasUserInfo && c.fields.Has("user_info") {
			return errJoinEvent
		}
	}
	return rt.handle(c)
}

// writeJSON answers with a success.
func (c *call) writeJSON(v any) error {
	c.w.Header().Set("Cache-Control", "no-store")
	httpx.WriteJSON(c.w, http.StatusOK, v)
	return nil
}

// HasRoute reports whether a path under a version's prefix is a companion route, so
// that its refusals can be those of one whatever refuses. The routes of the
// interface's own are named, since all others are companions.
func HasRoute(path string) bool {
	name, isRoom := strings.CutPrefix(path, "/rooms/")
	switch name {
	case "create_quick_audio_room", "create_schedule_video_room", "create_schedule_audio_room":
		return false
	}
	return isRoom || strings.HasPrefix(path, "/analytics/")
}
