package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// versionsFile has a line for each version of the SDKs: the version and the hash of its sources. It is in the
// directory of the SDKs. Lock files of integrators contain hashes of packages, so one version must always have the same
// content.
const versionsFile = "packages/versions.txt"

// mentions are the texts that contain the version; %s stands for it. The paths begin beside the directory of the SDKs.
var mentions = []struct{ path, text string }{
	{"sdk/typescript/package.json", `"version": "%s"`},
	{"sdk/typescript/package-lock.json", "{\n  \"name\": \"@parley/sdk\",\n  \"version\": \"%s\""},
	{"sdk/typescript/package-lock.json", "{\n      \"name\": \"@parley/sdk\",\n      \"version\": \"%s\""},
	{"sdk/typescript/src/version.ts", "VERSION = '%s'"},
	{"sdk/typescript/README.md", "/parley-sdk-%s.tgz"},
	{"sdk/python/pyproject.toml", `version = "%s"`},
	{"sdk/python/src/parley/_version.py", `__version__ = "%s"`},
	{"sdk/python/README.md", "/parley_sdk-%s-py3-none-any.whl"},
	{"sdk/php/composer.json", `"version": "%s"`},
	{"sdk/php/src/Client.php", "VERSION = '%s'"},
	{"examples/shop/README.md", "/parley-sdk-%s.tgz"},
	{"examples/timetable/README.md", "/parley_sdk-%s-py3-none-any.whl"},
	{"examples/desk/go.mod", "parley.example/client v%s"},
	{"docs/api/quickstart.md", "/parley-sdk-%s.tgz"},
	{"docs/api/quickstart.md", "/parley_sdk-%s-py3-none-any.whl"},
}

// readSources returns the files from which the packages are made, and the program that makes them. It leaves out tests.
func readSources(dir string) ([]file, error) {
	all, err := goSources(filepath.Join(dir, "go"))
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].name = "go/" + all[i].name
	}
	for _, sdk := range []struct {
		name     string
		metadata []string
	}{
		{"php", []string{"composer.json"}},
		{"python", []string{"pyproject.toml"}},
		{"typescript", []string{"package.json", "package-lock.json", "tsconfig.json"}}, // the lock names the compiler
	} {
		for _, name := range append([]string{"LICENSE", "README.md"}, sdk.metadata...) {
			content, err := os.ReadFile(filepath.Join(dir, sdk.name, name))
			if err != nil {
				return nil, err
			}
			all = append(all, file{sdk.name + "/" + name, content})
		}
		tree, err := readTree(filepath.Join(dir, sdk.name, "src"), sdk.name+"/src/")
		if err != nil {
			return nil, err
		}
		all = append(all, tree...)
	}
	program, err := readTree(filepath.Join(dir, "packages"), "packages/")
	if err != nil {
		return nil, err
	}
	for _, f := range program {
		if strings.HasSuffix(f.name, ".go") && !strings.HasSuffix(f.name, "_test.go") {
			all = append(all, f)
		}
	}
	return all, nil
}

// versionLine returns the line of versionsFile for a version and the sources of today.
func versionLine(dir, version string) (string, error) {
	sources, err := readSources(dir)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, f := range sources {
		content := sha256.Sum256(f.content)
		fmt.Fprintf(sum, "%s %x\n", f.name, content)
	}
	return version + " " + hex.EncodeToString(sum.Sum(nil)), nil
}

// readVersions returns the lines of versionsFile.
func readVersions(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, versionsFile))
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

// checkVersion returns an error if the sources are not those of the last line of versionsFile, or if a version has two
// lines.
func checkVersion(dir string) error {
	const remedy = "run go run ./sdk/packages -bump"
	version, err := readVersion(dir)
	if err != nil {
		return err
	}
	lines, err := readVersions(dir)
	if err != nil {
		return err
	}
	line, err := versionLine(dir, version)
	if err != nil {
		return err
	}
	if last := lines[len(lines)-1]; last != line {
		return fmt.Errorf("the sources of the SDKs are not those of version %s in %s: %s", version, versionsFile, remedy)
	}
	sameVersion := func(other string) bool { return strings.HasPrefix(other, version+" ") }
	if i := slices.IndexFunc(lines, sameVersion); i != len(lines)-1 {
		return fmt.Errorf("%s has the version %s twice: keep the earlier line, and %s", versionsFile, version, remedy)
	}
	return nil
}

// bump raises the last number of the version wherever it is written, and adds a line to versionsFile. It changes
// nothing if the sources are still those of the version. It writes what it did.
func bump(dir string, out io.Writer) error {
	version, err := readVersion(dir)
	if err != nil {
		return err
	}
	if checkVersion(dir) == nil {
		_, err := fmt.Fprintf(out, "nothing to raise: the sources of the SDKs are those of version %s\n", version)
		return err
	}
	dot := strings.LastIndex(version, ".")
	patch, err := strconv.Atoi(version[dot+1:])
	if err != nil {
		return fmt.Errorf("the version %s does not end with a number: %w", version, err)
	}
	next := version[:dot+1] + strconv.Itoa(patch+1)
	for _, m := range mentions {
		path := filepath.Join(dir, "..", m.path)
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		before, after := fmt.Sprintf(m.text, version), fmt.Sprintf(m.text, next)
		if !strings.Contains(string(content), before) {
			return fmt.Errorf("%s does not contain %s", m.path, before)
		}
		if err := write(path, []byte(strings.ReplaceAll(string(content), before, after))); err != nil {
			return err
		}
	}
	lines, err := readVersions(dir)
	if err != nil {
		return err
	}
	line, err := versionLine(dir, next)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(dir, versionsFile), []byte(strings.Join(append(lines, line), "\n")+"\n")); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "raised the version of the SDKs from %s to %s\n", version, next)
	return err
}
