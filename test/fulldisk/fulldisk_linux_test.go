// Package fulldisk tests a server whose disk is full. The disk is a small file system in
// memory that only the processes of the test see. Only root on Linux may mount it; otherwise
// the tests are skipped.
package fulldisk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/backup"
	"parley/internal/db"
	"parley/internal/quickstart"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

func TestMain(m *testing.M) { parleytest.Main(m) }

// inMountNamespace runs the calling test in a process with a mount namespace of its own and
// reports whether this is that process. Other processes return once it has passed.
func inMountNamespace(t *testing.T) bool {
	t.Helper()
	const variable = "PARLEY_TEST_MOUNT_NAMESPACE"
	if os.Getenv(variable) == t.Name() {
		return true
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), variable+"="+t.Name())
	// Go makes the mounts of the new namespace private.
	child.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	output, err := child.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may create a mount namespace")
	}
	if err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
		t.Fatalf("in its own mount namespace: got %v, want a pass; its output:\n%s", err, output)
	}
	return false
}

// disk is a file system of a few megabytes.
type disk struct {
	t   *testing.T
	dir string
}

func mountDisk(t *testing.T, megabytes int) disk {
	t.Helper()
	d := disk{t, t.TempDir()}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Fatalf("mount a file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.dir, syscall.MNT_DETACH) })
	return d
}

func (d disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill occupies all space that is left.
func (d disk) fill() {
	d.t.Helper()
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, size := range []int{1 << 20, 1 << 10} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			d.t.Fatalf("fill the disk: got %v, want %v", err, syscall.ENOSPC)
		}
	}
}

// fillExcept occupies all space that is left except for a number of bytes.
func (d disk) fillExcept(space int64) {
	d.t.Helper()
	d.fill()
	info, err := os.Stat(d.ballast())
	if err == nil {
		err = os.Truncate(d.ballast(), info.Size()-space)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// free releases what fill has occupied.
func (d disk) free() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}

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

// health returns the status of /healthz, and what it reports about the database.
func (s server) health() (status int, database string) {
	s.t.Helper()
	answer, err := http.Get(s.URL + "/healthz")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var report struct {
		Database string `json:"database"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&report); err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, report.Database
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
	if status, database := s.health(); status != http.StatusServiceUnavailable || database != "read_only" {
		t.Errorf("/healthz on a full disk: got %d and database %q, want 503 and read_only", status, database)
	}
	s.requireReads(ctx, rooms[0])
	if out, err := runBackup(t, d.dir, filepath.Join(t.TempDir(), "b.tar")); exitStatus(err) != 1 ||
		!strings.Contains(out, "the backup could not be made: ") {
		t.Errorf("backup of a server on a full disk: got %v %s, want exit status 1 and the reason", err, out)
	}

	d.free()
	testkit.EventuallyWithin(t, time.Minute, "status 200 of /healthz", func() bool {
		status, database := s.health()
		return status == http.StatusOK && database == "ok"
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

// runBackup runs parley backup and returns its output.
func runBackup(t *testing.T, dataDir, file string) (string, error) {
	t.Helper()
	out, err := parleytest.Command(nil, "backup", file, "--data-dir", dataDir).CombinedOutput()
	return string(out), err
}

// A backup to a full disk fails with the reason, and leaves no file.
func TestBackup_ToFullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	target, dataDir := mountDisk(t, 1), t.TempDir()
	s := startServer(t, dataDir)
	if _, err := s.createRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(target.dir, "b.tar")
	for _, space := range []int64{0, 64 << 10} { // bytes that are left; the second is enough for a part
		target.fillExcept(space)
		out, err := runBackup(t, dataDir, file)
		if exitStatus(err) != 1 || !strings.Contains(out, "no space left on device") {
			t.Errorf("backup with %d bytes of space: got %v %s, want exit status 1 and the reason", space, err, out)
		}
		entries, err := os.ReadDir(target.dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("after a backup with %d bytes of space: got %v, %v, want no new file", space, entries, err)
		}
	}

	// What a full disk would leave is not a backup either.
	whole := filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, dataDir, whole); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	target.free()
	for _, size := range []int{0, 512, len(content) / 2, len(bytes.TrimRight(content, "\x00"))/512*512 - 512} {
		if err := os.WriteFile(file, content[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := backup.Check(file); err == nil {
			t.Errorf("the first %d of %d bytes: got the manifest %+v, want an error", size, len(content), m)
		}
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v\n%s", err, s.Log)
	}
}

// A backup of a server whose data directory is full fails with the reason and the remedy, although its database is on a
// PostgreSQL server that has space. It leaves no file.
func TestBackup_FullDataDirectory(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	dataDir := mountDisk(t, 16)
	s := parleytest.Start(t, parleytest.Options{DataDir: dataDir.dir, Args: []string{"--no-supervise"},
		Environment: []string{"PARLEY_DATABASE_URL=" + storetest.Postgres(t)}})
	testkit.Eventually(t, "the server has written all its files", func() bool {
		_, err := os.Stat(filepath.Join(dataDir.dir, "database.id"))
		return err == nil
	})
	before := readFiles(t, dataDir.dir)
	file := filepath.Join(t.TempDir(), "b.tar")
	for _, space := range []int64{0, 16 << 10} { // bytes that are left; the second is enough for a part
		dataDir.fillExcept(space)
		out, err := runBackup(t, dataDir.dir, file)
		dataDir.free()
		if exitStatus(err) != 1 || !strings.Contains(out, "the backup could not be made: the disk of "+dataDir.dir+
			" is full: free some space") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		requireSameFiles(t, dataDir.dir, before)
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("with %d bytes of space, the file of the backup: got %v, want none", space, err)
		}
	}
	if out, err := runBackup(t, dataDir.dir, file); err != nil {
		t.Errorf("after space was freed: got %v %s, want a backup", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v\n%s", err, s.Log)
	}
}

// exitStatus returns the exit status of a command that has failed, and 0 for any other error.
func exitStatus(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return 0
}

// readFiles returns the contents of the files in a directory by their names, without the one that fills the disk,
// the lock, which names the last process, and what SQLite keeps beside a database that it cannot close on a full disk:
// an empty log and its index.
func readFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if !e.Type().IsRegular() { // the local socket
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case slices.Contains([]string{"ballast", "parley.lock", "parley.db-shm"}, e.Name()),
			e.Name() == "parley.db-wal" && len(content) == 0:
			continue
		}
		files[e.Name()] = string(content)
	}
	return files
}

// requireSameFiles fails unless a directory has the files that it had before.
func requireSameFiles(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := readFiles(t, dir)
	got, want := slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before))
	if !slices.Equal(got, want) {
		t.Errorf("files in %s: got %v, want %v", dir, got, want)
	}
	for name, content := range before {
		if after[name] != content {
			t.Errorf("%s in %s: got another content, want the one before", name, dir)
		}
	}
}

// A drill without space for its temporary files fails with the remedy, does not blame the backup, and leaves nothing.
func TestBackupVerify_FullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	temporary, dataDir := mountDisk(t, 64), t.TempDir()
	s := startServer(t, dataDir)
	if _, err := s.createRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, dataDir, file); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	before := readFiles(t, dataDir)
	verify := func() (string, error) {
		out, err := parleytest.Command([]string{"TMPDIR=" + temporary.dir}, "backup", "verify", file,
			"--data-dir", dataDir).CombinedOutput()
		return string(out), err
	}
	size := int64(len(before["parley.db"]))
	// Bytes that are left: for nothing, for a part of the database, and for the database but not for its log.
	for _, space := range []int64{0, size / 2, size + 4096, size + 64<<10} {
		temporary.fillExcept(space)
		out, err := verify()
		if exitStatus(err) != 1 || strings.Contains(out, "the backup does not work") ||
			!strings.Contains(out, "the backup was not verified, because the disk of "+temporary.dir+" is full: "+
				"free some space, or set TMPDIR to a directory on a larger disk") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		if left := readFiles(t, temporary.dir); len(left) > 0 {
			t.Errorf("with %d bytes of space: got the files %v, want none", space, slices.Collect(maps.Keys(left)))
		}
	}
	temporary.free()
	if out, err := verify(); err != nil {
		t.Errorf("after space was freed: got %v %s, want a backup that works", err, out)
	}
	requireSameFiles(t, dataDir, before)
}

// A drill on a PostgreSQL server without space fails with the remedy, does not blame the backup, and leaves nothing.
func TestBackupVerify_FullDiskOfServer(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	target, dataDir := mountDisk(t, 64), t.TempDir()
	postgres := storetest.NewPostgresServer(t)
	inTarget := postgres.NewDatabaseIn(t, target.dir)
	url := postgres.NewDatabase(t)
	s := server{t: t, Server: parleytest.Start(t, parleytest.Options{DataDir: dataDir,
		Args: []string{"--no-supervise"}, Environment: []string{"PARLEY_DATABASE_URL=" + url}})}
	file := filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, dataDir, file); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	exec := func(statement string) {
		t.Helper()
		if err := db.ExecPostgres(context.WithoutCancel(t.Context()), url, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	var tablespace string
	err := db.QueryPostgres(t.Context(), inTarget, `SELECT current_database()`,
		func(row db.Row) error { return row.Scan(&tablespace) })
	if err != nil {
		t.Fatal(err)
	}
	// A drill makes its database from this one, in the same place.
	exec(`ALTER DATABASE template0 SET TABLESPACE ` + tablespace)
	t.Cleanup(func() { exec(`ALTER DATABASE template0 SET TABLESPACE pg_default`) })
	verify := func() (string, error) {
		out, err := parleytest.Command([]string{"PARLEY_DATABASE_URL=" + url}, "backup", "verify", file,
			"--data-dir", dataDir).CombinedOutput()
		return string(out), err
	}
	restored := 0 // attempts that failed in pg_restore
	for space := int64(0); ; space += 512 << 10 {
		target.fillExcept(space)
		out, err := verify()
		target.free()
		if err == nil {
			break
		}
		// With little space, PostgreSQL refuses the connection, because it cannot write a file for it.
		refused := strings.Contains(out, "could not write init file") &&
			strings.Contains(out, "the backup was not verified, because the PostgreSQL server refused or ended a connection: ")
		if exitStatus(err) != 1 || !refused && !strings.Contains(out, "the backup was not verified, because the disk of "+
			"the PostgreSQL server is full: free some space on it") {
			t.Fatalf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		if strings.Contains(out, "pg_restore") {
			restored++
		}
	}
	if restored == 0 {
		t.Error("attempts that failed in pg_restore: got none, want one")
	}
}

// stoppedServer makes an empty directory the data directory of a server that was stopped and has some meetings.
func stoppedServer(t *testing.T, dir string, meetings int) {
	t.Helper()
	s := startServer(t, dir)
	if _, err := s.createRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	d, err := store.Open(t.Context(), "", dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := quickstart.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Fill(t, d, f.ProjectID, meetings, time.Now().Add(-24*time.Hour), time.Now(), 1)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// runCopy runs parley copy and returns its output.
func runCopy(dataDir, url string) (string, error) {
	out, err := parleytest.Command(nil, "copy", "--data-dir", dataDir, "--to", url).CombinedOutput()
	return string(out), err
}

// countRooms returns the number of rooms in a PostgreSQL database, 0 without the table.
func countRooms(t *testing.T, url string) (n int) {
	t.Helper()
	err := db.QueryPostgres(t.Context(), url, `SELECT count(*) FROM rooms`, func(row db.Row) error { return row.Scan(&n) })
	if err != nil && !db.IsUndefinedTable(err) {
		t.Fatal(err)
	}
	return n
}

// countTables returns the number of tables in a PostgreSQL database.
func countTables(t *testing.T, url string) (n int) {
	t.Helper()
	err := db.QueryPostgres(t.Context(), url, `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`,
		func(row db.Row) error { return row.Scan(&n) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A restore into a data directory without space fails with the remedy and leaves only the master key that was there.
func TestRestore_ToFullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	source, target := t.TempDir(), mountDisk(t, 64)
	s := startServer(t, source)
	if _, err := s.createRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, source, file); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	key, err := os.ReadFile(filepath.Join(source, "master.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(target.dir, "master.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := readFiles(t, target.dir)
	restore := func() (string, error) {
		out, err := parleytest.Command(nil, "restore", file, "--data-dir", target.dir).CombinedOutput()
		return string(out), err
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	// Bytes that are left: for nothing, for a part of the database, and for the database but not for its log.
	for _, space := range []int64{0, info.Size() / 2, info.Size() + 4096} {
		target.fillExcept(space)
		out, err := restore()
		if exitStatus(err) != 1 || !strings.Contains(out, "--data-dir: the disk of "+target.dir+" is full: "+
			"free some space and run the command again") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		requireSameFiles(t, target.dir, before)
		target.free()
	}
	if out, err := restore(); err != nil {
		t.Errorf("after space was freed: got %v %s, want a restore", err, out)
	}
}

// A restore into a PostgreSQL server without space fails with the remedy and leaves neither a table nor a file.
func TestRestore_ToFullDiskOfServer(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	target, source, dataDir := mountDisk(t, 64), t.TempDir(), t.TempDir()
	postgres := storetest.NewPostgresServer(t)
	from, to := postgres.NewDatabase(t), postgres.NewDatabaseIn(t, target.dir)
	s := server{t: t, Server: parleytest.Start(t, parleytest.Options{DataDir: source,
		Args: []string{"--no-supervise"}, Environment: []string{"PARLEY_DATABASE_URL=" + from}})}
	file := filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, source, file); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.Log)
	}
	restore := func() (string, error) {
		out, err := parleytest.Command([]string{"PARLEY_DATABASE_URL=" + to}, "restore", file, "--data-dir", dataDir,
			"--master-key-file", filepath.Join(source, "master.key")).CombinedOutput()
		return string(out), err
	}
	countTables(t, to) // because PostgreSQL writes files for the first connection to a database
	for _, space := range []int64{0, 1 << 20} {
		target.fillExcept(space)
		out, err := restore()
		if exitStatus(err) != 1 || !strings.Contains(out, "--database-url (PARLEY_DATABASE_URL): the disk of the PostgreSQL "+
			"server is full: free some space on it and run the command again") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		target.free()
		if tables := countTables(t, to); tables != 0 {
			t.Errorf("with %d bytes of space: got %d tables in the target, want none", space, tables)
		}
		requireSameFiles(t, dataDir, map[string]string{})
	}
	if out, err := restore(); err != nil || countTables(t, to) == 0 {
		t.Errorf("after space was freed: got %v, %d tables and %s, want a restore", err, countTables(t, to), out)
	}
}

// A copy to a PostgreSQL server without space fails with the remedy, leaves no table and changes nothing in the data
// directory. It can be repeated.
func TestCopy_ToFullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	const meetings = 1000
	target, dataDir := mountDisk(t, 64), t.TempDir()
	stoppedServer(t, dataDir, meetings)
	before := readFiles(t, dataDir)
	url := storetest.NewPostgresServer(t).NewDatabaseIn(t, target.dir)
	countRooms(t, url) // because PostgreSQL writes files for the first connection to a database
	// The bytes that are left for the tables and their rows.
	for _, space := range []int64{0, 1 << 20, 5 << 20} {
		target.fillExcept(space)
		out, err := runCopy(dataDir, url)
		if exitStatus(err) != 1 || !strings.Contains(out, "--to: the disk of the PostgreSQL server is full: "+
			"free some space on it and run the command again") || !strings.Contains(out, "No space left on device") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		target.free()
		if tables := countTables(t, url); tables != 0 {
			t.Errorf("with %d bytes of space: got %d tables in the target, want none", space, tables)
		}
		requireSameFiles(t, dataDir, before)
	}
	if out, err := runCopy(dataDir, url); err != nil || countRooms(t, url) != meetings+1 {
		t.Errorf("after space was freed: got %v, %d rooms and %s, want %d", err, countRooms(t, url), out, meetings+1)
	}
}

// A copy from a data directory without space fails with the remedy, leaves no table and changes nothing in the data
// directory. It can be repeated.
func TestCopy_FromFullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	const meetings = 300
	source := mountDisk(t, 32)
	stoppedServer(t, source.dir, meetings)
	before := readFiles(t, source.dir)
	url := storetest.Postgres(t)
	// Bytes that are left: for nothing, and for the files of SQLite but not for the identity of the copy.
	for _, space := range []int64{0, 32 << 10} {
		source.fillExcept(space)
		out, err := runCopy(source.dir, url)
		if exitStatus(err) != 1 || !strings.Contains(out, "--data-dir: the disk of "+source.dir+" is full: "+
			"free some space and run the command again") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		if tables := countTables(t, url); tables != 0 {
			t.Errorf("with %d bytes of space: got %d tables in the target, want none", space, tables)
		}
		requireSameFiles(t, source.dir, before)
	}
	source.free()
	if out, err := runCopy(source.dir, url); err != nil || countRooms(t, url) != meetings+1 {
		t.Errorf("after space was freed: got %v, %d rooms and %s, want %d", err, countRooms(t, url), out, meetings+1)
	}
}
