package deploy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/internal/testkit"
)

// The paths at which systemd has the credentials of the service, and where it hears from the service.
const (
	credentialsPath = "/run/credentials/parley.service"
	notifyPath      = "/run/systemd/notify"
)

// unit has the settings of the section Service of a unit. A setting that is repeated has several values.
type unit map[string][]string

// readUnit reads the unit and its drop-ins, in their order.
func readUnit(t *testing.T, texts ...string) unit {
	t.Helper()
	u := unit{}
	for _, text := range texts {
		section := ""
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			key, value, isSetting := strings.Cut(line, "=")
			switch {
			case line == "" || strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "["):
				section = line
			case !isSetting || strings.HasSuffix(line, `\`) || strings.ContainsAny(line, `"'`):
				t.Fatalf("got the line %q of the unit, want one that this test can read", line)
			case section == "[Service]":
				u[key] = append(u[key], strings.ReplaceAll(value, "%d", credentialsPath))
			}
		}
	}
	return u
}

// value returns a setting that the unit has once.
func (u unit) value(t *testing.T, key string) string {
	t.Helper()
	if len(u[key]) != 1 || strings.Contains(u[key][0], "%") {
		t.Fatalf("got the values %q of %s, want one without a specifier", u[key], key)
	}
	return u[key][0]
}

// number returns a setting that is a number.
func (u unit) number(t *testing.T, key string, base int) int {
	t.Helper()
	n, err := strconv.ParseInt(u.value(t, key), base, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// environment returns the variables that systemd sets for the service, and no others.
func (u unit) environment(t *testing.T, root string) []string {
	t.Helper()
	variables := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
		"LANG=C.UTF-8",
		"USER=" + u.value(t, "User"),
		"LOGNAME=" + u.value(t, "User"),
		"HOME=/var/lib/parley",
		"SHELL=/usr/sbin/nologin",
		"NOTIFY_SOCKET=" + notifyPath,
		"STATE_DIRECTORY=/var/lib/" + u.value(t, "StateDirectory"),
	}
	if len(u["LoadCredential"]) > 0 {
		variables = append(variables, "CREDENTIALS_DIRECTORY="+credentialsPath)
	}
	variables = append(variables, u["Environment"]...)
	for _, file := range u["EnvironmentFile"] {
		name, isOptional := strings.CutPrefix(file, "-")
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && !(isOptional && errors.Is(err, os.ErrNotExist)) {
			t.Fatal(err)
		}
		variables = append(variables, strings.Fields(string(text))...)
	}
	return variables
}

// credentialKind is how systemd gives a service its credentials, which depends on the file system.
type credentialKind struct {
	fileSystem string
	// accessList grants the user of the service access with a list. Without one, the files belong to the user.
	accessList bool
}

// systemd uses ramfs, which has no access control lists, where it has no tmpfs that is never swapped.
var credentialKinds = []credentialKind{{"ramfs", false}, {"tmpfs", true}}

// mountCredentials gives the service its credentials, which root reads, as systemd does.
func (u unit) mountCredentials(t *testing.T, root string, kind credentialKind) {
	t.Helper()
	dir := filepath.Join(root, credentialsPath)
	run(t, "/", "mount", "-t", kind.fileSystem, "-o", "nodev,noexec,nosuid", kind.fileSystem, dir)
	uid := idOf(t, root, "-u", u.value(t, "User"))
	grant := func(path string, mode os.FileMode) {
		err := os.Chmod(path, mode)
		if kind.accessList {
			err = errors.Join(err, syscall.Setxattr(path, "system.posix_acl_access", accessList(mode, uid), 0))
		} else {
			err = errors.Join(err, os.Chown(path, int(uid), 0))
		}
		if err != nil {
			t.Fatalf("give the user access to %s: got %v, want no error", path, err)
		}
	}
	for _, credential := range u["LoadCredential"] {
		name, source, _ := strings.Cut(credential, ":")
		content, err := os.ReadFile(filepath.Join(root, source))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o400); err != nil {
			t.Fatal(err)
		}
		grant(path, 0o400)
	}
	grant(dir, 0o500)
	run(t, "/", "mount", "-o", "remount,bind,ro", dir)
}

// accessList returns the access control list with which a user may do what the owner of a file may (acl(5), in the
// form of the kernel). The mask of the list is what stat shows as the mode of the group.
func accessList(mode os.FileMode, uid uint32) []byte {
	const (
		ownerTag, userTag, groupTag, maskTag, othersTag = 0x01, 0x02, 0x04, 0x10, 0x20
		version, noID                                   = 2, 1<<32 - 1
	)
	list := binary.LittleEndian.AppendUint32(nil, version)
	may := uint16(mode.Perm() >> 6)
	for _, entry := range []struct {
		tag, may uint16
		id       uint32
	}{{ownerTag, may, noID}, {userTag, may, uid}, {groupTag, 0, noID}, {maskTag, may, noID}, {othersTag, 0, noID}} {
		list = binary.LittleEndian.AppendUint16(list, entry.tag)
		list = binary.LittleEndian.AppendUint16(list, entry.may)
		list = binary.LittleEndian.AppendUint32(list, entry.id)
	}
	return list
}

// command returns the command that systemd runs, below another root.
func (u unit) command(t *testing.T, root string) *exec.Cmd {
	t.Helper()
	args := strings.Fields(u.value(t, "ExecStart"))
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Path, cmd.Dir, cmd.Env = args[0], u.value(t, "WorkingDirectory"), u.environment(t, root)
	cmd.SysProcAttr = asUser(root, idOf(t, root, "-u", u.value(t, "User")), idOf(t, root, "-g", u.value(t, "Group")))
	const capNetBindService = 10
	if got := u.value(t, "AmbientCapabilities"); got != "CAP_NET_BIND_SERVICE" {
		t.Fatalf("got the capabilities %s, want one that this test knows", got)
	}
	cmd.SysProcAttr.AmbientCaps = []uintptr{capNetBindService}
	return cmd
}

// protect returns another root for the service, which has the mounts of the one below it, and in which the service can
// write to its own directory and to temporary ones only (ProtectSystem=strict, PrivateTmp=yes).
func (u unit) protect(t *testing.T, root, protected string) {
	t.Helper()
	if u.value(t, "ProtectSystem") != "strict" || u.value(t, "PrivateTmp") != "yes" {
		t.Fatal("the unit does not protect the file system as this test does")
	}
	run(t, "/", "mount", "--rbind", root, protected)
	run(t, "/", "mount", "-o", "remount,bind,ro", protected)
	state := filepath.Join("/var/lib", u.value(t, "StateDirectory"))
	run(t, "/", "mount", "--bind", filepath.Join(root, state), filepath.Join(protected, state))
	for _, dir := range []string{"tmp", "var/tmp"} {
		run(t, "/", "mount", "-t", "tmpfs", "tmpfs", filepath.Join(protected, dir))
	}
}

// start starts the service in a root that protect has made of another root, and returns when it is ready.
func (u unit) start(t *testing.T, root, protected string) *service {
	t.Helper()
	if got := u.value(t, "Type"); got != "notify" {
		t.Fatalf("got the type %s, want notify", got)
	}
	path := filepath.Join(root, notifyPath)
	_ = os.Remove(path) // of an earlier start
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	raw, err := socket.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var optionErr error
	err = raw.Control(func(fd uintptr) {
		optionErr = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_PASSCRED, 1)
	})
	if err := errors.Join(err, optionErr, os.Chmod(path, 0o777)); err != nil {
		t.Fatal(err)
	}
	s := &service{cmd: u.command(t, protected), socket: socket}
	mask := syscall.Umask(u.number(t, "UMask", 8)) // which the service inherits
	start(t, s.cmd)
	syscall.Umask(mask)
	s.await(t, "READY=1")
	return s
}

// service is a service that was started.
type service struct {
	cmd    *exec.Cmd
	socket *net.UnixConn
}

// await reads the next message to systemd. systemd ignores those of any other process but the first of the service,
// because that is the default of NotifyAccess for this type.
func (s *service) await(t *testing.T, want string) {
	t.Helper()
	if err := s.socket.SetReadDeadline(time.Now().Add(testkit.Timeout)); err != nil {
		t.Fatal(err)
	}
	message, control := make([]byte, 1000), make([]byte, 1000)
	n, controls, _, _, err := s.socket.ReadMsgUnix(message, control)
	if err != nil {
		t.Fatalf("wait for the message %q to systemd: got %v", want, err)
	}
	sender, err := senderOf(control[:controls])
	if got, _, _ := strings.Cut(string(message[:n]), "\n"); err != nil || got != want || sender != s.cmd.Process.Pid {
		t.Fatalf("got the message %q of the process %d, %v, want %q of %d", got, sender, err, want, s.cmd.Process.Pid)
	}
}

// senderOf returns the process that has sent a message.
func senderOf(control []byte) (pid int, err error) {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return 0, fmt.Errorf("%d control messages, want 1: %w", len(messages), err)
	}
	credentials, err := syscall.ParseUnixCredentials(&messages[0])
	if err != nil {
		return 0, err
	}
	return int(credentials.Pid), nil
}

// stop stops the service as systemd does.
func (s *service) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.await(t, "STOPPING=1")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("stop the service: got %v, want the exit status 0", err)
	}
	_ = s.socket.Close()
}
