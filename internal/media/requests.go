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
	// maxRefused is how many requests of a connection are refused before the
	// participant is disconnected.
	maxRefused = 20
)

// requests is what a participant says in the signaling, as far as the filter
// and the limits let it pass.
type requests struct {
	routing.MessageSource
	answers    routing.MessageSink
	exists     func(sid string) bool // whether anybody sends a track
	refusals   *refusal.Recorder
	attributes []any // of the log lines: who it is

	kept   chan proto.Message
	closed chan struct{}
	once   sync.Once

	all, tracks, candidates, descriptions, announcements *rate.Limiter
	refused                                              int
}

func filterRequests(source routing.MessageSource, answers routing.MessageSink, exists func(sid string) bool, refusals *refusal.Recorder, attributes ...any) *requests {
	return &requests{MessageSource: source, answers: answers, exists: exists, refusals: refusals, attributes: attributes,
		kept: make(chan proto.Message), closed: make(chan struct{}),
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
func (r *requests) run(disconnect func()) {
	defer close(r.kept)
	for {
		select {
		case msg, ok := <-r.MessageSource.ReadChan():
			if !ok {
				return
			}
			if r.refused >= maxRefused || !r.accept(msg, disconnect) {
				continue
			}
			select {
			case r.kept <- msg:
			case <-r.closed:
				return
			}
		case <-r.closed:
			return
		}
	}
}

// accept reports whether LiveKit may have a message.
func (r *requests) accept(msg proto.Message, disconnect func()) bool {
	req, ok := msg.(*livekit.SignalRequest)
	if !ok {
		return false
	}
	no := r.limit(req)
	if no == nil {
		no = signalfilter.Request(req)
	}
	if no == nil {
		return signalfilter.KeepTracks(req, r.exists)
	}
	r.refusals.Record(no.Kind, no.Reason, r.attributes...)
	if add := req.GetAddTrack(); add != nil {
		// The client waits for an answer.
		_ = r.answers.WriteMessage(&livekit.SignalResponse{Message: &livekit.SignalResponse_RequestResponse{
			RequestResponse: &livekit.RequestResponse{Reason: livekit.RequestResponse_NOT_ALLOWED, Message: no.Reason,
				Request: &livekit.RequestResponse_AddTrack{AddTrack: add}}}})
	}
	if !no.Malformed {
		return false
	}
	r.refused++
	// Without a description both ends wait for each other for ever.
	if req.GetOffer() != nil || req.GetAnswer() != nil {
		r.refused += maxRefused / 4
	}
	if r.refused >= maxRefused {
		disconnect()
	}
	return false
}

// limit holds a request to the limits of its connection.
func (r *requests) limit(req *livekit.SignalRequest) *signalfilter.Refusal {
	now := time.Now()
	if !r.all.AllowN(now, 1) {
		return tooMany("requests")
	}
	switch m := req.Message.(type) {
	case *livekit.SignalRequest_Subscription:
		if !r.tracks.AllowN(now, signalfilter.Tracks(m.Subscription)) {
			return tooMany("tracks")
		}
	case *livekit.SignalRequest_TrackSetting:
		if !r.tracks.AllowN(now, len(m.TrackSetting.GetTrackSids())) {
			return tooMany("tracks")
		}
	case *livekit.SignalRequest_Trickle:
		if !r.candidates.AllowN(now, 1) {
			return tooMany("candidates")
		}
	case *livekit.SignalRequest_Offer, *livekit.SignalRequest_Answer:
		if !r.descriptions.AllowN(now, 1) {
			return tooMany("session descriptions")
		}
	case *livekit.SignalRequest_AddTrack:
		if !r.announcements.AllowN(now, 1) {
			return tooMany("announcements")
		}
	}
	return nil
}

func tooMany(what string) *signalfilter.Refusal {
	return &signalfilter.Refusal{Kind: refusal.SignalRate, Reason: "too many " + what + " on one connection", Malformed: true}
}

// ReadChan is closed with the source.
func (r *requests) ReadChan() <-chan proto.Message { return r.kept }

// Close may be called more than once.
func (r *requests) Close() {
	r.once.Do(func() { close(r.closed) })
	r.MessageSource.Close()
}
