package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/livekit/protocol/auth"

	"parley/client/sign"
	"parley/internal/media/mediatest"
	"parley/internal/testkit"
	"parley/test/bench/measure"
)

// mediaScenario is a meeting. The speakers send sound, and the cameras pictures; everybody receives
// all of them.
type mediaScenario struct {
	name                      string
	people, speakers, cameras int
}

// The first scenario is measured over each path.
var mediaScenarios = []mediaScenario{
	{"10 people who all speak", 10, 10, 0},
	{"4 people with cameras", 4, 4, 4},
	{"1 speaker and 60 listeners", 61, 1, 0},
}

// The traffic of a track: Opus with 20 ms in a packet, and about one Mbit/s of video.
const (
	soundPerSecond, soundBytes     = 50, 80
	picturePerSecond, pictureBytes = 120, 1000
)

const (
	// mediaSlice is the length of a slice with media.
	mediaSlice = 5 * time.Second
	// mediaSettle is the pause after the traffic has begun.
	mediaSettle = time.Second
	// maxMediaPairs bounds the pairs, because a slice is long.
	maxMediaPairs = 4
	mediaGoal     = 0.95
)

// mediaPaths are the paths of media to Parley.
var mediaPaths = []struct {
	name    string
	network mediatest.Network
}{
	{"UDP", mediatest.Network{}},
	{"ICE over TCP", mediatest.Network{TCP: true}},
	{"TURN over TCP", mediatest.Network{Relay: "turn"}},
	{"TURN over TLS", mediatest.Network{Relay: "turns"}},
}

// media measures the processor time of the server for each person in a meeting, and the packets that
// arrive, compared with LiveKit's own server and over each path.
func (b *bench) media(ctx context.Context) ([]figure, error) {
	p, client, err := b.startSecureParley(ctx)
	if err != nil {
		return nil, err
	}
	defer p.quit()
	var l serverInfo
	c, err := startSelf(b.dir, roleLiveKit, "", &l)
	if err != nil {
		return nil, err
	}
	defer c.quit()
	if err := c.await(ctx, 10*time.Millisecond, func() bool { return accepts(l.Address) }); err != nil {
		return nil, err
	}
	parley := &mediaServer{url: "https://" + p.Address, cpu: p.cpu(), secure: client, server: p}
	livekit := &mediaServer{url: "http://" + l.Address, cpu: measure.ProcessCPU(c.pid())}
	var all []figure
	for _, scenario := range mediaScenarios {
		figures, err := b.compareMedia(ctx, scenario, parley, livekit)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", scenario.name, err)
		}
		all = append(all, figures...)
	}
	figures, err := b.comparePaths(ctx, mediaScenarios[0], parley)
	return append(all, figures...), err
}

// startSecureParley starts Parley with HTTPS and a certificate that this process trusts from now on.
func (b *bench) startSecureParley(ctx context.Context) (*parley, *tls.Config, error) {
	dir := filepath.Join(b.dir, "media")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	certificate, err := testkit.MakeCertificate(1, time.Now().Add(24*time.Hour))
	if err != nil {
		return nil, nil, err
	}
	cert, key, err := certificate.WriteTo(dir)
	if err != nil {
		return nil, nil, err
	}
	// The system's authorities are loaded once, at the first connection with TLS.
	if err := os.Setenv("SSL_CERT_FILE", cert); err != nil {
		return nil, nil, err
	}
	port, err := testkit.PickTCPPort()
	if err != nil {
		return nil, nil, err
	}
	address := "localhost:" + strconv.Itoa(port)
	p, err := b.startParleyAt(ctx, address, dir, "", "--public-url", "https://"+address, "--tls-cert-file", cert,
		"--tls-key-file", key)
	return p, &tls.Config{RootCAs: certificate.Pool}, err
}

// mediaServer is a server of meetings.
type mediaServer struct {
	url    string
	cpu    measure.CPU
	secure *tls.Config // nil without TLS
	server *parley     // nil for LiveKit
}

// meeting is a meeting with people whose traffic is paused.
type meeting struct {
	cpu      measure.CPU
	people   []*mediatest.Participant
	paused   atomic.Bool
	expected float64 // packets that all people receive in a second
}

// open opens a meeting. Its traffic is paused when open returns.
func (s *mediaServer) open(
	ctx context.Context, scenario mediaScenario, network mediatest.Network,
) (_ *meeting, err error) {
	network.TLS = s.secure
	m := &meeting{cpu: s.cpu}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	token, err := s.tokens(ctx, scenario)
	if err != nil {
		return nil, err
	}
	for n := range scenario.people {
		access, err := token(n)
		if err != nil {
			return nil, err
		}
		person, err := network.Join(ctx, s.url, access)
		if err != nil {
			return nil, fmt.Errorf("person %d: %w", n, err)
		}
		m.people = append(m.people, person)
		sound := mediatest.Traffic{PerSecond: soundPerSecond, Bytes: soundBytes, Paused: &m.paused}
		if n < scenario.speakers {
			err = person.PublishTraffic(ctx, "sound", mediatest.Microphone, sound)
		}
		picture := mediatest.Traffic{PerSecond: picturePerSecond, Bytes: pictureBytes, Paused: &m.paused}
		if err == nil && n < scenario.cameras {
			err = person.PublishTraffic(ctx, "picture", mediatest.Camera, picture)
		}
		if err != nil {
			return nil, fmt.Errorf("person %d: %w", n, err)
		}
	}
	others := float64(scenario.people - 1)
	m.expected = others * (float64(scenario.speakers*soundPerSecond) + float64(scenario.cameras*picturePerSecond))
	for i, person := range m.people {
		from := m.people[0]
		if i == 0 {
			from = m.people[min(1, scenario.speakers-1)]
		}
		if from == person {
			continue
		}
		if err := person.AwaitPacketsFrom(ctx, from.Identity(), mediatest.Microphone); err != nil {
			return nil, err
		}
	}
	m.paused.Store(true)
	return m, nil
}

func (m *meeting) close() {
	for _, person := range m.people {
		person.Abort()
	}
}

func (m *meeting) received() (n int) {
	for _, person := range m.people {
		n += person.Received(mediatest.Audio) + person.Received(mediatest.Video)
	}
	return n
}

// mediaUse is what a slice of a meeting has used.
type mediaUse struct {
	cores, packets float64 // of a second
}

// run runs the traffic of a meeting for a slice.
func (m *meeting) run(ctx context.Context) (mediaUse, error) {
	m.paused.Store(false)
	defer m.paused.Store(true)
	select {
	case <-ctx.Done():
		return mediaUse{}, ctx.Err()
	case <-time.After(mediaSettle):
	}
	before, began := m.received(), time.Now()
	cores, err := coresDuring(ctx, m.cpu, mediaSlice)
	return mediaUse{cores, float64(m.received()-before) / time.Since(began).Seconds()}, err
}

// compareMedia compares a meeting on Parley with the same on LiveKit, and with itself as a control.
func (b *bench) compareMedia(
	ctx context.Context, scenario mediaScenario, parley, livekit *mediaServer,
) ([]figure, error) {
	ours, err := parley.open(ctx, scenario, mediatest.Network{})
	if err != nil {
		return nil, fmt.Errorf("meeting on Parley: %w", err)
	}
	defer ours.close()
	theirs, err := livekit.open(ctx, scenario, mediatest.Network{})
	if err != nil {
		return nil, fmt.Errorf("meeting on LiveKit: %w", err)
	}
	defer theirs.close()
	uses, err := b.alternate(ctx, ours, theirs, ours)
	if err != nil {
		return nil, err
	}
	people := float64(scenario.people)
	of := "media, " + scenario.name
	return []figure{
		figure{Of: of, Name: "cpu, LiveKit's = 1", Value: ratioOfCores(uses[0], uses[1]),
			Comment: fmt.Sprintf("%.4f cores a person, LiveKit %.4f", cores(uses[0])/people, cores(uses[1])/people)}.
			atMost(mediaGoal).withControl(ratioOfCores(uses[0], uses[2])),
		{Of: of, Name: "packets to people", Value: packets(uses[0]), Unit: "/s",
			Comment: fmt.Sprintf("%.0f expected, LiveKit %.0f", ours.expected, packets(uses[1]))},
	}, nil
}

// comparePaths compares a meeting over each path with that over UDP.
func (b *bench) comparePaths(
	ctx context.Context, scenario mediaScenario, parley *mediaServer,
) (all []figure, err error) {
	var meetings []*meeting
	defer func() {
		for _, m := range meetings {
			m.close()
		}
	}()
	for _, path := range mediaPaths {
		m, err := parley.open(ctx, scenario, path.network)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.name, err)
		}
		meetings = append(meetings, m)
	}
	uses, err := b.alternate(ctx, meetings...)
	if err != nil {
		return nil, err
	}
	for i, path := range mediaPaths {
		all = append(all, figure{Of: "media, " + scenario.name + ", over each path",
			Name:  path.name + ", cpu, UDP's = 1",
			Value: ratioOfCores(uses[i], uses[0]),
			Comment: fmt.Sprintf("%.4f cores a person, %.0f of %.0f packets/s",
				cores(uses[i])/float64(scenario.people), packets(uses[i]), meetings[i].expected)})
	}
	return all, nil
}

// alternate runs slices of the meetings in turn, and returns the slices of each.
func (b *bench) alternate(ctx context.Context, meetings ...*meeting) ([][]mediaUse, error) {
	uses := make([][]mediaUse, len(meetings))
	for range min(b.pairs, maxMediaPairs) {
		for i, m := range meetings {
			use, err := m.run(ctx)
			if err != nil {
				return nil, err
			}
			uses[i] = append(uses[i], use)
		}
	}
	return uses, nil
}

func cores(uses []mediaUse) float64 {
	return medianOf(uses, func(u mediaUse) float64 { return u.cores })
}

func packets(uses []mediaUse) float64 {
	return medianOf(uses, func(u mediaUse) float64 { return u.packets })
}

func medianOf(uses []mediaUse, of func(mediaUse) float64) float64 {
	values := make([]float64, len(uses))
	for i, u := range uses {
		values[i] = of(u)
	}
	return measure.Median(values)
}

// ratioOfCores returns the median ratio of slices that ran one after the other.
func ratioOfCores(a, b []mediaUse) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i].cores / b[i].cores
	}
	return measure.Median(ratios)
}

// tokens creates a room and returns a function that returns the access token of a new person.
func (s *mediaServer) tokens(ctx context.Context, scenario mediaScenario) (func(n int) (string, error), error) {
	if s.server == nil {
		name := strings.ReplaceAll(scenario.name, " ", "-")
		return func(n int) (string, error) {
			return auth.NewAccessToken(livekitKey, livekitSecret).SetIdentity("person-" + strconv.Itoa(n)).
				SetVideoGrant(&auth.VideoGrant{RoomJoin: true, Room: name}).SetValidFor(time.Hour).ToJWT()
		}, nil
	}
	return s.server.seatTokens(ctx, scenario, &http.Client{Transport: &http.Transport{TLSClientConfig: s.secure.Clone()}})
}

// seatTokens creates a room with open seats.
func (p *parley) seatTokens(ctx context.Context, scenario mediaScenario, client *http.Client) (
	func(n int) (string, error), error,
) {
	post := func(path, body string, out any) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+p.Address+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		if strings.HasPrefix(path, "/api/v3/") {
			request.Header.Set("hash-signature", sign.Legacy(p.APIKey, []byte(body)))
		}
		res, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		var text bytes.Buffer
		if _, err := text.ReadFrom(res.Body); err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: status %d: %s", path, res.StatusCode, text.String())
		}
		return json.Unmarshal(text.Bytes(), out)
	}
	kind := "audio"
	if scenario.cameras > 0 {
		kind = "video"
	}
	var created struct {
		RoomID string `json:"room_id"`
	}
	err := post("/api/v3/rooms/create_quick_"+kind+"_room", fmt.Sprintf(`{"project_id":%q,"name":"Amina",`+
		`"max_participants":%d,"empty_timeout":300,"metadata":{"room_title":"Bench","welcome_message":""}}`,
		p.ProjectID, scenario.people+1), &created)
	return func(n int) (string, error) {
		var seat struct {
			MediaToken string `json:"media_token"`
		}
		err := post("/api/join/rooms/"+created.RoomID+"/seats",
			fmt.Sprintf(`{"seat_key":"%043d","name":"Person %d"}`, n, n), &seat)
		return seat.MediaToken, err
	}, err
}
