package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"parley/internal/media/mediatest"
	"parley/internal/testkit"
)

// machines are the architectures of a release, as Go and Debian call them, and those of their programs.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// cloneCheckout clones the last commit, with flags of git clone, and returns the path of the checkout.
func cloneCheckout(t *testing.T, flags ...string) (source string) {
	t.Helper()
	source = filepath.Join(t.TempDir(), "parley")
	run(t, "../..", "git", slices.Concat([]string{"clone", "-q"}, flags, []string{".", source})...)
	return source
}

// release returns the command that builds a release of a checkout with a built page.
func release(t *testing.T, source, out string, flags ...string) *exec.Cmd {
	t.Helper()
	args := append([]string{"run", ".", "-source", source, "-out", out}, flags...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = "../../release"
	return cmd
}

// buildRelease builds a release of the last commit in a new checkout, and returns its directory.
func buildRelease(t *testing.T) (dir string) {
	t.Helper()
	source, dir := cloneCheckout(t), t.TempDir()
	run(t, "../..", "cp", "-r", "web/dist", filepath.Join(source, "web"))
	if output, err := release(t, source, dir, "-snapshot").CombinedOutput(); err != nil {
		t.Fatalf("build a release: got %v, want no error: %s", err, output)
	}
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
	// A commit that names a version in the changelog has nothing unreleased.
	if err != nil || !strings.HasPrefix(string(changes), "# Parley ") || strings.Count(string(changes), "\n") < 3 {
		t.Errorf("changes: got %.80q, %v, want those of the changelog", changes, err)
	}
	for arch := range machines {
		t.Run(arch, func(t *testing.T) { checkArchitecture(t, dir, arch) })
	}
	t.Run("documents", func(t *testing.T) { checkDocuments(t, dir) })
	t.Run("OCI archive", func(t *testing.T) { checkOCI(t, dir) })
	t.Run("package", func(t *testing.T) { checkPackage(t, find(t, dir, "*_"+runtime.GOARCH+".deb")) })
	t.Run("image", func(t *testing.T) { checkImage(t, find(t, dir, "*_image_"+runtime.GOARCH+".tar")) })
}

// checkArchitecture checks that the program of an architecture runs there without other files, and that its package and
// its image have the same program.
func checkArchitecture(t *testing.T, dir, arch string) {
	program := find(t, dir, "*_linux_"+arch)
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	libraries, err := file.ImportedLibraries()
	if err != nil || file.Machine != machines[arch] || len(libraries) > 0 {
		t.Errorf("the program: got the machine %v and the libraries %v, %v, want %v and no library", file.Machine, libraries,
			err, machines[arch])
	}
	want, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	pkg, unpacked := find(t, dir, "*_"+arch+".deb"), t.TempDir()
	if got := strings.TrimSpace(run(t, dir, "dpkg-deb", "--field", pkg, "Architecture")); got != arch {
		t.Errorf("the package: got the architecture %q, want %s", got, arch)
	}
	run(t, dir, "dpkg-deb", "--extract", pkg, unpacked)
	if got, err := os.ReadFile(filepath.Join(unpacked, "usr/bin/parley")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the package: got another program of %d bytes, %v, want that of the release", len(got), err)
	}
	image := openImage(t, find(t, dir, "*_image_"+arch+".tar"))
	if image.OS != "linux" || image.Architecture != arch {
		t.Errorf("the image: got one for %s and %s, want linux and %s", image.OS, image.Architecture, arch)
	}
	if got := programOf(t, image.layers); !bytes.Equal(got, want) {
		t.Errorf("the image: got another program of %d bytes, want that of the release", len(got))
	}
	checkSBOM(t, program+".cdx.json")
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

// checkDocuments checks that the files that the documents name are in the release.
func checkDocuments(t *testing.T, dir string) {
	for _, document := range []string{
		"README.md", "deploy/compose.yaml", "docs/operating/packages.md", "docs/operating/service.md",
	} {
		names := regexp.MustCompile(`parley_VERSION_[\w.]*\w`).FindAllString(readDocument(t, document), -1)
		if len(names) == 0 {
			t.Errorf("%s: got no file of a release, want one", document)
		}
		for _, name := range names {
			find(t, dir, strings.NewReplacer("VERSION", "*", "ARCH", "amd64").Replace(name))
		}
	}
}

// readDocument returns the text of a file of the repository.
func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkOCI checks that the archive names one index, with an image for each architecture that has its program.
func checkOCI(t *testing.T, release string) {
	dir := t.TempDir()
	run(t, dir, "tar", "-xf", find(t, release, "*_oci.tar"))
	type descriptor struct {
		MediaType, Digest string
		Platform          struct{ OS, Architecture string }
	}
	blob := func(d descriptor) string { return filepath.Join("blobs", strings.Replace(d.Digest, ":", "/", 1)) }
	var top, images struct{ Manifests []descriptor }
	readJSON(t, dir, "index.json", &top)
	if len(top.Manifests) != 1 || top.Manifests[0].MediaType != "application/vnd.oci.image.index.v1+json" {
		t.Fatalf("got the manifests %+v, want one index", top.Manifests)
	}
	readJSON(t, dir, blob(top.Manifests[0]), &images)
	var found []string
	for _, m := range images.Manifests {
		found = append(found, m.Platform.OS+"/"+m.Platform.Architecture)
		if m.MediaType != "application/vnd.oci.image.manifest.v1+json" {
			t.Errorf("got the image %+v, want an OCI image", m)
		}
		var image struct {
			Config descriptor
			Layers []descriptor
		}
		readJSON(t, dir, blob(m), &image)
		var config struct{ OS, Architecture string }
		readJSON(t, dir, blob(image.Config), &config)
		if config != m.Platform {
			t.Errorf("got an image for %+v in the place of one for %+v", config, m.Platform)
		}
		var layers []string
		for _, layer := range image.Layers {
			layers = append(layers, filepath.Join(dir, blob(layer)))
		}
		want, err := os.ReadFile(find(t, release, "*_linux_"+m.Platform.Architecture))
		if got := programOf(t, layers); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the image for %+v: got another program of %d bytes, %v, want that of the release", m.Platform, len(got),
				err)
		}
	}
	slices.Sort(found)
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(found, want) {
		t.Errorf("got images for %v, want %v", found, want)
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

// asUser makes a program run below another root as another user, until this process ends.
func asUser(root string, user, group uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Chroot:     root,
		Credential: &syscall.Credential{Uid: user, Gid: group},
		Pdeathsig:  syscall.SIGKILL,
	}
}

// checkImage runs the program of the image as its user, with a root that cannot be written and the flags of the README.
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
	opened := openImage(t, os.Getenv(fileVariable))
	for _, layer := range opened.layers {
		unpack(t, layer, unpacked)
	}
	config := opened.Config
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
	command := regexp.MustCompile(`localhost/parley:VERSION (serve .*--listen (\S+))`).
		FindStringSubmatch(readDocument(t, "README.md"))
	if command == nil {
		t.Fatal("README.md has no command that runs the image")
	}
	all := slices.Concat(config.Entrypoint, strings.Fields(command[1]))
	cmd := exec.CommandContext(t.Context(), all[0], all[1:]...)
	cmd.Path, cmd.Dir, cmd.Env = config.Entrypoint[0], config.WorkingDir, config.Env
	cmd.SysProcAttr = asUser(root, 65532, 65532)
	start(t, cmd)
	meet(t, command[2], data)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("stop the server: got %v, want the exit status 0", err)
	}
}

// image is an image of an archive that podman and Docker load.
type image struct {
	OS, Architecture string
	Config           struct {
		User, WorkingDir     string
		Entrypoint, Cmd, Env []string
		Labels               map[string]string
	}
	name   string
	layers []string // their files
}

func openImage(t *testing.T, archive string) (opened image) {
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
	readJSON(t, dir, manifest[0].Config, &opened)
	opened.name = manifest[0].RepoTags[0]
	for _, layer := range manifest[0].Layers {
		opened.layers = append(opened.layers, filepath.Join(dir, layer))
	}
	return opened
}

// programOf returns the program in the layers of an image.
func programOf(t *testing.T, layers []string) (program []byte) {
	t.Helper()
	for _, layer := range layers {
		readLayer(t, layer, func(h *tar.Header, content []byte) {
			if h.Name == "parley" {
				program = content
			}
		})
	}
	return program
}

// readLayer calls do with each file and directory of a layer.
func readLayer(t *testing.T, layer string, do func(h *tar.Header, content []byte)) {
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
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		do(h, content)
	}
}

// unpack unpacks a layer, which has files and directories only.
func unpack(t *testing.T, layer, to string) {
	t.Helper()
	readLayer(t, layer, func(h *tar.Header, content []byte) {
		path, mode := filepath.Join(to, h.Name), h.FileInfo().Mode()
		var err error
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, mode)
		} else {
			err = os.WriteFile(path, content, mode)
		}
		if err := errors.Join(err, os.Chmod(path, mode), os.Chown(path, h.Uid, h.Gid)); err != nil {
			t.Fatal(err)
		}
	})
}

// meet lets two people hear each other in a room of a server. data is its data directory.
func meet(t *testing.T, address, data string) {
	t.Helper()
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
}

// These variables are for the process that inNamespace starts.
const (
	namespaceVariable = "PARLEY_TEST_NAMESPACE"
	scratchVariable   = "PARLEY_TEST_SCRATCH"
	fileVariable      = "PARLEY_TEST_FILE"
)

// inNamespace runs the calling subtest again in a process with mounts and a network of its own, which end with it. It
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
	const flags = syscall.CLONE_NEWNS | syscall.CLONE_NEWNET
	child.SysProcAttr = &syscall.SysProcAttr{Unshareflags: flags, Pdeathsig: syscall.SIGKILL}
	if output, err := child.CombinedOutput(); err != nil {
		t.Fatalf("in a namespace of its own: got %v, want a pass: %s", err, output)
	}
	return true
}

// TestInNamespace is the process that inNamespace starts.
func TestInNamespace(t *testing.T) {
	name := os.Getenv(namespaceVariable)
	if name == "" {
		t.Skip("TestRelease starts it")
	}
	run(t, "/", "ip", "link", "set", "lo", "up")
	switch {
	case strings.HasSuffix(name, "/package"):
		checkPackage(t, "")
	case strings.HasSuffix(name, "/image"):
		checkImage(t, "")
	default:
		t.Fatalf("got the subtest %s, want one of this list", name)
	}
}
