package media

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"parley/internal/media/signalfilter"
	"parley/internal/network"
)

const (
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
	sender      *offender

	accepted  chan proto.Message
	closed    chan struct{}
	closeOnce sync.Once

	all, tracks, candidates, descriptions, announcements *meter
	refusedCount, candidatesLeft                         int
}

func newRequestFilter(source routing.MessageSource, responses routing.MessageSink, trackExists func(sid string) bool,
	announced []netip.Addr, sender *offender) *requestFilter {
	return &requestFilter{
		MessageSource:  source,
		responses:      responses,
		trackExists:    trackExists,
		announced:      announced,
		sender:         sender,
		candidatesLeft: maxCandidates,
		accepted:       make(chan proto.Message),
		closed:         make(chan struct{}),
		all:            newMeter(&requestLimit),
		tracks:         newMeter(&trackLimit),
		candidates:     newMeter(&candidateLimit),
		descriptions:   newMeter(&descriptionLimit),
		announcements:  newMeter(&announcementLimit),
	}
}

// run passes on requests until the source ends or Close is called. When too many requests
// were refused, it disconnects the sender once, and from then on discards all requests.
func (r *requestFilter) run() {
	defer close(r.accepted)
	for {
		select {
		case msg, ok := <-r.MessageSource.ReadChan():
			if !ok {
				return
			}
			if r.refusedCount >= maxRefusedRequests || !r.accept(msg) {
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
func (r *requestFilter) accept(msg proto.Message) bool {
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
	r.sender.refusals.Record(refused.Kind, refused.Reason, r.sender.attrs...)
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
		r.sender.disconnect(refused.Reason)
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
	return slices.ContainsFunc(announced, func(own netip.Addr) bool {
		return own.IsLoopback() == addr.IsLoopback() && network.IsPrivate(own) == network.IsPrivate(addr)
	})
}

// checkRate returns a refusal if a request exceeds a limit of its connection.
func (r *requestFilter) checkRate(req *livekit.SignalRequest) *signalfilter.Refusal {
	now := time.Now()
	if !r.all.allow(now, 1) {
		return r.all.signalRefusal()
	}
	special, n := r.meterOf(req)
	if special != nil && !special.allow(now, n) {
		return special.signalRefusal()
	}
	return nil
}

// meterOf returns the meter of a kind of request and how much of it the request uses, or nil if
// there is none.
func (r *requestFilter) meterOf(req *livekit.SignalRequest) (special *meter, n int) {
	switch m := req.Message.(type) {
	case *livekit.SignalRequest_Subscription:
		return r.tracks, signalfilter.TrackCount(m.Subscription)
	case *livekit.SignalRequest_TrackSetting:
		return r.tracks, len(m.TrackSetting.GetTrackSids())
	case *livekit.SignalRequest_SyncState:
		return r.tracks, signalfilter.StateTrackCount(m.SyncState)
	case *livekit.SignalRequest_Trickle:
		return r.candidates, 1
	case *livekit.SignalRequest_Offer, *livekit.SignalRequest_Answer:
		return r.descriptions, 1
	case *livekit.SignalRequest_AddTrack:
		return r.announcements, 1
	}
	return nil, 0
}

// ReadChan returns the channel of the accepted requests. It is closed when run returns.
func (r *requestFilter) ReadChan() <-chan proto.Message { return r.accepted }

// Close ends run and closes the source. It may be called more than once.
func (r *requestFilter) Close() {
	r.closeOnce.Do(func() { close(r.closed) })
	r.MessageSource.Close()
}
