package media_test

import (
	"strings"
	"time"

	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/signalling"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// publish announces a track as the given type and source, and sends packets
// of the given codec whatever was announced.
func (c *client) publish(cid string, kind livekit.TrackType, source livekit.TrackSource, mime string) {
	c.t.Helper()
	c.request(cid, kind, source)
	eventually(c.t, "track announced", func() bool { return c.announced(cid) != nil })

	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: mime}, cid, "stream")
	if err != nil {
		c.t.Fatal(err)
	}
	eventually(c.t, "answer to the last offer", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.pub == nil || c.pub.SignalingState() == webrtc.SignalingStateStable
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pub == nil {
		if c.pub, err = c.peer(livekit.SignalTarget_PUBLISHER); err != nil {
			c.t.Fatal(err)
		}
		// Something the server accepts whatever it thinks of the tracks.
		if _, err := c.pub.CreateDataChannel("_reliable", nil); err != nil {
			c.t.Fatal(err)
		}
	}
	if _, err := c.pub.AddTrack(track); err != nil {
		c.t.Fatal(err)
	}
	offer, err := c.pub.CreateOffer(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.pub.SetLocalDescription(offer); err != nil {
		c.t.Fatal(err)
	}
	if err := c.say(&livekit.SignalRequest{Message: &livekit.SignalRequest_Offer{
		Offer: signalling.ToProtoSessionDescription(offer, 0, nil)}}); err != nil {
		c.t.Fatal(err)
	}
	go c.write(track, strings.HasPrefix(mime, "video/"))
}

func (c *client) request(cid string, kind livekit.TrackType, source livekit.TrackSource) {
	c.t.Helper()
	if err := c.say(&livekit.SignalRequest{Message: &livekit.SignalRequest_AddTrack{AddTrack: &livekit.AddTrackRequest{
		Cid: cid, Name: "microphone", Type: kind, Source: source, Width: 640, Height: 480,
	}}}); err != nil {
		c.t.Fatal(err)
	}
}

// write sends packets until the client is closed. For video each is the
// start of a VP8 key frame, so that a server can forward from any of them.
func (c *client) write(track *webrtc.TrackLocalStaticRTP, video bool) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	payload := []byte{0xf8, 0xff, 0xfe}
	if video {
		payload = []byte{0x10, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0xe0, 0x01, 0x00}
	}
	for n := uint16(1); ; n++ {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		_ = track.WriteRTP(&rtp.Packet{
			Header:  rtp.Header{Version: 2, Marker: video, SequenceNumber: n, Timestamp: uint32(n) * 480},
			Payload: payload,
		})
	}
}
