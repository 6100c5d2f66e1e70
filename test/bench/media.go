package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/livekit/protocol/auth"

	"parley.example/client/sign"
	"parley/internal/media/mediatest"
	"parley/internal/testkit"
	"parley/test/bench/measure"
)

// mediaScenario is one meeting or several of the same kind. The speakers of a meeting send sound, and the
// cameras pictures; everybody in it receives all of them.
type mediaScenario struct {
	name                             string
	rooms, people, speakers, cameras int // the last three are of each room
}

// The first scenario is measured over each path.
var mediaScenarios = []mediaScenario{
	{"10 people who all speak", 1, 10, 10, 0},
	{"50 people of whom 5 speak", 1, 50, 5, 0},
	{"4 people with cameras", 1, 4, 4, 4},
	{"9 people with cameras", 1, 9, 9, 9},
	{"1 speaker and 100 listeners", 1, 101, 1, 0},
	{"10 rooms of 10 people of whom 2 speak", 10, 10, 2, 0},
}

// first returns a meeting of two people of the same kind. A server needs memory for its first meeting that does not
// depend on the number of people, such as for what it loads when it is first used.
func (s mediaScenario) first() mediaScenario {
	return mediaScenario{
		name:     s.name + ", first",
		rooms:    1,
		people:   2,
		speakers: min(2, s.speakers),
		cameras:  min(2, s.cameras),
	}
}

// all returns the number of people in all rooms.
func (s mediaScenario) all() int { return s.rooms * s.people }

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
	maxMediaPairs   = 4
	mediaGoal       = 0.95
	mediaMemoryGoal = 1.1
	// minArrived is the part of the packets that must arrive. It allows for the edges of a slice.
	minArrived = 0.99
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

// media measures the processor time and the memory of the server for each person in a meeting, and the packets
// that arrive, compared with LiveKit's own server and over each path. Each scenario has new servers, because a server
// keeps memory that it used before.
func (b *bench) media(ctx context.Context) ([]figure, error) {
	var all []figure
	for _, scenario := range mediaScenarios {
		figures, err := b.compareMedia(ctx, scenario)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", scenario.name, err)
		}
		all = append(all, figures...)
	}
	figures, err := b.comparePaths(ctx, mediaScenarios[0])
	return append(all, figures...), err
}

// mediaCertificate is the certificate of a Parley server.
type mediaCertificate struct {
	cert, key string // files
	client    *tls.Config
}

// makeMediaCertificate makes a certificate that this process trusts from now on.
func (b *bench) makeMediaCertificate() (mediaCertificate, error) {
	certificate, err := testkit.MakeCertificate(1, time.Now().Add(24*time.Hour))
	if err != nil {
		return mediaCertificate{}, err
	}
	cert, key, err := certificate.WriteTo(b.dir)
	if err != nil {
		return mediaCertificate{}, err
	}
	// The system's authorities are loaded once, at the first connection with TLS. The comparison with LiveKit has none.
	return mediaCertificate{cert, key, &tls.Config{RootCAs: certificate.Pool}}, os.Setenv("SSL_CERT_FILE", cert)
}

// startMediaParley starts Parley on an empty data directory, with HTTPS if there is a certificate.
func (b *bench) startMediaParley(ctx context.Context, certificate *mediaCertificate) (*mediaServer, error) {
	dir, err := os.MkdirTemp(b.dir, "media-")
	if err != nil {
		return nil, err
	}
	port, err := testkit.PickTCPPort()
	if err != nil {
		return nil, err
	}
	address := "localhost:" + strconv.Itoa(port)
	s := &mediaServer{url: "http://" + address}
	var flags []string
	if certificate != nil {
		s.url, s.secure = "https://"+address, certificate.client
		flags = []string{"--tls-cert-file", certificate.cert, "--tls-key-file", certificate.key}
	}
	if s.server, err = b.startParleyAt(ctx, address, dir, "", append(flags, "--public-url", s.url)...); err != nil {
		return nil, err
	}
	s.child, s.cpu = s.server.child, s.server.cpu()
	return s, nil
}

// startLiveKit starts LiveKit's own server.
func (b *bench) startLiveKit(ctx context.Context) (*mediaServer, error) {
	var l serverInfo
	c, err := startSelf(b.dir, roleLiveKit, "", &l)
	if err != nil {
		return nil, err
	}
	if err := c.await(ctx, 10*time.Millisecond, func() bool { return accepts(l.Address) }); err != nil {
		c.quit()
		return nil, err
	}
	return &mediaServer{child: c, url: "http://" + l.Address, cpu: measure.ProcessCPU(c.pid())}, nil
}

// mediaServer is a server of meetings.
type mediaServer struct {
	*child
	url    string
	cpu    measure.CPU
	secure *tls.Config // nil without TLS
	server *parley     // nil for LiveKit
}

// privateMemory returns the private memory of the server, in megabytes.
func (s *mediaServer) privateMemory() (float64, error) {
	m, err := measure.ProcessTreeMemory(s.pid())
	return float64(m.Private) / 1e6, err
}

// meeting is the meetings of a scenario, with people whose traffic is paused.
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
	for room := range scenario.rooms {
		if err := s.fill(ctx, m, scenario, room, network); err != nil {
			return nil, err
		}
	}
	m.paused.Store(true)
	return m, nil
}

// fill lets the people of a room join it.
func (s *mediaServer) fill(
	ctx context.Context, m *meeting, scenario mediaScenario, room int, network mediatest.Network,
) error {
	token, err := s.tokens(ctx, scenario, room)
	if err != nil {
		return err
	}
	var all []*mediatest.Participant
	for n := range scenario.people {
		access, err := token(n)
		if err != nil {
			return err
		}
		person, err := network.Join(ctx, s.url, access)
		if err != nil {
			return fmt.Errorf("person %d: %w", n, err)
		}
		m.people, all = append(m.people, person), append(all, person)
		sound := mediatest.Traffic{PerSecond: soundPerSecond, Bytes: soundBytes, Paused: &m.paused}
		if n < scenario.speakers {
			err = person.PublishTraffic(ctx, "sound", mediatest.Microphone, sound)
		}
		picture := mediatest.Traffic{PerSecond: picturePerSecond, Bytes: pictureBytes, Paused: &m.paused}
		if err == nil && n < scenario.cameras {
			err = person.PublishTraffic(ctx, "picture", mediatest.Camera, picture)
		}
		if err != nil {
			return fmt.Errorf("person %d: %w", n, err)
		}
	}
	others := float64(scenario.people - 1)
	m.expected += others * (float64(scenario.speakers*soundPerSecond) + float64(scenario.cameras*picturePerSecond))
	for i, person := range all {
		from := all[0]
		if i == 0 {
			from = all[min(1, scenario.speakers-1)]
		}
		if from == person {
			continue
		}
		if err := person.AwaitPacketsFrom(ctx, from.Identity(), mediatest.Microphone); err != nil {
			return err
		}
	}
	return nil
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
func (b *bench) compareMedia(ctx context.Context, scenario mediaScenario) ([]figure, error) {
	parley, err := b.startMediaParley(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer parley.quit()
	livekit, err := b.startLiveKit(ctx)
	if err != nil {
		return nil, err
	}
	defer livekit.quit()
	servers := []*mediaServer{parley, livekit}
	meetings, memory := make([]*meeting, len(servers)), make([]float64, len(servers))
	for i, s := range servers {
		first, err := s.open(ctx, scenario.first(), mediatest.Network{})
		if err != nil {
			return nil, fmt.Errorf("first meeting at %s: %w", s.url, err)
		}
		defer first.close()
		if _, err := first.run(ctx); err != nil {
			return nil, err
		}
		if memory[i], err = s.privateMemory(); err != nil {
			return nil, err
		}
		if meetings[i], err = s.open(ctx, scenario, mediatest.Network{}); err != nil {
			return nil, fmt.Errorf("meeting at %s: %w", s.url, err)
		}
		defer meetings[i].close()
	}
	uses, err := b.alternate(ctx, meetings[0], meetings[1], meetings[0])
	if err != nil {
		return nil, err
	}
	people := float64(scenario.all())
	for i, s := range servers {
		after, err := s.privateMemory()
		if err != nil {
			return nil, err
		}
		memory[i] = (after - memory[i]) / people
	}
	of := "media, " + scenario.name
	return []figure{
		figure{Of: of, Name: "cpu, LiveKit's = 1", Value: ratioOfCores(uses[0], uses[1]),
			Comment: fmt.Sprintf("%.4f cores a person, LiveKit %.4f", cores(uses[0])/people, cores(uses[1])/people)}.
			atMost(mediaGoal).withControl(ratioOfCores(uses[0], uses[2])),
		packetsFigure(of, "packets to people", packets(uses[0]), meetings[0].expected,
			fmt.Sprintf("LiveKit %.0f", packets(uses[1]))),
		figure{Of: of, Name: "memory, LiveKit's = 1", Value: memory[0] / memory[1],
			Comment: fmt.Sprintf("%.1f MB a person, LiveKit %.1f", memory[0], memory[1])}.atMost(mediaMemoryGoal),
	}, nil
}

// packetsFigure returns the packets that arrive in a second.
func packetsFigure(of, name string, arrived, expected float64, comment string) figure {
	return figure{
		Of:      of,
		Name:    name,
		Value:   arrived,
		Unit:    "/s",
		Comment: comment,
	}.atLeast(math.Round(minArrived * expected))
}

// comparePaths compares a meeting over each path with that over UDP.
func (b *bench) comparePaths(ctx context.Context, scenario mediaScenario) (all []figure, err error) {
	certificate, err := b.makeMediaCertificate()
	if err != nil {
		return nil, err
	}
	parley, err := b.startMediaParley(ctx, &certificate)
	if err != nil {
		return nil, err
	}
	defer parley.quit()
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
	of := "media, " + scenario.name + ", over each path"
	for i, path := range mediaPaths {
		all = append(all,
			figure{Of: of, Name: path.name + ", cpu, UDP's = 1", Value: ratioOfCores(uses[i], uses[0]),
				Comment: fmt.Sprintf("%.4f cores a person", cores(uses[i])/float64(scenario.people))},
			packetsFigure(of, path.name+", packets to people", packets(uses[i]), meetings[i].expected, ""))
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
func (s *mediaServer) tokens(
	ctx context.Context, scenario mediaScenario, room int,
) (func(n int) (string, error), error) {
	if s.server == nil {
		name := fmt.Sprintf("%s-%d", strings.ReplaceAll(scenario.name, " ", "-"), room)
		return func(n int) (string, error) {
			return auth.NewAccessToken(livekitKey, livekitSecret).SetIdentity("person-" + strconv.Itoa(n)).
				SetVideoGrant(&auth.VideoGrant{RoomJoin: true, Room: name}).SetValidFor(time.Hour).ToJWT()
		}, nil
	}
	return s.seatTokens(ctx, scenario)
}

// seatTokens creates a room with open seats at Parley.
func (s *mediaServer) seatTokens(ctx context.Context, scenario mediaScenario) (func(n int) (string, error), error) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: s.secure.Clone()}}
	post := func(path, body string, out any) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		if strings.HasPrefix(path, "/api/v3/") {
			request.Header.Set("hash-signature", sign.Legacy(s.server.APIKey, []byte(body)))
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
		s.server.ProjectID, scenario.people+1), &created)
	return func(n int) (string, error) {
		var seat struct {
			MediaToken string `json:"media_token"`
		}
		err := post("/api/join/rooms/"+created.RoomID+"/seats",
			fmt.Sprintf(`{"seat_key":"%043d","name":"Person %d"}`, n, n), &seat)
		return seat.MediaToken, err
	}, err
}
