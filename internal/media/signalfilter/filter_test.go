package signalfilter_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/livekit/protocol/livekit"
	"github.com/pion/sdp/v3"
	"google.golang.org/protobuf/proto"

	"parley/internal/media/signalfilter"
)

const offer = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\na=extmap-allow-mixed\r\n" +
	"m=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\na=rtpmap:96 VP8/90000\r\n" +
	"a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid\r\n" +
	"a=extmap:2 https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension\r\n" +
	"a=extmap:3/sendonly HTTPS://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension x\r\n" +
	"a=sendonly\r\n"

func addTrack(change func(*livekit.AddTrackRequest)) *livekit.SignalRequest {
	add := &livekit.AddTrackRequest{
		Cid:    "cam",
		Name:   "cam",
		Type:   livekit.TrackType_VIDEO,
		Source: livekit.TrackSource_CAMERA,
		Width:  1280,
		Height: 720,
		Layers: []*livekit.VideoLayer{{Quality: livekit.VideoQuality_LOW},
			{Quality: livekit.VideoQuality_HIGH}},
		SimulcastCodecs: []*livekit.SimulcastCodec{{Codec: "vp8", Cid: "cam",
			Layers: []*livekit.VideoLayer{{Quality: livekit.VideoQuality_MEDIUM}}}},
	}
	change(add)
	return &livekit.SignalRequest{Message: &livekit.SignalRequest_AddTrack{AddTrack: add}}
}

func TestSanitizeRequest(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	sids := strings.Fields(strings.Repeat("TR_x ", 3000))
	layer := func(l *livekit.VideoLayer) func(*livekit.AddTrackRequest) {
		return func(a *livekit.AddTrackRequest) { a.Layers = []*livekit.VideoLayer{l} }
	}
	describe := func(kind, text string) *livekit.SignalRequest {
		offer := &livekit.SessionDescription{Type: kind, Sdp: text}
		return &livekit.SignalRequest{Message: &livekit.SignalRequest_Offer{Offer: offer}}
	}
	for name, c := range map[string]struct {
		req  *livekit.SignalRequest
		want string // part of the reason; empty: it passes
	}{
		"a camera": {addTrack(func(*livekit.AddTrackRequest) {}), ""},
		"a microphone": {addTrack(func(a *livekit.AddTrackRequest) {
			a.Type, a.Source = livekit.TrackType_AUDIO, livekit.TrackSource_MICROPHONE
			a.SimulcastCodecs = nil
		}), ""},
		"a codec chosen by the server": {addTrack(func(a *livekit.AddTrackRequest) { a.SimulcastCodecs[0].Codec = "" }), ""},
		"a codec by its MIME type":     {addTrack(func(a *livekit.AddTrackRequest) { a.SimulcastCodecs[0].Codec = "video/H264" }), ""},
		"an offer":                     {describe("offer", offer), ""},
		"a ping":                       {&livekit.SignalRequest{Message: &livekit.SignalRequest_Ping{Ping: 1}}, ""},
		"a subscription":               {&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{Subscription: &livekit.UpdateSubscription{TrackSids: sids[:2000]}}}, ""},

		"nothing":                      {&livekit.SignalRequest{}, "not used here"},
		"simulate":                     {&livekit.SignalRequest{Message: &livekit.SignalRequest_Simulate{Simulate: &livekit.SimulateScenario{}}}, "not used here"},
		"subscription permission":      {&livekit.SignalRequest{Message: &livekit.SignalRequest_SubscriptionPermission{SubscriptionPermission: &livekit.SubscriptionPermission{AllParticipants: true}}}, "not used here"},
		"an empty announcement":        {&livekit.SignalRequest{Message: &livekit.SignalRequest_AddTrack{}}, "empty announcement"},
		"quality -1":                   {addTrack(layer(&livekit.VideoLayer{Quality: -1})), "quality"},
		"quality off":                  {addTrack(layer(&livekit.VideoLayer{Quality: livekit.VideoQuality_OFF})), "quality"},
		"quality -1 of a codec":        {addTrack(func(a *livekit.AddTrackRequest) { a.SimulcastCodecs[0].Layers[0].Quality = -1 }), "quality"},
		"spatial layer -1":             {addTrack(layer(&livekit.VideoLayer{SpatialLayer: -1})), "spatial layer"},
		"spatial layer 3":              {addTrack(layer(&livekit.VideoLayer{SpatialLayer: 3})), "spatial layer"},
		"four layers":                  {addTrack(func(a *livekit.AddTrackRequest) { a.Layers = make([]*livekit.VideoLayer, 4) }), "more than 3 layers"},
		"an empty layer":               {addTrack(layer(nil)), "empty layer"},
		"VP9":                          {addTrack(func(a *livekit.AddTrackRequest) { a.SimulcastCodecs[0].Codec = "VP9" }), "not enabled"},
		"AV1":                          {addTrack(func(a *livekit.AddTrackRequest) { a.SimulcastCodecs[0].Codec = "video/av1" }), "not enabled"},
		"sound as a camera":            {addTrack(func(a *livekit.AddTrackRequest) { a.Type = livekit.TrackType_AUDIO }), "does not match its source"},
		"a picture as a microphone":    {addTrack(func(a *livekit.AddTrackRequest) { a.Source = livekit.TrackSource_MICROPHONE }), "does not match its source"},
		"no source":                    {addTrack(func(a *livekit.AddTrackRequest) { a.Source = 0 }), "does not match its source"},
		"no id":                        {addTrack(func(a *livekit.AddTrackRequest) { a.Cid = "" }), "without an id"},
		"a long name":                  {addTrack(func(a *livekit.AddTrackRequest) { a.Name = long }), "a text of more"},
		"a huge picture":               {addTrack(func(a *livekit.AddTrackRequest) { a.Width = 1 << 31 }), "pixels"},
		"3000 tracks":                  {&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{Subscription: &livekit.UpdateSubscription{TrackSids: sids}}}, "more than 2500 tracks"},
		"3000 tracks of one":           {&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{Subscription: &livekit.UpdateSubscription{ParticipantTracks: []*livekit.ParticipantTracks{{TrackSids: sids}}}}}, "more than 2500 tracks"},
		"settings of 3000":             {&livekit.SignalRequest{Message: &livekit.SignalRequest_TrackSetting{TrackSetting: &livekit.UpdateTrackSettings{TrackSids: sids}}}, "more than 2500 tracks"},
		"an offer of a wrong type":     {describe("pranswer", offer), "wrong type"},
		"an answer as an offer":        {describe("answer", offer), "wrong type"},
		"no description":               {describe("offer", strings.Repeat("A", 1000)), "cannot be parsed"},
		"a huge description":           {describe("offer", strings.Repeat("A", 2<<20)), "more than 1048576 bytes"},
		"a description of empty lines": {describe("offer", offer+strings.Repeat("a=\n", 60_000)), "lines"},
		"65 sections that send":        {describe("offer", offer+strings.Repeat("m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=sendrecv\r\n", 64)), "64 sections that send"},
		"65 sections without a word":   {describe("offer", offer+strings.Repeat("m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n", 64)), "64 sections that send"},
		"500 sections that receive":    {describe("offer", offer+strings.Repeat("m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=recvonly\r\n", 500)), ""},
		"500 sections that are gone":   {describe("offer", offer+strings.Repeat("m=audio 0 UDP/TLS/RTP/SAVPF 0\r\na=sendrecv\r\n", 500)), ""},
		"a long candidate":             {&livekit.SignalRequest{Message: &livekit.SignalRequest_Trickle{Trickle: &livekit.TrickleRequest{CandidateInit: strings.Repeat("x", 2000)}}}, "candidate of more"},
		"a candidate for nobody":       {&livekit.SignalRequest{Message: &livekit.SignalRequest_Trickle{Trickle: &livekit.TrickleRequest{Target: 9}}}, "unknown connection"},
		"a state with a bad layer":     {&livekit.SignalRequest{Message: &livekit.SignalRequest_SyncState{SyncState: &livekit.SyncState{PublishTracks: []*livekit.TrackPublishedResponse{{Track: &livekit.TrackInfo{Codecs: []*livekit.SimulcastCodecInfo{{Layers: []*livekit.VideoLayer{{Quality: -1}}}}}}}}}}, "quality"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := signalfilter.SanitizeRequest(c.req)
			switch {
			case c.want == "" && r != nil:
				t.Errorf("request %v: got refusal %q, want none", c.req, r.Reason)
			case c.want != "" && (r == nil || !strings.Contains(r.Reason, c.want)):
				t.Errorf("got %v, want %q", r, c.want)
			}
		})
	}
}

// Header extensions that are not needed are removed, and the rest of the description stays.
func TestIsDefaultPermission(t *testing.T) {
	permission := func(p *livekit.SubscriptionPermission) *livekit.SignalRequest {
		return &livekit.SignalRequest{Message: &livekit.SignalRequest_SubscriptionPermission{SubscriptionPermission: p}}
	}
	for name, tc := range map[string]struct {
		req  *livekit.SignalRequest
		want bool
	}{
		"everybody": {permission(&livekit.SubscriptionPermission{AllParticipants: true}), true},
		"nobody":    {permission(&livekit.SubscriptionPermission{}), false},
		"one track": {permission(&livekit.SubscriptionPermission{AllParticipants: true,
			TrackPermissions: []*livekit.TrackPermission{{ParticipantIdentity: "a"}}}), false},
		"no permission": {permission(nil), false},
		"a ping":        {&livekit.SignalRequest{Message: &livekit.SignalRequest_Ping{Ping: 1}}, false},
	} {
		if got := signalfilter.IsDefaultPermission(tc.req); got != tc.want {
			t.Errorf("%s: got %t, want %t", name, got, tc.want)
		}
	}
}

func TestSanitizeRequest_RewritesDescription(t *testing.T) {
	t.Parallel()
	d := &livekit.SessionDescription{Type: "offer", Sdp: offer, Id: 7}
	req := &livekit.SignalRequest{Message: &livekit.SignalRequest_Offer{Offer: d}}
	if r := signalfilter.SanitizeRequest(req); r != nil {
		t.Fatalf("request %v: got refusal %q, want none", req, r.Reason)
	}
	if strings.Contains(strings.ToLower(d.Sdp), "dependency-descriptor") {
		t.Errorf("description: got a dependency descriptor, want none in:\n%s", d.Sdp)
	}
	for _, line := range []string{"a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid\r\n", "a=mid:0\r\n",
		"a=rtpmap:96 VP8/90000\r\n", "a=extmap-allow-mixed\r\n", "a=sendonly\r\n"} {
		if !strings.Contains(d.Sdp, line) {
			t.Errorf("description: got no line %q, want one in:\n%s", line, d.Sdp)
		}
	}
}

// Claims that LiveKit would believe, and ids that it would keep, are removed.
func TestSanitizeRequest_RemovesUntrusted(t *testing.T) {
	t.Parallel()
	exists := func(sid string) bool { return sid == "TR_here" }
	sids := func() []string { return []string{"TR_none", "TR_here", "TR_gone"} }
	for name, c := range map[string]struct {
		req  *livekit.SignalRequest
		want *livekit.SignalRequest // nil: nothing is left
	}{
		"why somebody leaves": {
			&livekit.SignalRequest{Message: &livekit.SignalRequest_Leave{Leave: &livekit.LeaveRequest{Reason: livekit.DisconnectReason_USER_REJECTED}}},
			&livekit.SignalRequest{Message: &livekit.SignalRequest_Leave{Leave: &livekit.LeaveRequest{Reason: livekit.DisconnectReason_CLIENT_INITIATED}}}},
		"packet trailers": {
			addTrack(func(a *livekit.AddTrackRequest) { a.PacketTrailerFeatures = []livekit.PacketTrailerFeature{1} }),
			addTrack(func(*livekit.AddTrackRequest) {})},
		"a subscription": {
			&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{Subscription: &livekit.UpdateSubscription{TrackSids: sids(),
				ParticipantTracks: []*livekit.ParticipantTracks{{ParticipantSid: "PA_1", TrackSids: sids()},
					{TrackSids: []string{"TR_none"}}}}}},
			&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{Subscription: &livekit.UpdateSubscription{TrackSids: []string{"TR_here"},
				ParticipantTracks: []*livekit.ParticipantTracks{{ParticipantSid: "PA_1",
					TrackSids: []string{"TR_here"}}}}}}},
		"a subscription to nothing": {
			&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{Subscription: &livekit.UpdateSubscription{TrackSids: []string{"TR_none"}}}}, nil},
		"settings": {
			&livekit.SignalRequest{Message: &livekit.SignalRequest_TrackSetting{TrackSetting: &livekit.UpdateTrackSettings{TrackSids: sids(), Disabled: true}}},
			&livekit.SignalRequest{Message: &livekit.SignalRequest_TrackSetting{TrackSetting: &livekit.UpdateTrackSettings{TrackSids: []string{"TR_here"}, Disabled: true}}}},
		"settings of nothing": {
			&livekit.SignalRequest{Message: &livekit.SignalRequest_TrackSetting{TrackSetting: &livekit.UpdateTrackSettings{TrackSids: []string{"TR_none"}}}}, nil},
		"a state": {
			&livekit.SignalRequest{Message: &livekit.SignalRequest_SyncState{SyncState: &livekit.SyncState{TrackSidsDisabled: sids(),
				Subscription: &livekit.UpdateSubscription{TrackSids: sids()}}}},
			&livekit.SignalRequest{Message: &livekit.SignalRequest_SyncState{SyncState: &livekit.SyncState{TrackSidsDisabled: []string{"TR_here"},
				Subscription: &livekit.UpdateSubscription{TrackSids: []string{"TR_here"}}}}}},
		"an empty state": {
			&livekit.SignalRequest{Message: &livekit.SignalRequest_SyncState{SyncState: &livekit.SyncState{}}},
			&livekit.SignalRequest{Message: &livekit.SignalRequest_SyncState{SyncState: &livekit.SyncState{}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := signalfilter.SanitizeRequest(c.req); r != nil {
				t.Fatalf("request %v: got refusal %q, want none", c.req, r.Reason)
			}
			passes := signalfilter.RemoveUnknownTracks(c.req, exists)
			if passes != (c.want != nil) || passes && !proto.Equal(c.req, c.want) {
				t.Errorf("request: got forwarded %t as %v, want forwarded %t as %v", passes, c.req, c.want != nil, c.want)
			}
		})
	}
}

func TestSanitizeQuery(t *testing.T) {
	t.Parallel()
	got, r := signalfilter.SanitizeQuery(url.Values{"protocol": {"1149"}, "sdk": {"js"}, "publish": {"x"},
		"disable_ice_lite": {"1"}, "other": {"y"}})
	if r != nil || got.Encode() != "protocol=17&sdk=js" {
		t.Errorf("query: got %v, refusal %v, want protocol=17&sdk=js and no refusal", got, r)
	}
	if _, r := signalfilter.SanitizeQuery(url.Values{"version": {strings.Repeat("x", 300)}}); r == nil {
		t.Error("version of 300 characters: got no refusal, want one")
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(make([]byte, 300_000))
	_ = w.Close()
	bomb, err := proto.Marshal(&livekit.WrappedJoinRequest{Compression: livekit.WrappedJoinRequest_GZIP,
		JoinRequest: packed.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	encoded := base64.URLEncoding.EncodeToString(bomb)
	_, r = signalfilter.SanitizeQuery(url.Values{"join_request": {encoded}})
	if r == nil || !strings.Contains(r.Reason, "bytes") {
		t.Errorf("join request of 300,000 bytes: got refusal %v, want one with \"bytes\"", r)
	}
	for name, text := range map[string]string{"no Base64": "%", "no message": "AAAA", "too long": strings.Repeat("A",
		40_000)} {
		if _, r := signalfilter.SanitizeQuery(url.Values{"join_request": {text}}); r == nil {
			t.Errorf("join request (%s): got no refusal, want one", name)
		}
	}
}

// No input causes a panic. A request that passes once passes again without changes, and no
// description contains an extension that is not allowed.
func FuzzRequest(f *testing.F) {
	for _, req := range []*livekit.SignalRequest{
		addTrack(func(*livekit.AddTrackRequest) {}),
		{Message: &livekit.SignalRequest_Offer{Offer: &livekit.SessionDescription{Type: "offer", Sdp: offer}}},
		{Message: &livekit.SignalRequest_Answer{Answer: &livekit.SessionDescription{Type: "answer", Sdp: offer}}},
	} {
		data, err := proto.Marshal(req)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		req := &livekit.SignalRequest{}
		if proto.Unmarshal(data, req) != nil || signalfilter.SanitizeRequest(req) != nil {
			return
		}
		before := proto.CloneOf(req)
		if r := signalfilter.SanitizeRequest(req); r != nil {
			t.Fatalf("sanitized request %v: got refusal %q, want none", before, r.Reason)
		}
		if !proto.Equal(before, req) {
			t.Fatalf("request sanitized a second time: got %v, want no change from %v", req, before)
		}
		d := req.GetOffer()
		if d == nil {
			d = req.GetAnswer()
		}
		if d == nil {
			return
		}
		var parsed sdp.SessionDescription
		if err := parsed.UnmarshalString(d.Sdp); err != nil {
			t.Fatalf("parse the sanitized description %q: got error %v, want none", d.Sdp, err)
		}
		for _, m := range parsed.MediaDescriptions {
			for _, a := range m.Attributes {
				if a.Key == "extmap" && strings.Contains(strings.ToLower(a.Value), "dependency") {
					t.Fatalf("extension in the sanitized description: got %q, want none with \"dependency\"", a.Value)
				}
			}
		}
	})
}

// A join request that passes is safe to pass on.
func FuzzQuery(f *testing.F) {
	f.Add("ChAKBggCEAEoAQ==", "16")
	f.Fuzz(func(t *testing.T, joinRequest, protocol string) {
		safe, r := signalfilter.SanitizeQuery(url.Values{"join_request": {joinRequest}, "protocol": {protocol}})
		if r != nil {
			return
		}
		if len(safe.Encode()) > 30_000 {
			return // it was compressed, and uncompressed it is too long for a query
		}
		resanitized, r := signalfilter.SanitizeQuery(safe)
		if r != nil || resanitized.Encode() != safe.Encode() {
			t.Fatalf("query sanitized a second time: got %v, refusal %v, want no change from %v", resanitized, r, safe)
		}
	})
}

func TestCandidate(t *testing.T) {
	t.Parallel()
	trickle := func(init string) *livekit.SignalRequest {
		return &livekit.SignalRequest{Message: &livekit.SignalRequest_Trickle{
			Trickle: &livekit.TrickleRequest{CandidateInit: init}}}
	}
	for init, want := range map[string]string{
		`{"candidate":"candidate:1 1 udp 2130706431 203.0.113.7 5000 typ host"}`:             "203.0.113.7",
		`{"candidate":"candidate:1 1 udp 2130706431 ::ffff:127.0.0.1 5000 typ host"}`:        "127.0.0.1",
		`{"candidate":"candidate:1 1 udp 1 2001:db8::1 5000 typ srflx raddr :: rport 0"}`:    "2001:db8::1",
		`{"candidate":"candidate:1 1 tcp 2130706431 203.0.113.7 9 typ host tcptype active"}`: "invalid IP",
		`{"candidate":"candidate:1 1 udp 2130706431 0b7c.local 5000 typ host"}`:              "invalid IP",
		`{"candidate":""}`:  "invalid IP",
		`{"candidate":"x"}`: "invalid IP",
		`x`:                 "invalid IP",
	} {
		if addr, ok := signalfilter.Candidate(trickle(init)); !ok || addr.String() != want {
			t.Errorf("%s: got %s, %v, want %s", init, addr, ok, want)
		}
	}
	if addr, ok := signalfilter.Candidate(&livekit.SignalRequest{}); ok {
		t.Errorf("another request: got %s, want none", addr)
	}
}
