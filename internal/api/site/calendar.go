package site

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical" // folds and escapes the lines of RFC 5545

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/validate"
)

// calendarSuffix follows the path of a room in the path of its calendar file.
const calendarSuffix = "/calendar.ics"

// sequenceEpoch is where the sequence numbers of the entries begin, which count seconds. The page of a
// room counts in the same way in the files that it makes, so that the later file wins.
var sequenceEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// CalendarRooms looks up the entries of rooms.
type CalendarRooms interface {
	// Calendar returns NotFound if there is no such room, or its title is not public.
	Calendar(ctx context.Context, roomID string) (room.CalendarEntry, error)
}

// Calendar serves a calendar file for each room whose title is public.
type Calendar struct{ rooms CalendarRooms }

// NewCalendar returns a Calendar.
func NewCalendar(rooms CalendarRooms) Calendar { return Calendar{rooms} }

// IsCalendar reports whether a path is that of a calendar file.
func IsCalendar(path string) bool {
	return strings.HasPrefix(path, "/"+roomPrefix) && strings.HasSuffix(path, calendarSuffix)
}

// ServeHTTP implements http.Handler.
func (c Calendar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !requireGetOrHead(w, r) {
		return
	}
	setSecurityHeaders(w.Header(), "default-src 'none'", nil)
	w.Header().Set("Cache-Control", cacheRevalidate)
	id, ok := validate.ParseUUID(strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"+roomPrefix), calendarSuffix))
	// A text that is no ID of a room may be one that the database refuses.
	entry, err := room.CalendarEntry{}, error(room.ErrNotFound)
	if ok {
		entry, err = c.rooms.Calendar(r.Context(), id)
	}
	switch {
	case fault.Is(err, fault.NotFound):
		// One text for all, so that it does not say which rooms exist.
		http.Error(w, "no room has this ID, or guests may not read its title: its project must be active and "+
			"must not require invitations, and the room needs a title", http.StatusNotFound)
		return
	case err != nil:
		httpx.LogFault(r, fault.From(err))
		http.Error(w, "the calendar file is not available, try again in a moment", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Disposition", `inline; filename="meeting.ics"`)
	file{contentType: "text/calendar; charset=utf-8", uncompressed: []byte(calendarFile(entry))}.serve(w, r, http.StatusOK)
}

// calendarFile returns the file with one entry. Its UID is that of the file that the page of the room makes.
func calendarFile(e room.CalendarEntry) string {
	host := ""
	if address, err := url.Parse(e.URL); err == nil {
		host = address.Hostname()
	}
	calendar := ics.NewCalendar()
	calendar.SetProductId("-//Parley//Calendar//EN")
	calendar.SetMethod(ics.MethodPublish)
	calendar.SetRefreshInterval("PT15M")
	calendar.SetXPublishedTTL("PT15M")
	event := calendar.AddEvent(e.RoomID + "@" + host)
	event.SetDtStampTime(e.ChangedAt)
	event.SetModifiedAt(e.ChangedAt)
	event.SetSequence(max(0, int(e.ChangedAt.Sub(sequenceEpoch)/time.Second)))
	event.SetStartAt(e.Start)
	event.SetEndAt(e.End)
	event.SetSummary(e.Title)
	event.SetLocation(e.URL)
	event.SetURL(e.URL)
	event.SetStatus(ics.ObjectStatusConfirmed)
	if e.Cancelled {
		event.SetStatus(ics.ObjectStatusCancelled)
	}
	return calendar.Serialize(ics.WithNewLineWindows)
}
