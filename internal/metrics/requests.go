package metrics

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Requests count and time HTTP requests.
type Requests struct {
	byPart   *prometheus.CounterVec
	duration *prometheus.HistogramVec

	// resolved are the series that have been used. The map is replaced and never changed, so
	// that a request finds its series without a lock.
	resolved atomic.Pointer[map[series]prometheus.Observer]
	mu       sync.Mutex // of a replacement
}

// series identifies a series of the histogram.
type series struct {
	method, route string
	class         int // of the status
}

func newRequests(registry prometheus.Registerer) *Requests {
	r := &Requests{
		byPart: promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
			Name: "parley_http_requests_total", Help: "HTTP requests by the part of the service that answered them.",
		}, []string{"part"}),
		duration: promauto.With(registry).NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parley_http_request_duration_seconds",
			Help:    "Time until the response was written, by method, route and class of the status.",
			Buckets: secondsBuckets(0.001, 10),
		}, []string{"method", "route", "status"}),
	}
	r.resolved.Store(&map[series]prometheus.Observer{})
	return r
}

// Begin counts a request before a part of the service answers it.
func (r *Requests) Begin(part string) { r.byPart.WithLabelValues(part).Inc() }

// Observe records a request whose response was written. route is the pattern of its path, or
// another value of a closed set. A connection that became a WebSocket is not recorded, because
// its time is that of a meeting.
func (r *Requests) Observe(method, route string, status int, took time.Duration) {
	if status == http.StatusSwitchingProtocols {
		return
	}
	key := series{knownMethod(method), route, status / 100}
	observer, ok := (*r.resolved.Load())[key]
	if !ok {
		observer = r.resolve(key)
	}
	observer.Observe(took.Seconds())
}

func (r *Requests) resolve(key series) prometheus.Observer {
	r.mu.Lock()
	defer r.mu.Unlock()
	observer := r.duration.WithLabelValues(key.method, key.route, statusClass(key.class))
	next := maps.Clone(*r.resolved.Load())
	next[key] = observer
	r.resolved.Store(&next)
	return observer
}

// knownMethod returns a constant, because a method in a request may be any word and is a part
// of the text of its headers.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet:
		return http.MethodGet
	case http.MethodHead:
		return http.MethodHead
	case http.MethodPost:
		return http.MethodPost
	case http.MethodPut:
		return http.MethodPut
	case http.MethodPatch:
		return http.MethodPatch
	case http.MethodDelete:
		return http.MethodDelete
	case http.MethodOptions:
		return http.MethodOptions
	}
	return otherValue
}

// statusClass returns the label of a class of status codes, such as "4xx". The class is 0 if the
// handler wrote no response because its client had disconnected.
func statusClass(class int) string {
	if class >= 1 && class <= 5 {
		return string(rune('0'+class)) + "xx"
	}
	return "none"
}

// Seats count the requests for a seat.
type Seats struct {
	requests, rejections counterSet
}

// The outcomes of a request for a seat.
const (
	SeatReserved = "reserved" // the visitor has a seat
	SeatWaiting  = "waiting"  // the visitor waits for a host; the page asks again
	seatRejected = "rejected"
)

// seatRejectionCauses are the codes of the errors of rejected requests for a seat.
var seatRejectionCauses = []string{"hidden", "internal", "invalid_request", "invitation_required", "link_taken",
	"project_inactive", "project_suspended", "removed", "room_ended", "room_full", "room_not_found", "room_not_open",
	"too_many_attempts", "too_many_joins", "turned_away", "unavailable", "waiting_room_full"}

func newSeats(registry prometheus.Registerer) *Seats {
	return &Seats{
		requests: newCounterSet(registry, prometheus.CounterOpts{
			Name: "parley_seat_requests_total", Help: "Requests for a seat in a room, by outcome.",
		}, "outcome", SeatReserved, SeatWaiting, seatRejected),
		rejections: newCounterSet(registry, prometheus.CounterOpts{
			Name: "parley_seat_rejections_total", Help: "Rejected requests for a seat in a room, by cause.",
		}, "cause", seatRejectionCauses...),
	}
}

// Answered counts a request whose outcome is SeatReserved or SeatWaiting.
func (s *Seats) Answered(outcome string) { s.requests.inc(outcome) }

// Rejected counts a rejected request. cause is the code of its error.
func (s *Seats) Rejected(cause string) {
	s.requests.inc(seatRejected)
	s.rejections.inc(cause)
}
