package media

import (
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate" // the token bucket of the Go project

	"parley/internal/media/signalfilter"
	"parley/internal/refusal"
)

// limit bounds what one participant does or sends on one connection: a burst, and the refill
// per second. What is above it is dropped and counted as a refusal.
type limit struct {
	name      string // what is limited, as the reason of the refusal says it
	kind      refusal.Kind
	burst     int
	perSecond rate.Limit
	// disconnectAfter is the number of refusals after which the participant is disconnected, 0
	// for never.
	disconnectAfter int32
}

// The limits of one participant on all of its signaling connections together.
var (
	// A page with an unstable network connects about ten times a minute.
	connectLimit = limit{name: "connections", kind: refusal.Reconnects, burst: 30, perSecond: 0.5}
	// In very full rooms a session description has a few hundred kilobytes.
	signalByteLimit = limit{name: "bytes of signaling", kind: refusal.SignalRate, burst: 4 << 20, perSecond: 512 << 10}
)

// The limits of one signaling connection. A page in a full room stays below a tenth of them.
var (
	requestLimit = limit{name: "requests", kind: refusal.SignalRate, burst: 600, perSecond: 100}
	// The track ids in requests are limited too, because each id is looked up.
	trackLimit        = limit{name: "tracks", kind: refusal.SignalRate, burst: 5000, perSecond: 100}
	candidateLimit    = limit{name: "candidates", kind: refusal.SignalRate, burst: 300, perSecond: 2}
	descriptionLimit  = limit{name: "session descriptions", kind: refusal.SignalRate, burst: 60, perSecond: 10}
	announcementLimit = limit{name: "announcements", kind: refusal.SignalRate, burst: 16, perSecond: 1}
)

// The limits of the data messages of one participant. A chat message has a few hundred bytes.
var (
	messageLimit = limit{
		name:            "messages",
		kind:            refusal.DataRate,
		burst:           200,
		perSecond:       50,
		disconnectAfter: 200,
	}
	// messageBytesLimit shares the refusals of messageLimit.
	messageBytesLimit = limit{
		name:            "bytes in messages",
		kind:            refusal.DataRate,
		burst:           1 << 20,
		perSecond:       128 << 10,
		disconnectAfter: 200,
	}
	// No page reaches channelLimit: a page and the server open a few data channels. Each costs
	// 64 KiB and a goroutine.
	channelLimit = limit{name: "data channels", kind: refusal.MediaSources, burst: 16, disconnectAfter: 1}
)

// The limits of the packets of one participant on all media connections. A page that sends a camera in three sizes
// and a screen sends about a thousand packets a second from fourteen sources.
var (
	// Every source costs a buffer until the participant leaves: with packets that belong to no
	// track, up to 200 kB.
	sourceLimit = limit{
		name:            "sources of packets",
		kind:            refusal.MediaSources,
		burst:           200,
		perSecond:       1.0 / 30,
		disconnectAfter: 200,
	}
	// reportLimit bounds the sources that RTCP packets name. LiveKit keeps them all, each in less
	// than a kilobyte. A track of another participant that ends may leave one.
	reportLimit = limit{name: "sources in reports", kind: refusal.MediaSources, burst: 20_000, disconnectAfter: 1}
	// A packet with a distant sequence number costs milliseconds, because LiveKit visits each
	// number between. A connection that was lost for seconds causes one in each source.
	jumpLimit = limit{
		name:            "jumps of sequence numbers",
		kind:            refusal.MediaPackets,
		burst:           50,
		perSecond:       10,
		disconnectAfter: 500,
	}
	packetLimit     = limit{name: "media packets", kind: refusal.MediaPackets, burst: 5000, perSecond: 1500}
	reportByteLimit = limit{name: "bytes of reports", kind: refusal.MediaPackets, burst: 100_000, perSecond: 30_000}
	dtlsByteLimit   = limit{name: "bytes of packets with messages", kind: refusal.MediaPackets, burst: 8 << 20,
		perSecond: 1 << 20}
	checkLimit = limit{name: "connectivity checks", kind: refusal.MediaPackets, burst: 1000, perSecond: 200}
)

// maxSequenceStep is the largest step between the sequence numbers of two packets of a source
// that is no jump.
const maxSequenceStep = 100

// meter measures one participant or connection against a limit. Its methods may be called from
// any goroutine.
type meter struct {
	*limit
	bucket  *rate.Limiter
	refused *atomic.Int32
}

func newMeter(l *limit) *meter {
	return &meter{limit: l, bucket: l.newBucket(), refused: new(atomic.Int32)}
}

func (l *limit) newBucket() *rate.Limiter { return rate.NewLimiter(l.perSecond, l.burst) }

// allow reports whether n more are within the limit.
func (m *meter) allow(now time.Time, n int) bool { return m.bucket.AllowN(now, n) }

func (l *limit) reason() string { return "too many " + l.name + " of one participant" }

// offender is a participant to which limits apply.
type offender struct {
	log      *slog.Logger
	refusals *refusal.Recorder
	attrs    []any // identify the participant in the log
	remove   func()
}

// refuse counts a refusal of the participant. It reports whether there were too many, which
// happens once; then the caller has to call disconnect.
func (o *offender) refuse(m *meter, reason string) (tooMany bool) {
	o.refusals.Record(m.kind, reason, o.attrs...)
	refused := m.refused.Add(1)
	return m.disconnectAfter > 0 && refused == m.disconnectAfter
}

// disconnect removes the participant from its session. Every disconnection has its own log line,
// because the lines of refusals are limited.
func (o *offender) disconnect(reason string) {
	o.log.Warn("participant disconnected", append([]any{"reason", reason}, o.attrs...)...)
	o.remove()
}

// signalRefusal returns the refusal of a request above the limit.
func (l *limit) signalRefusal() *signalfilter.Refusal {
	return &signalfilter.Refusal{Kind: l.kind, Reason: "too many " + l.name + " on one connection", Malformed: true}
}
