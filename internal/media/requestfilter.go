package media

import (
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/protocol/livekit"
	"golang.org/x/time/rate" // the token bucket of the Go project
	"google.golang.org/protobuf/proto"

	"parley/internal/media/signalfilter"
	"parley/internal/refusal"
)

// The limits of one signaling connection: a burst, and what comes back each
// second. A page in a full room stays below a tenth of them.
const (
	requestBurst, requestsPerSecond = 600, 100
	// Of the tracks that are named in requests: each is looked for.
	trackBurst, tracksPerSecond               = 5000, 100
	candidateBurst, candidatesPerSecond       = 300, 2 // ICE candidates
	descriptionBurst, descriptionsPerSecond   = 60, 10
	announcementBurst, announcementsPerSecond = 16, 1
	// maxRefusedRequests is how many requests of a connection are refused before the
	// participant is disconnected.
	maxRefusedRequests = 20
)

// requestFilter is what a participant says in the signaling, as far as the filter
// and the limits let it pass.
type requestFilter struct {
	routing.MessageSource
	responses   routing.MessageSink
	trackExists func(sid string) bool // whether anybody sends a track
	refusals    *refusal.Recorder
	logAttrs    []any // of the log lines: who it is

	accepted  chan proto.Message
	closed    chan struct{}
	closeOnce sync.Once

	all, tracks, candidates, descriptions, announcements *rate.Limiter
	refusedCount                                         int
}

func newRequestFilter(source routing.MessageSource, answers routing.MessageSink, exists func(sid string) bool, refusals *refusal.Recorder, attributes ...any) *requestFilter {
	return &requestFilter{MessageSource: source, responses: answers, trackExists: exists, refusals: refusals, logAttrs: attributes,
		accepted: make(chan proto.Message), closed: make(chan struct{}),
		all:           rate.NewLimiter(requestsPerSecond, requestBurst),
		tracks:        rate.NewLimiter(tracksPerSecond, trackBurst),
		candidates:    rate.NewLimiter(candidatesPerSecond, candidateBurst),
		descriptions:  rate.NewLimiter(descriptionsPerSecond, descriptionBurst),
		announcements: rate.NewLimiter(announcementsPerSecond, announcementBurst),
	}
}

// run passes requests on until the source ends or Close is called. It calls
// disconnect, once, when too many were refused, and from then on only empties
// the source.
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

// accept reports whether LiveKit may have a message.
func (r *requestFilter) accept(msg proto.Message, disconnect func()) bool {
	req, ok := msg.(*livekit.SignalRequest)
	if !ok {
		return false
	}
	no := r.checkRate(req)
	if no == nil {
		no = signalfilter.SanitizeRequest(req)
	}
	if no == nil {
		return signalfilter.RemoveUnknownTracks(req, r.trackExists)
	}
	r.refusals.Record(no.Kind, no.Reason, r.logAttrs...)
	if add := req.GetAddTrack(); add != nil {
		// The client waits for an answer.
		_ = r.responses.WriteMessage(&livekit.SignalResponse{Message: &livekit.SignalResponse_RequestResponse{
			RequestResponse: &livekit.RequestResponse{Reason: livekit.RequestResponse_NOT_ALLOWED, Message: no.Reason,
				Request: &livekit.RequestResponse_AddTrack{AddTrack: add}}}})
	}
	if !no.Malformed {
		return false
	}
	r.refusedCount++
	// Without a description both ends wait for each other for ever.
	if req.GetOffer() != nil || req.GetAnswer() != nil {
		r.refusedCount += maxRefusedRequests / 4
	}
	if r.refusedCount >= maxRefusedRequests {
		disconnect()
	}
	return false
}

// checkRate holds a request to the limits of its connection.
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

func rateRefusal(what string) *signalfilter.Refusal {
	return &signalfilter.Refusal{Kind: refusal.SignalRate, Reason: "too many " + what + " on one connection", Malformed: true}
}

// ReadChan is closed with the source.
func (r *requestFilter) ReadChan() <-chan proto.Message { return r.accepted }

// Close may be called more than once.
func (r *requestFilter) Close() {
	r.closeOnce.Do(func() { close(r.closed) })
	r.MessageSource.Close()
}
