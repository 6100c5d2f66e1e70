package fulldisk

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/quickstart"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

func TestMain(m *testing.M) { parleytest.Main(m) }

// server is a running service and a client of its API.
type server struct {
	*parleytest.Server
	t *testing.T
	*client.Client
}

func startServer(t *testing.T, dataDir string) server {
	t.Helper()
	s := server{t: t, Server: parleytest.Start(t, parleytest.Options{DataDir: dataDir,
		Args: []string{"--no-supervise", "--no-rate-limits-enabled"}})}
	f, err := quickstart.Read(dataDir)
	if err == nil {
		s.Client, err = client.New(s.URL, client.Credentials{ProjectID: f.ProjectID, APIKey: f.APIKey,
			GatewaySecret: f.GatewaySecret, ProjectSecret: f.ProjectSecret}, client.Options{MaxAttempts: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// health returns the status of /healthz, and what it reports about the database and its disk.
func (s server) health() (status int, database, disk string) {
	s.t.Helper()
	answer, err := http.Get(s.URL + "/healthz")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var report struct {
		Database string `json:"database"`
		Disk     string `json:"database_disk"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&report); err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, report.Database, report.Disk
}

// createRoom creates a room and returns its ID.
func (s server) createRoom(ctx context.Context) (string, error) {
	created, err := s.CreateQuickAudioRoom(ctx, client.QuickRoomRequest{Name: "Ada", MaxParticipants: 2,
		EmptyTimeout: 3600, Metadata: client.Metadata{RoomTitle: strings.Repeat("t", 100), WelcomeMessage: "Welcome"}})
	if err != nil {
		return "", err
	}
	return created.RoomID, nil
}

// requireReads fails unless the server answers reads of the API and of the page of a room.
func (s server) requireReads(ctx context.Context, room string) {
	s.t.Helper()
	if a, err := s.Analytics(ctx, room); err != nil {
		s.t.Errorf("analytics of room %s: got %+v, %v, want them", room, a, err)
	}
	page, err := http.Get(s.URL + "/r/" + room)
	s.requireOK(page, err)
	preview, err := http.Post(s.URL+"/api/join/rooms/"+room+"/preview", "application/json", strings.NewReader("{}"))
	s.requireOK(preview, err)
}

func (s server) requireOK(answer *http.Response, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if body, err := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK || err != nil {
		s.t.Errorf("%s %s: got %d %s, %v, want 200", answer.Request.Method, answer.Request.URL, answer.StatusCode, body, err)
	}
}

// A server whose disk fills up says that it cannot write, goes on to answer reads, and works
// again as soon as there is space. What it acknowledged before is there.
func TestServer_FullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	d := mountDisk(t, 24)
	s := startServer(t, d.dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var rooms []string
	create := func() error {
		id, err := s.createRoom(ctx)
		if err == nil {
			rooms = append(rooms, id)
		}
		return err
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}
	d.fill()
	// The files of the database have room for some writes.
	var refused *client.Error
	testkit.Eventually(t, "status 503 for the creation of a room", func() bool {
		return errors.As(create(), &refused) && refused.Status == http.StatusServiceUnavailable
	})
	if want := "the database does not answer, try again in a moment"; refused.Message != want {
		t.Errorf("creation of a room on a full disk: got the message %q, want %q", refused.Message, want)
	}
	status, database, disk := s.health()
	if status != http.StatusServiceUnavailable || database != "read_only" || disk != "full" {
		t.Errorf("/healthz on a full disk: got %d, database %q and disk %q, want 503, read_only and full", status, database,
			disk)
	}
	const why = "the database accepts no writes, because the disk of the data directory is full"
	for _, args := range [][]string{{"org", "create", "--name", "Acme", "--billing", "plan"},
		{"token", "create", "--local", "--name", "night shift"}} {
		out, err := parleytest.Command(nil, append(args, "--data-dir", d.dir)...).CombinedOutput()
		if exitStatus(err) != 1 || !strings.HasPrefix(string(out), "parley: "+why) {
			t.Errorf("%v on a full disk: got %v %s, want exit status 1 and %q", args, err, out, why)
		}
	}
	testkit.Eventually(t, "a line about the heartbeat that names the disk", func() bool {
		return strings.Contains(s.Log.String(), `msg="write heartbeat failed" error="`+why)
	})
	s.requireReads(ctx, rooms[0])
	if out, err := runBackup(t, d.dir, filepath.Join(t.TempDir(), "b.tar")); exitStatus(err) != 1 ||
		!strings.Contains(out, "the backup could not be made: ") {
		t.Errorf("backup of a server on a full disk: got %v %s, want exit status 1 and the reason", err, out)
	}

	d.free()
	testkit.EventuallyWithin(t, time.Minute, "status 200 of /healthz", func() bool {
		status, database, disk := s.health()
		return status == http.StatusOK && database == "ok" && disk == ""
	})
	if err := create(); err != nil {
		t.Errorf("create a room after space was freed: %v", err)
	}
	for _, room := range rooms {
		s.requireReads(ctx, room)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v\n%s", err, s.Log)
	}
}
