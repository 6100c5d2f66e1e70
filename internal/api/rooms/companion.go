package rooms

import (
	"net/http"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

// companionRoute is one of the routes with which a backend runs a meeting.
type companionRoute struct {
	method             string
	readOnly           bool // changes nothing, even if its method is POST
	needsActiveProject bool // is for projects that allow new rooms and joins
	hasUserInfo        bool // has the field user_info
	handle             func(c *Call) error
}

// reschedulePath is the one companion route that differs between the versions: each
// reads and writes its own fields.
const reschedulePath = "/rooms/reschedule_room"

// companionRoutes returns the companion routes that are the same in both versions, by
// their path.
func (a *API) companionRoutes() map[string]companionRoute {
	return map[string]companionRoute{
		"/rooms/start_schedule_room": {method: http.MethodPost, needsActiveProject: true, handle: a.startScheduleRoom},
		"/rooms/join_room": {method: http.MethodPost, needsActiveProject: true, hasUserInfo: true,
			handle: a.joinRoom},
		"/rooms/create_invitation_link": {method: http.MethodPost, needsActiveProject: true, handle: a.createInvitationLink},
		"/rooms/end_room":               {method: http.MethodPost, handle: a.endRoom},
		"/rooms/fetch_past_rooms":       {method: http.MethodPost, readOnly: true, handle: a.fetchPastRooms},
		"/rooms/room_status":            {method: http.MethodGet, readOnly: true, handle: a.roomStatus},
		"/rooms/get_active_room_info":   {method: http.MethodGet, readOnly: true, handle: a.activeRoom},
		"/rooms/get_active_rooms_info":  {method: http.MethodGet, readOnly: true, handle: a.activeRooms},
		"/rooms/list_rooms":             {method: http.MethodGet, readOnly: true, handle: a.listRooms},
		"/analytics/get_analytics":      {method: http.MethodGet, readOnly: true, handle: a.analytics},
		"/analytics/export_attendance":  {method: http.MethodGet, readOnly: true, handle: a.exportAttendance},
	}
}

// RegisterCompanion registers the companion routes that are the same in both versions.
// Generated code does not parse their parameters, because that would precede the
// signature.
func (a *API) RegisterCompanion(mux *httpx.Mux) {
	for path, route := range a.companionRoutes() {
		mux.HandleFunc(route.method+" "+a.prefix()+path, func(w http.ResponseWriter, r *http.Request) {
			a.serveCompanion(w, r, route)
		})
	}
}

// ServeReschedule serves reschedule_room: handle reads the fields of the version
// and writes its response.
func (a *API) ServeReschedule(w http.ResponseWriter, r *http.Request, handle func(c *Call) error) {
	a.serveCompanion(w, r, companionRoute{method: http.MethodPost, needsActiveProject: true, handle: handle})
}

func (a *API) serveCompanion(w http.ResponseWriter, r *http.Request, route companionRoute) {
	if err := a.checkAndHandle(w, r, route); err != nil {
		a.WriteError(w, r, err)
	}
}

func (a *API) prefix() string { return "/api/" + a.Version }

// hasMessageField reports whether errors on a path repeat their message in the
// field message. The first three creations of version 3 never did.
func (a *API) hasMessageField(path string) bool {
	path = strings.TrimPrefix(path, a.prefix())
	_, found := a.companionRoutes()[path]
	return found || path == reschedulePath || path == "/rooms/create_quick_video_room"
}

// errJoinEvent keeps a signed join event, which has a room_id too, from being
// executed as a call.
var errJoinEvent = fault.Invalidf("user_info is not a field of this route: " +
	"a body with it is a join event, and its signature over the body is good for that alone")

// checkAndHandle makes the checks in their order: the body as a whole, signature, rate
// limit, project, fields. Then it handles the call.
func (a *API) checkAndHandle(w http.ResponseWriter, r *http.Request, route companionRoute) (err error) {
	c := &Call{Request: r, w: w}
	if route.method == http.MethodPost {
		c.body, err = httpx.ReadJSONBody(w, r)
	} else {
		c.body, err = httpx.ReadOptionalBody(w, r)
	}
	if err != nil {
		return err
	}
	credential, err := a.authenticateCompanion(c)
	if err != nil {
		return err
	}
	limiter := a.Limits.Writes
	if route.readOnly {
		limiter = a.Limits.Reads
	}
	if err := takeToken(limiter, credential); err != nil {
		return err
	}
	if err := c.Project.CheckNotSuspended(); err != nil {
		return err
	}
	if route.needsActiveProject {
		if err := c.Project.AllowsJoins(); err != nil {
			return err
		}
	}
	if route.method == http.MethodPost {
		if c.Fields, err = httpx.ParseObject(c.body); err != nil {
			return err
		}
		if c.bodySigned && !route.hasUserInfo && c.Fields.Has("user_info") {
			return errJoinEvent
		}
		c.readIdempotencyKey()
	}
	return route.handle(c)
}

// writeJSON writes the response to a call that succeeded, which no cache may keep.
func (c *Call) writeJSON(v any) {
	c.w.Header().Set("Cache-Control", "no-store")
	httpx.WriteJSON(c.w, http.StatusOK, v)
}
