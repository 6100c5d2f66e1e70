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
)

// repository is the root of the repository.
const repository = "../.."

// language is one SDK. install installs its package from a server into an empty directory, as an
// integrator does, and returns the command of the driver there.
type language struct {
	name    string
	install func(t *testing.T, server, dir string) *exec.Cmd
	lacking []string // fields of errors without a response that the language does not have
}

var languages = []language{
	{name: "go", install: installGo, lacking: []string{"attempts", "status", "remedy"}},
	{name: "typescript", install: installTypeScript},
	{name: "python", install: installPython},
	{name: "php", install: installPHP},
}

// driver is a running program that makes the calls it reads, a line of JSON for each.
type driver struct {
	language language
	in       io.WriteCloser
	out      *bufio.Scanner
	errors   *bytes.Buffer
}

// startDriver installs a package and starts its driver until the test ends.
func startDriver(t *testing.T, l language, server string) *driver {
	t.Helper()
	cmd := l.install(t, server, t.TempDir())
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

// installGo gets the module from the server instead of a public proxy, which does not have it.
func installGo(t *testing.T, server, dir string) *exec.Cmd {
	t.Helper()
	project := filepath.Join(dir, "project")
	for _, name := range []string{"main.go", "calls.go"} {
		copyFile(t, filepath.Join("godriver", name), filepath.Join(project, name))
	}
	environment := []string{"GOPROXY=" + server + "/docs/sdk/go", "GONOSUMDB=parley.example",
		"GOFLAGS=-modcacherw", "GOMODCACHE=" + filepath.Join(dir, "modules")}
	run(t, project, environment, "go", "mod", "init", "shop.example/meetings")
	run(t, project, environment, "go", "get", "parley.example/client")
	run(t, project, environment, "go", "build", "-o", "driver", ".")
	return exec.Command(filepath.Join(project, "driver"))
}

func installTypeScript(t *testing.T, server, dir string) *exec.Cmd {
	t.Helper()
	writeFile(t, filepath.Join(dir, "package.json"), `{"private":true,"type":"module"}`)
	run(t, dir, nil, "npm", "install", "--silent", "--no-audit", "--no-fund",
		server+"/docs/sdk/parley-sdk-"+version(t)+".tgz")
	copyFile(t, absolute(t, "sdk/typescript/conformance/driver.mjs"), filepath.Join(dir, "driver.mjs"))
	return exec.Command("node", filepath.Join(dir, "driver.mjs"))
}

func installPython(t *testing.T, server, dir string) *exec.Cmd {
	t.Helper()
	run(t, dir, nil, python, "-m", "venv", ".")
	own := filepath.Join(dir, "bin", "python")
	run(t, dir, nil, own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index",
		server+"/docs/sdk/parley_sdk-"+version(t)+"-py3-none-any.whl")
	copyFile(t, absolute(t, "sdk/python/conformance/driver.py"), filepath.Join(dir, "driver.py"))
	return exec.Command(own, filepath.Join(dir, "driver.py"))
}

// debianPackages is a configuration of Composer that takes the interfaces of PSR and an HTTP client from Debian,
// because packagist.org may be out of reach.
const debianPackages = `{"repositories": [{"packagist.org": false}, {"type": "package", "package": [
	{"name": "psr/http-client", "version": "1.0.1", "type": "metapackage"},
	{"name": "psr/http-factory", "version": "1.0.1", "type": "metapackage"},
	{"name": "psr/http-message", "version": "1.0.1", "type": "metapackage"},
	{"name": "guzzlehttp/guzzle", "version": "7.4.5", "autoload": {"files": ["autoload.php"]},
		"dist": {"type": "path", "url": "/usr/share/php/GuzzleHttp", "reference": "debian"}}
]}]}`

// phpEnvironment lets Composer use what debianPackages names.
func phpEnvironment(t *testing.T, home string) []string {
	t.Helper()
	writeFile(t, filepath.Join(home, "config.json"), debianPackages)
	return []string{"COMPOSER_HOME=" + home, "COMPOSER_ALLOW_SUPERUSER=1"}
}

func installPHP(t *testing.T, server, dir string) *exec.Cmd {
	t.Helper()
	writeFile(t, filepath.Join(dir, "composer.json"), `{"config": {"secure-http": false}}`)
	environment := phpEnvironment(t, t.TempDir())
	run(t, dir, environment, "composer", "config", "repositories.parley", "composer", server+"/docs/sdk/php")
	run(t, dir, environment, "composer", "require", "--quiet", "--no-interaction", "parley/sdk", "guzzlehttp/guzzle")
	return exec.Command("php", absolute(t, "sdk/php/conformance/driver.php"), filepath.Join(dir, "vendor/autoload.php"))
}

// python is Debian's Python, whose packages the tests install.
const python = "/usr/bin/python3"

// version returns the version of the SDKs.
func version(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(absolute(t, "sdk/typescript/package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Version string }
	if err := json.Unmarshal(content, &p); err != nil {
		t.Fatal(err)
	}
	return p.Version
}
