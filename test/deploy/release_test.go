package deploy

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"parley/internal/media/mediatest"
	"parley/internal/testkit"
)

// buildRelease builds a release of the last commit in a new checkout, and returns its directory.
func buildRelease(t *testing.T) (dir string) {
	t.Helper()
	source, dir := filepath.Join(t.TempDir(), "parley"), t.TempDir()
	run(t, "../..", "git", "clone", "-q", ".", source)
	run(t, "../..", "cp", "-r", "web/dist", filepath.Join(source, "web"))
	run(t, "../../release", "go", "run", ".", "-source", source, "-out", dir, "-arch", runtime.GOARCH, "-snapshot")
	return dir
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: got %v, want no error: %s", name, strings.Join(args, " "), err, output)
	}
	return string(output)
}

// find returns the one file of a directory that matches a pattern.
func find(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("got the files %v, %v, want one %s", found, err, pattern)
	}
	return found[0]
}

// Two builds of a commit are the same. People without Go and Node install the package, whose
// service has a user of its own, or run the image with a file system that cannot be written, and meet.
func TestRelease(t *testing.T) {
	dir := buildRelease(t)
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, "sha256sum", "--quiet", "-c", "SHA256SUMS")
	again, err := os.ReadFile(filepath.Join(buildRelease(t), "SHA256SUMS"))
	if err != nil || string(again) != string(sums) {
		t.Errorf("a second build: got the files\n%s, %v, want\n%s", again, err, sums)
	}
	changes, err := os.ReadFile(find(t, dir, "*_changes.md"))
	if err != nil || !strings.HasPrefix(string(changes), "# Parley ") || !strings.Contains(string(changes), "### Added") {
		t.Errorf("changes: got %.80q, %v, want those of the changelog", changes, err)
	}
	t.Run("components", func(t *testing.T) { checkSBOM(t, find(t, dir, "*.cdx.json")) })
	t.Run("OCI archive", func(t *testing.T) { checkOCI(t, find(t, dir, "*_oci.tar")) })
	t.Run("package", func(t *testing.T) { checkPackage(t, find(t, dir, "*.deb")) })
	t.Run("image", func(t *testing.T) { checkImage(t, find(t, dir, "*_image_*.tar")) })
}

// readJSON reads a JSON file of a directory.
func readJSON(t *testing.T, dir, name string, out any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkOCI checks that the archive names one index, with an image for each architecture.
func checkOCI(t *testing.T, file string) {
	dir := t.TempDir()
	run(t, dir, "tar", "-xf", file)
	type descriptor struct {
		MediaType, Digest string
		Platform          struct{ OS, Architecture string }
	}
	var top, images struct{ Manifests []descriptor }
	readJSON(t, dir, "index.json", &top)
	if len(top.Manifests) != 1 || top.Manifests[0].MediaType != "application/vnd.oci.image.index.v1+json" {
		t.Fatalf("got the manifests %+v, want one index", top.Manifests)
	}
	readJSON(t, dir, filepath.Join("blobs", strings.Replace(top.Manifests[0].Digest, ":", "/", 1)), &images)
	for _, m := range images.Manifests {
		if m.MediaType != "application/vnd.oci.image.manifest.v1+json" || m.Platform.OS != "linux" ||
			m.Platform.Architecture != runtime.GOARCH {
			t.Errorf("got the image %+v, want an OCI image for linux and %s", m, runtime.GOARCH)
		}
	}
	if len(images.Manifests) != 1 {
		t.Errorf("got %d images, want one", len(images.Manifests))
	}
}

func checkSBOM(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BOMFormat  string
		Components []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(text, &bom); err != nil || bom.BOMFormat != "CycloneDX" {
		t.Fatalf("got %.200s, %v, want CycloneDX", text, err)
	}
	found := map[string]string{}
	for _, c := range bom.Components {
		found[c.Name] = c.Version
	}
	if found["stdlib"] != strings.TrimPrefix(runtime.Version(), "go") ||
		found["github.com/livekit/livekit-server"] != "v1.13.5" || found["livekit-client"] == "" || found["loglevel"] == "" ||
		found["swagger-ui-dist"] == "" || found["vite"] != "" {
		t.Errorf("got the components %v, want those of the program", found)
	}
}

// checkPackage installs the package into a copy of this system that nobody else sees, and starts it there.
func checkPackage(t *testing.T, file string) {
	if inNamespace(t, file) {
		return
	}
	scratch := os.Getenv(scratchVariable)
	root := filepath.Join(scratch, "root")
	for _, dir := range []string{"disk", "root"} {
		if err := os.MkdirAll(filepath.Join(scratch, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The changed files of an overlay cannot be on an overlay themselves.
	run(t, "/", "mount", "-t", "tmpfs", "tmpfs", filepath.Join(scratch, "disk"))
	for _, dir := range []string{"upper", "work"} {
		if err := os.Mkdir(filepath.Join(scratch, "disk", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	options := fmt.Sprintf("lowerdir=/,upperdir=%[1]s/upper,workdir=%[1]s/work", filepath.Join(scratch, "disk"))
	run(t, "/", "mount", "-t", "overlay", "overlay", "-o", options, root)
	run(t, "/", "mount", "--bind", "/proc", filepath.Join(root, "proc"))
	run(t, "/", "mount", "--bind", "/dev", filepath.Join(root, "dev"))
	run(t, "/", "cp", os.Getenv(fileVariable), filepath.Join(root, "parley.deb"))
	run(t, "/", "chroot", root, "dpkg", "-i", "/parley.deb")
	stat := strings.TrimSpace(run(t, "/", "chroot", root, "stat", "-c", "%U %a", "/var/lib/parley"))
	if stat != "parley 700" {
		t.Errorf("the data directory: got the owner and the mode %q, want parley 700", stat)
	}
	run(t, "/", "chroot", root, "test", "-s", "/lib/systemd/system/parley.service")
	if got := strings.TrimSpace(run(t, "/", "chroot", root, "stat", "-c", "%G %a", "/etc/parley/parley.yaml")); got !=
		"parley 640" {
		t.Errorf("the settings: got the group and the mode %q, want parley 640", got)
	}
	checkHelp(t, root)
	address, args := serveFlags(t, "/var/lib/parley")
	cmd := exec.CommandContext(t.Context(), "/usr/bin/parley",
		append([]string{"serve", "--config", "/etc/parley/parley.yaml"}, args...)...)
	cmd.Path, cmd.SysProcAttr = "/usr/bin/parley", asUser(root, idOf(t, root, "-u"), idOf(t, root, "-g"))
	meet(t, cmd, address, filepath.Join(root, "var/lib/parley"))

	// The next package restarts the service, and is installed also if the service does not start.
	systemctl := "#!/bin/sh\necho \"$@\" >>/systemctl.log\ncase $* in *try-restart*) exit 1 ;; esac\n"
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "run/systemd/system"), 0o755),
		os.Remove(filepath.Join(root, "bin/systemctl")),
		os.WriteFile(filepath.Join(root, "bin/systemctl"), []byte(systemctl), 0o755)); err != nil {
		t.Fatal(err)
	}
	run(t, "/", "chroot", root, "dpkg", "-i", "/parley.deb")
	run(t, "/", "chroot", root, "dpkg", "--purge", "parley")
	calls := strings.Join(strings.Fields(run(t, "/", "cat", filepath.Join(root, "systemctl.log"))), " ")
	const want = "daemon-reload daemon-reload --no-block try-restart parley disable --now parley daemon-reload daemon-reload"
	if calls != want {
		t.Errorf("got the calls of systemctl %q, want %q", calls, want)
	}
	run(t, "/", "chroot", root, "test", "-s", "/var/lib/parley/parley.db")
}

// checkHelp checks that the package has the manual page, and the completions of the shells, which bash uses.
func checkHelp(t *testing.T, root string) {
	t.Helper()
	page := run(t, "/", "gzip", "-dc", filepath.Join(root, "usr/share/man/man1/parley.1.gz"))
	for _, part := range []string{".TH PARLEY 1", `.SS "serve `, `.SS "drain `, ".SH EXIT STATUS"} {
		if !strings.Contains(page, part) {
			t.Errorf("the manual page: got %.500q, want %q in it", page, part)
		}
	}
	const complete = `. /usr/share/bash-completion/completions/parley
		COMP_WORDS=(parley dr) COMP_CWORD=1
		_parley
		echo "${COMPREPLY[@]}"`
	if got := strings.TrimSpace(run(t, "/", "chroot", root, "bash", "-c", complete)); got != "drain" {
		t.Errorf("completion of parley dr in bash: got %q, want drain", got)
	}
	for file, first := range map[string]string{
		"usr/share/zsh/vendor-completions/_parley":        "#compdef parley\n",
		"usr/share/fish/vendor_completions.d/parley.fish": "complete -c parley ",
	} {
		if text, err := os.ReadFile(filepath.Join(root, file)); err != nil || !strings.HasPrefix(string(text), first) {
			t.Errorf("/%s: got %.80q, %v, want a file that begins with %q", file, text, err, first)
		}
	}
}

// idOf returns an ID of the user parley.
func idOf(t *testing.T, root, flag string) uint32 {
	t.Helper()
	id, err := strconv.ParseUint(strings.TrimSpace(run(t, "/", "chroot", root, "id", flag, "parley")), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(id)
}

// asUser makes a program run below another root as another user, until this process ends.
func asUser(root string, user, group uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Chroot:     root,
		Credential: &syscall.Credential{Uid: user, Gid: group},
		Pdeathsig:  syscall.SIGKILL,
	}
}

// checkImage runs the program of the image as its user, with a root that cannot be written.
func checkImage(t *testing.T, file string) {
	if inNamespace(t, file) {
		return
	}
	scratch := os.Getenv(scratchVariable)
	unpacked, root := filepath.Join(scratch, "unpacked"), filepath.Join(scratch, "root")
	for _, dir := range []string{unpacked, root} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := unpackImage(t, os.Getenv(fileVariable), unpacked)
	if config.User != "65532:65532" || len(config.Entrypoint) != 1 {
		t.Fatalf("got the configuration %+v, want the user 65532 and a program", config)
	}
	run(t, "/", "mount", "--bind", unpacked, root)
	data := filepath.Join(scratch, "data")
	if err := errors.Join(os.Mkdir(data, 0o700), os.Chown(data, 65532, 65532)); err != nil {
		t.Fatal(err)
	}
	run(t, "/", "mount", "--bind", data, filepath.Join(root, "data"))
	run(t, "/", "mount", "-t", "tmpfs", "tmpfs", filepath.Join(root, "tmp"))
	for _, dir := range []string{"dev", "proc"} { // an engine for containers makes them
		if err := os.Mkdir(filepath.Join(unpacked, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		run(t, "/", "mount", "--bind", "/"+dir, filepath.Join(root, dir))
	}
	run(t, "/", "mount", "-o", "remount,bind,ro", root)
	address, args := serveFlags(t, "")
	all := slices.Concat(config.Entrypoint, config.Cmd, args)
	cmd := exec.CommandContext(t.Context(), all[0], all[1:]...)
	cmd.Path, cmd.Dir, cmd.Env = config.Entrypoint[0], config.WorkingDir, config.Env
	cmd.SysProcAttr = asUser(root, 65532, 65532)
	meet(t, cmd, address, data)
}

// imageConfig is the part of the configuration of an image that says how to run it.
type imageConfig struct {
	User, WorkingDir     string
	Entrypoint, Cmd, Env []string
}

// unpackImage unpacks the image of an archive that podman and Docker load.
func unpackImage(t *testing.T, archive, to string) imageConfig {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "tar", "-xf", archive)
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	readJSON(t, dir, "manifest.json", &manifest)
	if len(manifest) != 1 || len(manifest[0].RepoTags) != 1 || !strings.HasPrefix(manifest[0].RepoTags[0],
		"localhost/parley:") {
		t.Fatalf("got the manifest %+v, want one image with the name localhost/parley", manifest)
	}
	var config struct{ Config imageConfig }
	readJSON(t, dir, manifest[0].Config, &config)
	for _, layer := range manifest[0].Layers {
		unpack(t, filepath.Join(dir, layer), to)
	}
	return config.Config
}

// unpack unpacks a layer, which has files and directories only.
func unpack(t *testing.T, layer, to string) {
	t.Helper()
	f, err := os.Open(layer)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, h.FileInfo().Mode())
		} else {
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, content, h.FileInfo().Mode())
			}
		}
		if err := errors.Join(err, os.Chmod(path, h.FileInfo().Mode()), os.Chown(path, h.Uid, h.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// serveFlags returns flags of parley serve for a test, and the address. Without a directory, the environment has it.
func serveFlags(t *testing.T, dir string) (address string, args []string) {
	t.Helper()
	address = fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t))
	args = []string{"--listen", address, "--rtc-udp-port", fmt.Sprint(testkit.FreeUDPPort(t))}
	if dir != "" {
		args = append(args, "--data-dir", dir)
	}
	return address, args
}

// meet runs a server, and two people hear each other in a room of it. data is its data directory.
func meet(t *testing.T, cmd *exec.Cmd, address, data string) {
	t.Helper()
	start(t, cmd)
	url := "http://" + address
	testkit.Eventually(t, "the server is healthy", func() bool {
		res, err := http.Get(url + "/healthz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	var people []*mediatest.Participant
	for _, token := range takeSeats(t, http.DefaultClient, url, data, 2) {
		person, err := mediatest.Join(t.Context(), url, token)
		if err != nil {
			t.Fatal(err)
		}
		if err := person.Publish(t.Context(), "microphone", mediatest.Microphone); err != nil {
			t.Fatal(err)
		}
		people = append(people, person)
	}
	for i, person := range people {
		if err := person.AwaitPacketsFrom(t.Context(), people[1-i].Identity(), mediatest.Microphone); err != nil {
			t.Errorf("person %d hears the other: got %v, want no error", i, err)
		}
	}
	for _, person := range people {
		person.Leave()
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("stop the server: got %v, want the exit status 0", err)
	}
}

// These variables are for the process that inNamespace starts.
const (
	namespaceVariable = "PARLEY_TEST_NAMESPACE"
	scratchVariable   = "PARLEY_TEST_SCRATCH"
	fileVariable      = "PARLEY_TEST_FILE"
)

// inNamespace runs the calling subtest again in a process with mounts of its own, which end with it. It
// returns false in that process.
func inNamespace(t *testing.T, file string) bool {
	t.Helper()
	if os.Getenv(namespaceVariable) != "" {
		return false
	}
	if os.Getuid() != 0 {
		t.Skip("only root may run a program below another root")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInNamespace$", "-test.v")
	child.Env = append(os.Environ(), namespaceVariable+"="+t.Name(), scratchVariable+"="+t.TempDir(),
		fileVariable+"="+file)
	// Go makes the mounts of the new namespace private.
	child.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if output, err := child.CombinedOutput(); err != nil {
		t.Fatalf("in a namespace of its own: got %v, want a pass: %s", err, output)
	}
	return true
}

// TestInNamespace is the process that inNamespace starts.
func TestInNamespace(t *testing.T) {
	switch name := os.Getenv(namespaceVariable); {
	case strings.HasSuffix(name, "/package"):
		checkPackage(t, "")
	case strings.HasSuffix(name, "/image"):
		checkImage(t, "")
	default:
		t.Skip("TestRelease starts it")
	}
}
