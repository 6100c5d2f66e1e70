package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"

	"github.com/BurntSushi/toml" // the standard library reads no TOML
)

// project is what a wheel says about itself, from pyproject.toml.
type project struct {
	Project struct {
		Name           string
		Version        string
		Description    string
		Readme         string
		RequiresPython string `toml:"requires-python"`
		License        struct{ Text string }
		Authors        []struct{ Name string }
		Classifiers    []string
	}
}

func readProject(dir string) (p project, err error) {
	_, err = toml.DecodeFile(filepath.Join(dir, "pyproject.toml"), &p)
	return p, err
}

// writeWheel writes the Python SDK as a wheel. A wheel of pure Python is a zip archive with three files of
// metadata (https://packaging.python.org/en/latest/specifications/binary-distribution-format/), so that
// building a server needs no Python.
func writeWheel(dir, out, version string) error {
	p, err := readProject(dir)
	if err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(dir, p.Project.Readme))
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		return err
	}
	files, err := readTree(filepath.Join(dir, "src"), "")
	if err != nil {
		return err
	}
	distribution := "parley_sdk-" + version
	info := distribution + ".dist-info/"
	files = append(files,
		file{info + "LICENSE", license},
		file{info + "METADATA", p.metadata(readme)},
		file{info + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: parley\nRoot-Is-Purelib: true\nTag: py3-none-any\n")},
		file{info + "top_level.txt", []byte("parley\n")},
	)
	files = append(files, file{info + "RECORD", record(files, info+"RECORD")})
	archive, err := zipped(files)
	if err != nil {
		return err
	}
	return write(filepath.Join(out, distribution+"-py3-none-any.whl"), archive)
}

// metadata returns the core metadata (https://packaging.python.org/en/latest/specifications/core-metadata/).
func (p project) metadata(readme []byte) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\n", p.Project.Name, p.Project.Version,
		p.Project.Description)
	for _, author := range p.Project.Authors {
		fmt.Fprintf(&out, "Author: %s\n", author.Name)
	}
	fmt.Fprintf(&out, "License: %s\n", p.Project.License.Text)
	for _, classifier := range p.Project.Classifiers {
		fmt.Fprintf(&out, "Classifier: %s\n", classifier)
	}
	fmt.Fprintf(&out, "Requires-Python: %s\nDescription-Content-Type: text/markdown\n\n%s", p.Project.RequiresPython,
		readme)
	return out.Bytes()
}

// record lists the files of a wheel with their hashes, and itself without one.
func record(files []file, name string) []byte {
	var out bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&out, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&out, "%s,,\n", name)
	return out.Bytes()
}
