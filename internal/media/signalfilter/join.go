package signalfilter

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/url"
	"strconv"

	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"parley/internal/refusal"
)

// joinRequest is the parameter in which newer clients put all the others, and
// requests beside them.
const joinRequest = "join_request"

// The bounds of a join request in the query, in bytes as it was sent and as it
// is when it is decompressed.
const (
	maxJoinRequest         = 32 << 10
	maxUnpackedJoinRequest = 256 << 10
)

// parameters are those of the query that LiveKit may see. Left out are, among
// others, "publish", which would join a second time under an identity nobody
// issued, and "disable_ice_lite".
var parameters = []string{
	"protocol", "client_protocol", "sdk", "version", "os", "os_version", "device_model", "browser", "browser_version",
	"network", "auto_subscribe", "adaptive_stream", "subscriber_allow_pause", "reconnect", "reconnect_reason", "sid",
}

// Query checks the query with which a participant connects and returns the one
// for LiveKit. What is not known is left out. Numbers that become labels of
// LiveKit's metrics are brought into the range that LiveKit knows: each value
// would add lines to the metrics for ever (not bounded in any version).
func Query(query url.Values) (url.Values, *Refusal) {
	safe := url.Values{}
	if encoded := query.Get(joinRequest); encoded != "" {
		req, r := decodeJoinRequest(encoded)
		if r != nil {
			return nil, r
		}
		if r := JoinRequest(req); r != nil {
			return nil, r
		}
		text, err := encodeJoinRequest(req)
		if err != nil {
			return nil, refuse(refusal.SignalRequest, "a join request that cannot be written")
		}
		safe.Set(joinRequest, text)
		return safe, nil
	}
	for _, name := range parameters {
		value := query.Get(name)
		if value == "" {
			continue
		}
		if r := texts(value); r != nil {
			return nil, r
		}
		safe.Set(name, value)
	}
	for name, most := range map[string]int{"protocol": types.CurrentProtocol, "client_protocol": maxText} {
		if safe.Has(name) {
			n, _ := strconv.Atoi(safe.Get(name))
			safe.Set(name, strconv.Itoa(min(max(n, 0), most)))
		}
	}
	return safe, nil
}

// JoinRequest checks a join request by the rules of the requests in it, and
// makes it safe. Metadata and attributes are left out: nobody may write them.
func JoinRequest(req *livekit.JoinRequest) *Refusal {
	req.Metadata, req.ParticipantAttributes = "", nil
	if c := req.ClientInfo; c != nil {
		c.Protocol = min(max(c.Protocol, 0), types.CurrentProtocol)
		c.ClientProtocol = min(max(c.ClientProtocol, 0), maxText)
		if !valid(livekit.ClientInfo_SDK_name, c.Sdk) {
			c.Sdk = livekit.ClientInfo_UNKNOWN
		}
		if len(c.Capabilities) > maxText {
			return refuse(refusal.SignalRequest, "too many capabilities")
		}
		if r := texts(c.Version, c.Os, c.OsVersion, c.DeviceModel, c.Browser, c.BrowserVersion, c.Address, c.Network,
			c.OtherSdks); r != nil {
			return r
		}
	}
	if s := req.ConnectionSettings; s != nil {
		s.DisableIceLite = false
	}
	if len(req.AddTrackRequests) > maxAddTracks {
		return refuse(refusal.SignalRequest, "more than %d announcements in a join request", maxAddTracks)
	}
	for _, add := range req.AddTrackRequests {
		if r := AddTrack(add); r != nil {
			return r
		}
	}
	if req.PublisherOffer != nil {
		if r := description(req.PublisherOffer, "offer"); r != nil {
			return r
		}
	}
	if r := SyncState(req.SyncState); r != nil {
		return r
	}
	return texts(req.ParticipantSid)
}

func decodeJoinRequest(encoded string) (*livekit.JoinRequest, *Refusal) {
	if len(encoded) > maxJoinRequest {
		return nil, refuse(refusal.SignalRequest, "a join request of more than %d bytes", maxJoinRequest)
	}
	data, err := base64.URLEncoding.DecodeString(encoded)
	if err != nil {
		return nil, refuse(refusal.SignalRequest, "a join request that is not Base64")
	}
	wrapped := &livekit.WrappedJoinRequest{}
	if proto.Unmarshal(data, wrapped) != nil {
		return nil, refuse(refusal.SignalRequest, "a join request that cannot be parsed")
	}
	data = wrapped.JoinRequest
	if wrapped.Compression == livekit.WrappedJoinRequest_GZIP {
		if data, err = decompress(data); err != nil {
			return nil, refuse(refusal.SignalRequest, "a join request that cannot be decompressed")
		}
	}
	if len(data) > maxUnpackedJoinRequest {
		return nil, refuse(refusal.SignalRequest, "a join request of more than %d bytes", maxUnpackedJoinRequest)
	}
	req := &livekit.JoinRequest{}
	if r := newScan(req).Write(data); r != nil {
		return nil, r
	}
	if proto.Unmarshal(data, req) != nil {
		return nil, refuse(refusal.SignalRequest, "a join request that cannot be parsed")
	}
	if proto.Size(req) == 0 {
		return nil, refuse(refusal.SignalRequest, "an empty join request") // LiveKit would take it for none
	}
	return req, nil
}

// decompress returns at most one byte more than a join request may have.
func decompress(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxUnpackedJoinRequest+1))
}

func encodeJoinRequest(req *livekit.JoinRequest) (string, error) {
	data, err := proto.Marshal(req)
	if err != nil {
		return "", err
	}
	if data, err = proto.Marshal(&livekit.WrappedJoinRequest{JoinRequest: data}); err != nil {
		return "", err
	}
	return base64.URLEncoding.EncodeToString(data), nil
}
