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
	// maxMediaSections is the maximum number of media sections in a session description:
	// audio and video of every other participant in a full room, and two for the
	// participant itself.
	maxMediaSections = 2100
	// maxSendingSections is the maximum number of sections in which a participant sends.
	// LiveKit and pion keep a receiver with buffers for each. A page uses two for audio
	// and two for video, and as many again after each change of device that the browser
	// could not do in place.
	maxSendingSections = 64
	// maxAttributes is the maximum number of attributes of one section.
	maxAttributes = 1000
	// maxLines is the maximum number of lines of a session description. Each line needs a
	// few hundred bytes when it is parsed.
	maxLines = 50_000
)

// allowedExtensions are the RTP header extensions that may be negotiated, because LiveKit
// needs them. Every other extension is removed from the offer of a participant.
//
// The dependency descriptor is not allowed, because two packets with a temporal layer
// beyond LiveKit's table end the process (pkg/sfu/buffer/fps.go, fixed in 1.13.6,
// livekit#4739).
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

// sanitizeDescription checks a session description and removes the header extensions that
// are not allowed. It parses the description with LiveKit's parser and writes the parsed
// result, so that LiveKit cannot parse anything else.
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
	isControl := func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' }
	if strings.ContainsFunc(strings.ReplaceAll(d.Sdp, "\r\n", "\n"), isControl) {
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
			return refuse(refusal.SignalRequest, "a session description with more than %d sections that send",
				maxSendingSections)
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

// isSending reports whether a participant sends in a section. A section without a
// direction also sends (RFC 8866, section 6.7). Rejected sections and the section for data
// channels do not count.
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

// roundTrips reports whether the parser reads the same description again from text. The
// parser accepts some values that change when they are written and parsed again.
func roundTrips(text []byte) bool {
	var parsed sdp.SessionDescription
	if parsed.Unmarshal(text) != nil {
		return false
	}
	rewritten, err := parsed.Marshal()
	return err == nil && bytes.Equal(rewritten, text)
}

// negotiableAttributes returns the attributes without the header extensions that are not
// allowed, and without candidates (see Candidate).
func negotiableAttributes(attributes []sdp.Attribute) []sdp.Attribute {
	return slices.DeleteFunc(attributes, func(a sdp.Attribute) bool {
		switch strings.ToLower(a.Key) {
		case "candidate", "remote-candidates", "end-of-candidates":
			return true
		}
		if !strings.EqualFold(a.Key, sdp.AttrKeyExtMap) {
			return false
		}
		// The value has the form "1/sendonly URI attributes" (RFC 8285, section 8).
		fields := strings.Fields(a.Value)
		return len(fields) < 2 || !slices.Contains(allowedExtensions, fields[1])
	})
}
