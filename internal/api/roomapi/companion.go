package roomapi

import (
	"net/http"

	"parley/internal/fault"
)

// companionRoutes returns the routes with which a backend runs a meeting. They are the same in
// both versions.
func (a *API) companionRoutes() []Route {
	routes := []Route{
		{Method: http.MethodPost, Path: "/rooms/reschedule_room", Effect: Creates, NeedsActiveProject: true,
			FieldPaths: roomFields, Handle: a.reschedule},
		{Method: http.MethodPost, Path: "/rooms/start_schedule_room", Effect: Creates, NeedsActiveProject: true,
			Handle: a.startScheduleRoom},
		{Method: http.MethodPost, Path: "/rooms/join_room", Effect: Creates, NeedsActiveProject: true, hasUserInfo: true,
			FieldPaths: map[string]string{"name": "user_info.name", "user_id": "user_info.client_user_id",
				"hidden": "user_info.is_hidden"}, Handle: a.joinRoom},
		{Method: http.MethodPost, Path: "/rooms/create_invitation_link", Effect: Creates, NeedsActiveProject: true,
			Handle: a.createInvitationLink},
		{Method: http.MethodPost, Path: "/rooms/simulate_meeting", Effect: Creates, NeedsActiveProject: true,
			Handle: a.simulateMeeting},
		{Method: http.MethodPost, Path: "/rooms/end_room", Effect: Sets, Handle: a.endRoom},
		{Method: http.MethodPost, Path: "/rooms/fetch_past_rooms", Handle: a.fetchPastRooms},
		{Method: http.MethodGet, Path: "/rooms/room_status", Handle: a.roomStatus},
		{Method: http.MethodGet, Path: "/rooms/get_active_room_info", Handle: a.activeRoom},
		{Method: http.MethodGet, Path: "/rooms/get_active_rooms_info", Handle: a.activeRooms},
		{Method: http.MethodGet, Path: "/rooms/list_rooms", Handle: a.listRooms},
		{Method: http.MethodGet, Path: "/analytics/get_analytics", Handle: a.analytics},
		{Method: http.MethodGet, Path: "/analytics/export_attendance", Handle: a.exportAttendance},
	}
	for i := range routes {
		routes[i].Auth = (*API).authenticateCompanion
	}
	return routes
}

// errJoinEvent keeps a signed join event, which has a room_id too, from being
// executed as a call.
var errJoinEvent = fault.Invalidf("user_info is not a field of this route: " +
	"a body with it is a join event, and its signature over the body is good for that alone")
