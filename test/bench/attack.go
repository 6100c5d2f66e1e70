package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/livekit/protocol/livekit"
	"github.com/pion/rtp"

	"parley/internal/media/mediatest"
	"parley/test/bench/measure"
)

const (
	attackTime = 10 * time.Second
	// burstTime passes before an attack is measured, so that the burst that its limit allows is
	// used up.
	burstTime = 5 * time.Second
)

// attacks are what one guest sends, in times a second, each above the limit or just below the
// number at which the server disconnects the guest.
var attacks = []struct {
	name      string
	perSecond int
	send      func(eve *attacker, n int) error
}{
	{"media packets, 3,000 a second", 3000, (*attacker).sendPacket},
	{"reports that name 250 sources, 100 a second", 100, (*attacker).sendReport},
	{"packets of 1,200 bytes with messages, 3,000 a second", 3000, (*attacker).sendRecord},
	{"connectivity checks, 1,000 a second", 1000, func(eve *attacker, _ int) error { return eve.side.Check() }},
	{"messages of 2,500 bytes, 48 a second", 48, func(eve *attacker, _ int) error {
		return eve.SendData(context.Background(), "chat", strings.Repeat("x", 2500))
	}},
	{"requests, 90 a second", 90, (*attacker).ping},
	{"subscriptions to 100 tracks that do not exist, once a second", 1, (*attacker).subscribe},
}

// attack measures the processor time that one guest takes from the server with the worst that
// each limit lets through. The control is the same guest without an attack.
func (b *bench) attack(ctx context.Context) (figures []figure, err error) {
	p, err := b.startParley(ctx, filepath.Join(b.dir, "attack"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	eve, err := p.newAttacker(ctx)
	if err != nil {
		return nil, err
	}
	defer eve.Abort()
	const of = "processor time for one guest who does their worst"
	idle, err := coresDuring(ctx, p.cpu(), attackTime)
	if err != nil {
		return nil, err
	}
	for _, a := range attacks {
		attacking, stop := context.WithCancel(ctx)
		sent := make(chan error, 1)
		go func() { sent <- eve.repeat(attacking, a.perSecond, a.send) }()
		_, err := coresDuring(ctx, p.cpu(), burstTime)
		var cores float64
		if err == nil {
			cores, err = coresDuring(ctx, p.cpu(), attackTime)
		}
		stop()
		if err := errors.Join(err, <-sent); err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		if eve.Closed() {
			return nil, fmt.Errorf("%s: the server disconnected the guest, so there is nothing to measure", a.name)
		}
		figures = append(figures, figure{Of: of, Name: a.name, Value: cores - idle, Unit: "cores"}.atMost(0.1))
	}
	return append(figures, figure{Of: of, Name: "control, a guest who does nothing", Value: idle, Unit: "cores"}), p.end()
}

// coresDuring returns the processor time of a server in a period, divided by its length.
func coresDuring(ctx context.Context, cpu measure.CPU, length time.Duration) (float64, error) {
	began := time.Now()
	before, err := cpu()
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(length):
	}
	after, err := cpu()
	return (after - before).Seconds() / time.Since(began).Seconds(), err
}

// attacker is a guest who is connected, with all that the attacks need.
type attacker struct {
	*mediatest.Raw
	track *mediatest.RawTrack
	side  *mediatest.Side
}

// newAttacker creates a room and joins it as a guest.
func (p *parley) newAttacker(ctx context.Context) (*attacker, error) {
	l, err := measure.Dial(measure.Target{Name: "Parley", Address: p.Address, CPU: p.cpu(),
		Request: createRoom(p.serverInfo)}, 1)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	body, err := l.SendOne()
	if err != nil {
		return nil, err
	}
	var created struct {
		RoomID string `json:"room_id"`
	}
	if err := json.Unmarshal(body, &created); err != nil {
		return nil, err
	}
	baseURL := "http://" + p.Address
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, baseURL+"/api/join/rooms/"+created.RoomID+"/seats",
		bytes.NewReader([]byte(`{"seat_key":"`+strings.Repeat("e", 43)+`","name":"Eve"}`)))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	var seat struct {
		MediaToken string `json:"media_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&seat); err != nil {
		return nil, err
	}
	if seat.MediaToken == "" {
		return nil, fmt.Errorf("reserve a seat: got status %d and no token", res.StatusCode)
	}
	raw, err := mediatest.Dial(ctx, baseURL, seat.MediaToken, mediatest.RawOptions{})
	if err != nil {
		return nil, err
	}
	eve := &attacker{Raw: raw}
	if err := eve.AwaitConnected(ctx); err != nil {
		return nil, err
	}
	if _, err := eve.OpenDataChannel(ctx, "_reliable", nil); err != nil {
		return nil, err
	}
	if eve.track, err = eve.OpenUnannounced(); err != nil {
		return nil, err
	}
	if eve.side, err = eve.OpenSide(); err != nil {
		return nil, err
	}
	return eve, eve.side.AwaitCheck(ctx)
}

// repeat calls send so many times a second until ctx ends.
func (eve *attacker) repeat(ctx context.Context, perSecond int, send func(*attacker, int) error) error {
	began, n := time.Now(), 0
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		for due := int(time.Since(began).Seconds() * float64(perSecond)); n < due; n++ {
			if err := send(eve, n); err != nil {
				return err
			}
		}
	}
}

func (eve *attacker) sendPacket(n int) error {
	header := &rtp.Header{Version: 2, PayloadType: 111, SSRC: 77, SequenceNumber: uint16(n)}
	return eve.track.Send(header, make([]byte, 100))
}

// sendReport sends one REMB packet (draft-alvestrand-rmcat-remb) that names 250 sources, always
// the same ones.
func (eve *attacker) sendReport(int) error {
	const sources = 250
	packet := make([]byte, 20+4*sources)
	packet[0], packet[1] = 0x80|15, 206
	binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)/4-1))
	binary.BigEndian.PutUint32(packet[4:], 1)
	copy(packet[12:], "REMB")
	packet[16] = sources
	for i := range sources {
		binary.BigEndian.PutUint32(packet[20+4*i:], uint32(i+1))
	}
	return eve.WriteRTCP(packet)
}

// sendRecord sends what looks like an encrypted message (RFC 9147, section 4).
func (eve *attacker) sendRecord(int) error {
	record := make([]byte, 1200)
	record[0] = 23
	return eve.side.Send(record)
}

func (eve *attacker) ping(n int) error {
	return eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_PingReq{
		PingReq: &livekit.Ping{Timestamp: int64(n + 1)}}})
}

func (eve *attacker) subscribe(n int) error {
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("TR_%d_%d", n, i)
	}
	return eve.SendRequest(&livekit.SignalRequest{Message: &livekit.SignalRequest_Subscription{
		Subscription: &livekit.UpdateSubscription{TrackSids: ids, Subscribe: true}}})
}
