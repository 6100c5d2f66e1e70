package sdk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// repository is the root of the repository.
const repository = "../.."

// language is one SDK. install builds its package, installs it into an empty directory, and returns
// the command of the driver there.
type language struct {
	name    string
	install func(t *testing.T, dir string) *exec.Cmd
	lacking []string // fields of errors without a status that the language does not have
}

var languages = []language{
	{name: "go", install: installGo, lacking: []string{"attempts", "status", "remedy"}},
}

// driver is a running program that makes the calls it reads, a line of JSON for each.
type driver struct {
	language language
	in       io.WriteCloser
	out      *bufio.Scanner
	errors   *bytes.Buffer
}

// startDriver builds and installs a package and starts its driver until the test ends.
func startDriver(t *testing.T, l language) *driver {
	t.Helper()
	cmd := l.install(t, t.TempDir())
	d := &driver{language: l, errors: new(bytes.Buffer)}
	cmd.Stderr = d.errors
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.in, d.out = in, bufio.NewScanner(out)
	d.out.Buffer(nil, 16<<20)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.in.Close()
		_ = cmd.Wait()
	})
	return d
}

// ask sends a line to the driver and returns its response.
func (d *driver) ask(t *testing.T, question map[string]any) map[string]any {
	t.Helper()
	line, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(d.in, "%s\n", line); err != nil {
		t.Fatalf("the driver of %s ended: %v\n%s", d.language.name, err, d.errors)
	}
	if !d.out.Scan() {
		t.Fatalf("the driver of %s ended: %v\n%s", d.language.name, d.out.Err(), d.errors)
	}
	var response map[string]any
	if err := json.Unmarshal(d.out.Bytes(), &response); err != nil {
		t.Fatalf("the driver of %s wrote %s: %v\n%s", d.language.name, d.out.Bytes(), err, d.errors)
	}
	return response
}

// lacks reports whether the language has no such field in errors of this kind.
func (d *driver) lacks(field string, failure map[string]any) bool {
	withoutResponse := []any{"connection", "missing_credential", "invalid_argument", "unexpected_response"}
	return slices.Contains(withoutResponse, failure["kind"]) && slices.Contains(d.language.lacking, field)
}

// run runs a command in a directory and returns its output.
func run(t *testing.T, dir string, environment []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v in %s: %v\n%s", name, args, dir, err, out)
	}
	return string(out)
}

// absolute returns the absolute path of a file of the repository.
func absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(filepath.Join(repository, path))
	if err != nil {
		t.Fatal(err)
	}
	return full
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, to, string(content))
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// installGo writes a module proxy with the SDK into a directory, as `go get` reads it.
func installGo(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	version := module.Version{Path: "parley.example/client", Version: "v0.1.0"}
	proxy := filepath.Join(dir, "proxy", version.Path, "@v")
	copyFile(t, absolute(t, "sdk/go/go.mod"), filepath.Join(proxy, version.Version+".mod"))
	writeFile(t, filepath.Join(proxy, version.Version+".info"), `{"Version":"`+version.Version+`"}`)
	writeFile(t, filepath.Join(proxy, "list"), version.Version+"\n")
	var archive bytes.Buffer
	if err := zip.CreateFromDir(&archive, version, absolute(t, "sdk/go")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(proxy, version.Version+".zip"), archive.String())

	project := filepath.Join(dir, "project")
	for _, name := range []string{"main.go", "calls.go"} {
		copyFile(t, filepath.Join("godriver", name), filepath.Join(project, name))
	}
	environment := []string{"GOPROXY=file://" + filepath.Join(dir, "proxy"), "GONOSUMDB=parley.example",
		"GOFLAGS=-modcacherw", "GOMODCACHE=" + filepath.Join(dir, "modules")}
	run(t, project, environment, "go", "mod", "init", "shop.example/meetings")
	run(t, project, environment, "go", "get", version.Path)
	run(t, project, environment, "go", "build", "-o", "driver", ".")
	return exec.Command(filepath.Join(project, "driver"))
}
