package media

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/protocol/livekit"
	"golang.org/x/time/rate" // the token bucket of the Go project
	"google.golang.org/protobuf/proto"

	"parley/internal/media/signalfilter"
	"parley/internal/refusal"
)

// These limits apply to one signaling connection: a burst, and the refill per second. A
// page in a full room stays below a tenth of them.
const (
	requestBurst, requestsPerSecond = 600, 100
	// The track ids in requests are limited too, because each id is looked up.
	trackBurst, tracksPerSecond               = 5000, 100
	candidateBurst, candidatesPerSecond       = 300, 2 // ICE candidates
	descriptionBurst, descriptionsPerSecond   = 60, 10
	announcementBurst, announcementsPerSecond = 16, 1
	// maxCandidates is the number of addresses of the client that LiveKit learns.
	maxCandidates = 20
	// maxRefusedRequests is the number of refused requests of a connection after which
	// the participant is disconnected.
	maxRefusedRequests = 20
)

// requestFilter is the source of a participant's signal requests that pass the filter and
// the limits.
type requestFilter struct {
	routing.MessageSource
	responses   routing.MessageSink
	trackExists func(sid string) bool // reports whether a participant publishes a track
	announced   []netip.Addr          // the addresses of this server that browsers get
	refusals    *refusal.Recorder
	logAttrs    []any // identify the participant

	accepted  chan proto.Message
	closed    chan struct{}
	closeOnce sync.Once

	all, tracks, candidates, descriptions, announcements *rate.Limiter
	refusedCount, candidatesLeft                         int
}

func newRequestFilter(source routing.MessageSource, responses routing.MessageSink, trackExists func(sid string) bool,
	announced []netip.Addr, refusals *refusal.Recorder, logAttrs ...any) *requestFilter {
	return &requestFilter{
		MessageSource: source, responses: responses, trackExists: trackExists, announced: announced,
		refusals: refusals, logAttrs: logAttrs, candidatesLeft: maxCandidates,
		accepted: make(chan proto.Message), closed: make(chan struct{}),
		all:           rate.NewLimiter(requestsPerSecond, requestBurst),
		tracks:        rate.NewLimiter(tracksPerSecond, trackBurst),
		candidates:    rate.NewLimiter(candidatesPerSecond, candidateBurst),
		descriptions:  rate.NewLimiter(descriptionsPerSecond, descriptionBurst),
		announcements: rate.NewLimiter(announcementsPerSecond, announcementBurst),
	}
}

// run passes on requests until the source ends or Close is called. When too many requests
// were refused, it calls disconnect once, and from then on discards all requests.
func (r *requestFilter) run(disconnect func()) {
	defer close(r.accepted)
	for {
		select {
		case msg, ok := <-r.MessageSource.ReadChan():
			if !ok {
				return
			}
			if r.refusedCount >= maxRefusedRequests || !r.accept(msg, disconnect) {
				continue
			}
			select {
			case r.accepted <- msg:
			case <-r.closed:
				return
			}
		case <-r.closed:
			return
		}
	}
}

// accept reports whether a message is passed on to LiveKit.
func (r *requestFilter) accept(msg proto.Message, disconnect func()) bool {
	req, ok := msg.(*livekit.SignalRequest)
	if !ok {
		return false
	}
	refused := r.checkRate(req)
	if refused == nil && signalfilter.IsDefaultPermission(req) {
		return false // an honest client sends it, so it is no refusal that an operator must see
	}
	if refused == nil {
		refused = signalfilter.SanitizeRequest(req)
	}
	if refused == nil {
		if addr, ok := signalfilter.Candidate(req); ok {
			return r.acceptCandidate(addr)
		}
		return signalfilter.RemoveUnknownTracks(req, r.trackExists)
	}
	r.refusals.Record(refused.Kind, refused.Reason, r.logAttrs...)
	if add := req.GetAddTrack(); add != nil {
		// A client waits for the response to its announcement.
		_ = r.responses.WriteMessage(&livekit.SignalResponse{Message: &livekit.SignalResponse_RequestResponse{
			RequestResponse: &livekit.RequestResponse{Reason: livekit.RequestResponse_NOT_ALLOWED,
				Message: refused.Reason,
				Request: &livekit.RequestResponse_AddTrack{AddTrack: add}}}})
	}
	if !refused.Malformed {
		return false
	}
	r.refusedCount++
	// A refused session description counts more, because without it both ends wait for
	// each other forever.
	if req.GetOffer() != nil || req.GetAnswer() != nil {
		r.refusedCount += maxRefusedRequests / 4
	}
	if r.refusedCount >= maxRefusedRequests {
		disconnect()
	}
	return false
}

// acceptCandidate reports whether LiveKit learns an address of the client, which is no fault
// of the client if not.
func (r *requestFilter) acceptCandidate(addr netip.Addr) bool {
	if r.candidatesLeft == 0 || !isReachable(addr, r.announced) {
		return false
	}
	r.candidatesLeft--
	return true
}

// isReachable reports whether an address is of the same kind as one that the server
// announces. A client on the internet has no way to the private addresses of the server's
// network, and must not make the server send there.
func isReachable(addr netip.Addr, announced []netip.Addr) bool {
	if !addr.IsValid() || addr.IsUnspecified() || addr.IsMulticast() || addr.IsLinkLocalUnicast() {
		return false
	}
	isPrivate := func(ip netip.Addr) bool { return ip.IsPrivate() || carrierPrefix.Contains(ip) }
	return slices.ContainsFunc(announced, func(own netip.Addr) bool {
		return own.IsLoopback() == addr.IsLoopback() && isPrivate(own) == isPrivate(addr)
	})
}

// carrierPrefix has the addresses behind the NAT of a provider (RFC 6598).
var carrierPrefix = netip.MustParsePrefix("100.64.0.0/10")

// checkRate returns a refusal if a request exceeds a limit of its connection.
func (r *requestFilter) checkRate(req *livekit.SignalRequest) *signalfilter.Refusal {
	now := time.Now()
	if !r.all.AllowN(now, 1) {
		return rateRefusal("requests")
	}
	switch m := req.Message.(type) {
	case *livekit.SignalRequest_Subscription:
		if !r.tracks.AllowN(now, signalfilter.TrackCount(m.Subscription)) {
			return rateRefusal("tracks")
		}
	case *livekit.SignalRequest_TrackSetting:
		if !r.tracks.AllowN(now, len(m.TrackSetting.GetTrackSids())) {
			return rateRefusal("tracks")
		}
	case *livekit.SignalRequest_Trickle:
		if !r.candidates.AllowN(now, 1) {
			return rateRefusal("candidates")
		}
	case *livekit.SignalRequest_Offer, *livekit.SignalRequest_Answer:
		if !r.descriptions.AllowN(now, 1) {
			return rateRefusal("session descriptions")
		}
	case *livekit.SignalRequest_AddTrack:
		if !r.announcements.AllowN(now, 1) {
			return rateRefusal("announcements")
		}
	}
	return nil
}

func rateRefusal(limited string) *signalfilter.Refusal {
	return &signalfilter.Refusal{Kind: refusal.SignalRate,
		Reason: "too many " + limited + " on one connection", Malformed: true}
}

// ReadChan returns the channel of the accepted requests. It is closed when run returns.
func (r *requestFilter) ReadChan() <-chan proto.Message { return r.accepted }

// Close ends run and closes the source. It may be called more than once.
func (r *requestFilter) Close() {
	r.closeOnce.Do(func() { close(r.closed) })
	r.MessageSource.Close()
}
