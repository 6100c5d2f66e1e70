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

// joinRequestParameter is the query parameter in which newer clients send all other
// parameters and their first requests.
const joinRequestParameter = "join_request"

// These are the maximum lengths of a join request in the query, in bytes: as it was sent,
// and after decompression.
const (
	maxJoinRequestBytes             = 32 << 10
	maxDecompressedJoinRequestBytes = 256 << 10
)

// allowedParameters are the query parameters that are passed on to LiveKit. Among others,
// "publish" and "disable_ice_lite" are not, because "publish" would join a second time
// under an identity that was not issued.
var allowedParameters = []string{
	"protocol", "client_protocol", "sdk", "version", "os", "os_version", "device_model", "browser", "browser_version",
	"network", "auto_subscribe", "adaptive_stream", "subscriber_allow_pause", "reconnect", "reconnect_reason", "sid",
}

// SanitizeQuery checks the query with which a participant connects and returns the query
// for LiveKit. Unknown parameters are left out. Numbers that become labels of LiveKit's
// metrics are limited to the range that LiveKit knows, because each new value adds lines to
// the metrics forever (not bounded in any version).
func SanitizeQuery(query url.Values) (url.Values, *Refusal) {
	safe := url.Values{}
	if encoded := query.Get(joinRequestParameter); encoded != "" {
		req, r := decodeJoinRequest(encoded)
		if r != nil {
			return nil, r
		}
		if r := SanitizeJoinRequest(req); r != nil {
			return nil, r
		}
		text, err := encodeJoinRequest(req)
		if err != nil {
			return nil, refuse(refusal.SignalRequest, "a join request that cannot be written")
		}
		safe.Set(joinRequestParameter, text)
		return safe, nil
	}
	for _, name := range allowedParameters {
		value := query.Get(name)
		if value == "" {
			continue
		}
		if r := checkTexts(value); r != nil {
			return nil, r
		}
		safe.Set(name, value)
	}
	for name, highest := range map[string]int{"protocol": types.CurrentProtocol, "client_protocol": maxTextBytes} {
		if safe.Has(name) {
			n, _ := strconv.Atoi(safe.Get(name))
			safe.Set(name, strconv.Itoa(min(max(n, 0), highest)))
		}
	}
	return safe, nil
}

// SanitizeJoinRequest checks a join request with the rules of the requests in it, and
// makes it safe. It removes metadata and attributes, because participants must not write
// them.
func SanitizeJoinRequest(req *livekit.JoinRequest) *Refusal {
	req.Metadata, req.ParticipantAttributes = "", nil
	if c := req.ClientInfo; c != nil {
		c.Protocol = min(max(c.Protocol, 0), types.CurrentProtocol)
		c.ClientProtocol = min(max(c.ClientProtocol, 0), maxTextBytes)
		if !isEnumValue(livekit.ClientInfo_SDK_name, c.Sdk) {
			c.Sdk = livekit.ClientInfo_UNKNOWN
		}
		if len(c.Capabilities) > maxTextBytes {
			return refuse(refusal.SignalRequest, "too many capabilities")
		}
		if r := checkTexts(c.Version, c.Os, c.OsVersion, c.DeviceModel, c.Browser, c.BrowserVersion,
			c.Address, c.Network, c.OtherSdks); r != nil {
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
		if r := SanitizeAddTrack(add); r != nil {
			return r
		}
	}
	if req.PublisherOffer != nil {
		if r := sanitizeDescription(req.PublisherOffer, "offer"); r != nil {
			return r
		}
	}
	if r := SanitizeSyncState(req.SyncState); r != nil {
		return r
	}
	return checkTexts(req.ParticipantSid)
}

func decodeJoinRequest(encoded string) (*livekit.JoinRequest, *Refusal) {
	if len(encoded) > maxJoinRequestBytes {
		return nil, refuse(refusal.SignalRequest, "a join request of more than %d bytes", maxJoinRequestBytes)
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
	if len(data) > maxDecompressedJoinRequestBytes {
		return nil, refuse(refusal.SignalRequest, "a join request of more than %d bytes",
			maxDecompressedJoinRequestBytes)
	}
	req := &livekit.JoinRequest{}
	if r := newScanner(req).Write(data); r != nil {
		return nil, r
	}
	if proto.Unmarshal(data, req) != nil {
		return nil, refuse(refusal.SignalRequest, "a join request that cannot be parsed")
	}
	if proto.Size(req) == 0 {
		return nil, refuse(refusal.SignalRequest, "an empty join request") // LiveKit treats it as missing
	}
	return req, nil
}

// decompress returns at most one byte more than the maximum length of a join request.
func decompress(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxDecompressedJoinRequestBytes+1))
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
