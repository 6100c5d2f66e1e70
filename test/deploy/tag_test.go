package deploy

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The version of a release is the tag of its commit, and its changes are the section of the changelog about that
// version. Without the tag, with changes that no commit has, or without the section, there is no release.
func TestRelease_Tag(t *testing.T) {
	source := cloneCheckout(t, "--no-tags")
	run(t, "../..", "cp", "-r", "web/dist", filepath.Join(source, "web"))
	assertRefused(t, source, "the commit has no tag v", ": tag it, or build it with -snapshot")
	run(t, source, "git", "tag", "v1.2.3")
	assertRefused(t, source, "CHANGELOG.md has no section [1.2.3]: rename the section [Unreleased] to [1.2.3]")

	changelog := filepath.Join(source, "CHANGELOG.md")
	text, err := os.ReadFile(changelog)
	if err != nil {
		t.Fatal(err)
	}
	const section = "\n## [1.2.3] - 2026-12-01\n\n- Only this version has it.\n"
	changed := strings.Replace(string(text), "\n## [", section+"\n## [", 1)
	if err := os.WriteFile(changelog, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, source, "the checkout has changes: commit them")
	run(t, source, "git", "-c", "user.name=Test", "-c", "user.email=test@parley.example", "commit", "-qam",
		"changelog: name the version 1.2.3")
	run(t, source, "git", "tag", "-f", "v1.2.3")

	dir := t.TempDir()
	if output, err := release(t, source, dir, "-arch", runtime.GOARCH).CombinedOutput(); err != nil {
		t.Fatalf("a release of the tag: got %v, want no error: %s", err, output)
	}
	checkVersion(t, dir, "1.2.3")
	changes, err := os.ReadFile(filepath.Join(dir, "parley_1.2.3_changes.md"))
	if want := "# Parley 1.2.3\n\n- Only this version has it.\n"; err != nil || string(changes) != want {
		t.Errorf("changes: got %.200q, %v, want %q", changes, err, want)
	}
}

// assertRefused checks that no release is made of a checkout, because of an error that has these parts.
func assertRefused(t *testing.T, source string, parts ...string) {
	t.Helper()
	dir := t.TempDir()
	output, err := release(t, source, dir, "-arch", runtime.GOARCH).CombinedOutput()
	for _, part := range parts {
		if err == nil || !strings.Contains(string(output), part) {
			t.Errorf("got %v, %s, want an error with %q", err, output, part)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "SHA256SUMS")); err == nil {
		t.Error("got checksums of a release that was refused, want none")
	}
}

// checkVersion checks that all files of a release for this machine have a version, in their names and inside.
func checkVersion(t *testing.T, dir, version string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.NewReplacer(version, "VERSION", runtime.GOARCH, "ARCH").Replace(e.Name()))
	}
	want := []string{
		"SHA256SUMS",
		"parley_VERSION_ARCH.deb",
		"parley_VERSION_changes.md",
		"parley_VERSION_image_ARCH.tar",
		"parley_VERSION_linux_ARCH",
		"parley_VERSION_linux_ARCH.cdx.json",
		"parley_VERSION_oci.tar",
	}
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Fatalf("got the files %v, want %v", names, want)
	}
	program := find(t, dir, "*_linux_"+runtime.GOARCH)
	if got := run(t, dir, program, "version"); !strings.HasPrefix(got, "parley v"+version+" ") {
		t.Errorf("parley version: got %q, want v%s", got, version)
	}
	pkg := find(t, dir, "*.deb")
	if got := strings.TrimSpace(run(t, dir, "dpkg-deb", "--field", pkg, "Version")); got != version {
		t.Errorf("the package: got the version %q, want %s", got, version)
	}
	opened := openImage(t, find(t, dir, "*_image_*.tar"))
	label := opened.Config.Labels["org.opencontainers.image.version"]
	if opened.name != "localhost/parley:"+version || label != version {
		t.Errorf("the image: got the name %s and the label %q, want %s", opened.name, label, version)
	}
	var components struct {
		Metadata struct{ Component struct{ Version string } }
	}
	readJSON(t, dir, filepath.Base(program)+".cdx.json", &components)
	if got := components.Metadata.Component.Version; got != "v"+version {
		t.Errorf("the components: got the version %q of the program, want v%s", got, version)
	}
}
