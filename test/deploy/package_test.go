package deploy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// checkPackage installs the package into a copy of this system that nobody else sees, and starts its service there.
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
	checkService(t, root)

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

// checkService starts the service of the package as systemd does: with the master key in its data directory, and with
// the key as a credential, as docs/operating/service.md says.
func checkService(t *testing.T, root string) {
	const data, address = "/var/lib/parley", "127.0.0.1:443"
	text, err := os.ReadFile(filepath.Join(root, "lib/systemd/system/parley.service"))
	if err != nil {
		t.Fatal(err)
	}
	protected := filepath.Join(os.Getenv(scratchVariable), "protected")
	if err := errors.Join(
		os.Mkdir(protected, 0o755),
		os.MkdirAll(filepath.Join(root, credentialsPath), 0o755),
		os.MkdirAll(filepath.Join(root, filepath.Dir(notifyPath)), 0o755),
		os.WriteFile(filepath.Join(root, "etc/parley/environment"), []byte("PARLEY_LISTEN="+address+"\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	meetOnce := func(u unit) {
		t.Helper()
		u.protect(t, root, protected)
		s := u.start(t, root, protected)
		meet(t, address, filepath.Join(root, data))
		s.stop(t)
		run(t, "/", "umount", "--recursive", protected)
	}
	meetOnce(readUnit(t, string(text)))

	key := filepath.Join(root, data, "master.key")
	run(t, "/", "install", "-m", "0600", key, filepath.Join(root, "etc/parley/master.key"))
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	dropIn := "[Service]\n"
	for line := range strings.Lines(string(text)) {
		if setting, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(setting, " ") {
			dropIn += setting
		}
	}
	for _, kind := range credentialKinds {
		u := readUnit(t, string(text), dropIn)
		u.mountCredentials(t, root, kind)
		meetOnce(u)
		run(t, "/", "umount", filepath.Join(root, credentialsPath))
	}
	if _, err := os.Stat(key); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the key in the data directory: got %v, want none, because it is a credential", err)
	}
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

// idOf returns an ID of a user below another root.
func idOf(t *testing.T, root, flag, user string) uint32 {
	t.Helper()
	id, err := strconv.ParseUint(strings.TrimSpace(run(t, "/", "chroot", root, "id", flag, user)), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(id)
}
