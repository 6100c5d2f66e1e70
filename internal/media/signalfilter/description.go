package signalfilter

import (
	"bytes"
	"slices"
	"strings"

	"github.com/livekit/protocol/livekit"
	"github.com/pion/sdp/v3"

	"parley/internal/refusal"
)

const (
	// maxMediaSections bounds the media sections of a session description: sound and
	// picture of every other participant in a full room, and two of one's own.
	maxMediaSections = 2100
	// maxSendingSections bounds the sections in which a participant wants to send.
	// LiveKit and pion keep a receiver with its buffers for each; a page uses
	// two for sound and two for pictures, and again as many after each change of
	// device that the browser could not do in place.
	maxSendingSections = 64
	// maxAttributes bounds the attributes of one section.
	maxAttributes = 1000
	// maxLines bounds the lines of a description. Each becomes some hundred
	// bytes when it is parsed.
	maxLines = 50_000
)

// allowedExtensions are the RTP header extensions that may be negotiated. LiveKit
// needs these; every other one is taken out of what a participant offers.
//
// The dependency descriptor is not among them: two packets that name a temporal
// layer LiveKit has no place for end the process (pkg/sfu/buffer/fps.go, fixed
// in 1.13.6, livekit#4739).
var allowedExtensions = []string{
	sdp.SDESMidURI,
	sdp.SDESRTPStreamIDURI,
	"urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id",
	sdp.AudioLevelURI,
	sdp.TransportCCURI,
	sdp.ABSSendTimeURI,
	"http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time",
	"http://www.webrtc.org/experiments/rtp-hdrext/playout-delay",
}

// sanitizeDescription checks a session description and rewrites it without the header
// extensions that are not negotiated. It reads it with the parser that LiveKit
// uses and writes what was read, so that LiveKit cannot read anything else.
func sanitizeDescription(d *livekit.SessionDescription, kind string) *Refusal {
	switch {
	case d == nil:
		return refuse(refusal.SignalRequest, "an empty session description")
	case kind != "offer" && kind != "answer" || d.Type != kind:
		return refuse(refusal.SignalRequest, "a session description of the wrong type")
	case len(d.Sdp) > MaxDescriptionBytes:
		return refuse(refusal.SignalRequest, "a session description of more than %d bytes", MaxDescriptionBytes)
	case len(d.MidToTrackId) > MaxTracks:
		return refuse(refusal.SignalRequest, "a session description with more than %d track ids", MaxTracks)
	}
	if strings.Count(d.Sdp, "\n") > maxLines {
		return refuse(refusal.SignalRequest, "a session description of more than %d lines", maxLines)
	}
	if strings.ContainsFunc(strings.ReplaceAll(d.Sdp, "\r\n", "\n"), func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' }) {
		return refuse(refusal.SignalRequest, "a session description with control characters")
	}
	var parsed sdp.SessionDescription
	if parsed.UnmarshalString(d.Sdp) != nil {
		return refuse(refusal.SignalRequest, "a session description that cannot be parsed")
	}
	if len(parsed.MediaDescriptions) > maxMediaSections {
		return refuse(refusal.SignalRequest, "a session description with more than %d sections", maxMediaSections)
	}
	parsed.Attributes = negotiableAttributes(parsed.Attributes)
	sending := 0
	for _, m := range parsed.MediaDescriptions {
		if isSending(m) {
			sending++
		}
		if sending > maxSendingSections {
			return refuse(refusal.SignalRequest, "a session description with more than %d sections that send", maxSendingSections)
		}
		if len(m.Attributes) > maxAttributes {
			return refuse(refusal.SignalRequest, "a section with more than %d attributes", maxAttributes)
		}
		m.Attributes = negotiableAttributes(m.Attributes)
	}
	text, err := parsed.Marshal()
	if err != nil || !roundTrips(text) {
		return refuse(refusal.SignalRequest, "a session description that cannot be written")
	}
	d.Sdp = string(text)
	return nil
}

// isSending reports whether a participant wants to send in a section, which is also
// so where nothing is said of it (RFC 8866, section 6.7). A rejected section, and
// the one for messages, do not count.
func isSending(m *sdp.MediaDescription) bool {
	if m.MediaName.Port.Value == 0 || m.MediaName.Media == "application" {
		return false
	}
	for _, a := range m.Attributes {
		switch a.Key {
		case sdp.AttrKeyRecvOnly, sdp.AttrKeyInactive:
			return false
		}
	}
	return true
}

// roundTrips reports whether the parser finds in text what was written there. It
// accepts some values that it does not find again.
func roundTrips(text []byte) bool {
	var parsed sdp.SessionDescription
	if parsed.Unmarshal(text) != nil {
		return false
	}
	again, err := parsed.Marshal()
	return err == nil && bytes.Equal(again, text)
}

// negotiableAttributes returns the attributes without the header extensions that are not
// negotiated.
func negotiableAttributes(attributes []sdp.Attribute) []sdp.Attribute {
	return slices.DeleteFunc(attributes, func(a sdp.Attribute) bool {
		if !strings.EqualFold(a.Key, sdp.AttrKeyExtMap) {
			return false
		}
		// "1/sendonly URI attributes", RFC 8285, section 8
		fields := strings.Fields(a.Value)
		return len(fields) < 2 || !slices.Contains(allowedExtensions, fields[1])
	})
}
