package companion

import (
	"context"
	"net/http"
	"strings"
	"time"

	"parley/internal/api/legacy"
	"parley/internal/api/web"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
)

// Rooms is what these routes need of the rooms.
type Rooms interface {
	Of(ctx context.Context, p project.Project, id string) (*room.Room, error)
	OpenEarly(ctx context.Context, p project.Project, roomID string, q room.Early) (link string, err error)
	Invite(ctx context.Context, p project.Project, roomID string, q room.Invitation) (link string, err error)
	Reschedule(ctx context.Context, p project.Project, roomID string, q room.Change) (room.Created, error)
	EndOf(ctx context.Context, p project.Project, id string) error
	RunningOne(ctx context.Context, p project.Project, roomID string) (room.Running, error)
	RunningAll(ctx context.Context, p project.Project) ([]room.Running, error)
	PastRooms(ctx context.Context, p project.Project, q room.PastQuery) (rooms []room.Past, total int, err error)
	List(ctx context.Context, q room.Query) (rooms []room.Listed, more bool, err error)
	Analytics(ctx context.Context, p project.Project, roomID string) (room.Analytics, error)
}

// Keys finds who calls.
type Keys interface {
	ByAPIKey(ctx context.Context, text string) (key.APIKey, *key.Ring, error)
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
	api     *legacy.API
	rooms   Rooms
	keys    Keys
	options Options
}

// New returns the Server of a version.
func New(api *legacy.API, rooms Rooms, keys Keys, options Options) *Server {
	return &Server{api: api, rooms: rooms, keys: keys, options: options}
}

// route is one of the routes.
type route struct {
	method string
	reads  bool // changes nothing, whatever its method is
	admits bool // is for projects that admit new rooms and joins
	person bool // has the field user_info
	serve  func(c *call) error
}

// routes are those that are alike in both versions.
func (s *Server) routes() map[string]route {
	return map[string]route{
		"/rooms/start_schedule_room":    {method: http.MethodPost, admits: true, serve: s.startScheduleRoom},
		"/rooms/join_room":              {method: http.MethodPost, admits: true, person: true, serve: s.joinRoom},
		"/rooms/create_invitation_link": {method: http.MethodPost, admits: true, serve: s.createInvitationLink},
		"/rooms/end_room":               {method: http.MethodPost, serve: s.endRoom},
		"/rooms/fetch_past_rooms":       {method: http.MethodPost, reads: true, serve: s.fetchPastRooms},
		"/rooms/room_status":            {method: http.MethodGet, reads: true, serve: s.roomStatus},
		"/rooms/get_active_room_info":   {method: http.MethodGet, reads: true, serve: s.activeRoom},
		"/rooms/get_active_rooms_info":  {method: http.MethodGet, reads: true, serve: s.activeRooms},
		"/rooms/list_rooms":             {method: http.MethodGet, reads: true, serve: s.listRooms},
		"/analytics/get_analytics":      {method: http.MethodGet, reads: true, serve: s.analytics},
		"/analytics/export_attendance":  {method: http.MethodGet, reads: true, serve: s.exportAttendance},
	}
}

// Register registers the routes under a version's prefix. No generated code
// binds their parameters: it would do so before the signature.
func (s *Server) Register(mux *web.Mux, prefix string) {
	for path, rt := range s.routes() {
		mux.HandleFunc(rt.method+" "+prefix+path, func(w http.ResponseWriter, r *http.Request) { s.handle(w, r, rt) })
	}
}

// Reschedule answers the one route whose fields and answer are the version's
// own. read reads the fields that change, and names those without effect.
func (s *Server) Reschedule(w http.ResponseWriter, r *http.Request, read func(o *web.Object) (q room.Change, ignored []string, err error), answer func(room.Created) any) {
	s.handle(w, r, route{method: http.MethodPost, admits: true, serve: func(c *call) error {
		return s.api.Make(c.w, c.r, c.project, c.body, legacy.Making{Answer: answer, Signed: c.signed,
			Read: func() (legacy.Make, []string, error) {
				var q room.Change
				var ignored []string
				roomID, err := c.roomAnd(func() (err error) { q, ignored, err = read(c.fields); return err })
				return func(ctx context.Context, once *room.Once) (room.Created, error) {
					q.Once = once
					return s.rooms.Reschedule(ctx, c.project, roomID, q)
				}, ignored, err
			}})
	}})
}

// call is a call on its way.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	project project.Project
	body    []byte
	fields  *web.Object // of the body; nil on GET
	signed  *room.Once  // identifies a request that is signed with its time; nil on GET
	untimed bool        // signed over the body alone, as older clients do
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request, rt route) {
	if err := s.perform(&call{w: w, r: r}, rt); err != nil {
		s.api.Refuse(w, r, err)
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
		c.body, err = web.Body(c.w, c.r)
	} else {
		c.body, err = web.RawBody(c.w, c.r)
	}
	if err != nil {
		return err
	}
	credential := ""
	if c.project, credential, err = s.authenticate(c); err != nil {
		return err
	}
	rate := s.api.Limits.Rate
	if rt.reads {
		rate = s.api.Limits.Reads
	}
	if err := legacy.Spend(rate, credential); err != nil {
		return err
	}
	if err := c.project.Changeable(); err != nil {
		return err
	}
	if rt.admits {
		if err := c.project.Admits(); err != nil {
			return err
		}
	}
	if rt.method == http.MethodPost {
		if c.fields, err = web.Parse(c.body); err != nil {
			return err
		}
		if c.untimed && !rt.person && c.fields.Has("user_info") {
			return errJoinEvent
		}
	}
	return rt.serve(c)
}

// answer answers with a success.
func (c *call) answer(v any) error {
	c.w.Header().Set("Cache-Control", "no-store")
	web.JSON(c.w, http.StatusOK, v)
	return nil
}

// Has reports whether a path under a version's prefix is a companion route, so
// that its refusals can be those of one whatever refuses. The routes of the
// interface's own are named, since all others are companions.
func Has(path string) bool {
	name, isRoom := strings.CutPrefix(path, "/rooms/")
	switch name {
	case "create_quick_audio_room", "create_schedule_video_room", "create_schedule_audio_room":
		return false
	}
	return isRoom || strings.HasPrefix(path, "/analytics/")
}
