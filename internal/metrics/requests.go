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
	byPart   resolver[string, prometheus.Counter]
	duration resolver[series, prometheus.Observer]
}

// resolver keeps the series of a metric that have been used. The map is replaced and never
// changed, so that a request finds its series without a lock.
type resolver[K comparable, S any] struct {
	resolve  func(K) S // looks a series up by its labels
	resolved atomic.Pointer[map[K]S]
	mu       sync.Mutex // of a replacement
}

func (r *resolver[K, S]) get(key K) S {
	if known := r.resolved.Load(); known != nil {
		if s, ok := (*known)[key]; ok {
			return s
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := map[K]S{}
	if known := r.resolved.Load(); known != nil {
		maps.Copy(next, *known)
	}
	next[key] = r.resolve(key)
	r.resolved.Store(&next)
	return next[key]
}

// series identifies a series of the histogram.
type series struct {
	method, route string
	class         int // of the status
}

func newRequests(registry prometheus.Registerer) *Requests {
	byPart := promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "parley_http_requests_total", Help: "HTTP requests by the part of the service that answered them.",
	}, []string{"part"})
	duration := promauto.With(registry).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "parley_http_request_duration_seconds",
		Help:    "Time until the response was written, by method, route and class of the status.",
		Buckets: secondsBuckets(0.001, 10),
	}, []string{"method", "route", "status"})
	r := &Requests{}
	r.byPart.resolve = func(part string) prometheus.Counter { return byPart.WithLabelValues(part) }
	r.duration.resolve = func(s series) prometheus.Observer {
		return duration.WithLabelValues(s.method, s.route, statusClass(s.class))
	}
	return r
}

// Begin counts a request before a part of the service answers it.
func (r *Requests) Begin(part string) { r.byPart.get(part).Inc() }

// Observe records a request whose response was written. route is the pattern of its path, or
// another value of a closed set. A connection that became a WebSocket is not recorded, because
// its time is that of a meeting.
func (r *Requests) Observe(method, route string, status int, took time.Duration) {
	if status == http.StatusSwitchingProtocols {
		return
	}
	r.duration.get(series{knownMethod(method), route, status / 100}).Observe(took.Seconds())
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
