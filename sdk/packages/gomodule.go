package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// goModule is the path of the Go SDK. The domain example is reserved (RFC 2606), so that nobody else can
// publish a module under this path.
const goModule = "parley.example/client"

// writeModuleProxy writes the Go SDK as a module proxy serves it (https://go.dev/ref/mod#goproxy-protocol).
func writeModuleProxy(dir, out, version string) error {
	v := module.Version{Path: goModule, Version: "v" + version}
	sources, err := goSources(dir)
	if err != nil {
		return err
	}
	var files []zip.File
	for _, f := range sources {
		files = append(files, moduleFile{f.name, filepath.Join(dir, filepath.FromSlash(f.name))})
	}
	var archive bytes.Buffer
	if err := zip.Create(&archive, v, files); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	info := []byte(`{"Version":"` + v.Version + `"}`)
	for name, content := range map[string][]byte{
		"@latest":                   info,
		"@v/list":                   []byte(v.Version + "\n"),
		"@v/" + v.Version + ".info": info,
		"@v/" + v.Version + ".mod":  mod,
		"@v/" + v.Version + ".zip":  archive.Bytes(),
	} {
		if err := write(filepath.Join(out, filepath.FromSlash(goModule), filepath.FromSlash(name)), content); err != nil {
			return err
		}
	}
	return nil
}

// goSources returns the files of the Go SDK without its tests, which need files outside of the module.
func goSources(dir string) ([]file, error) {
	tree, err := readTree(dir, "")
	isTest := func(f file) bool { return strings.HasSuffix(f.name, "_test.go") }
	return slices.DeleteFunc(tree, isTest), err
}

// moduleFile is a file of a module.
type moduleFile struct {
	name string // in the module, with slashes
	path string
}

// Path implements zip.File.
func (f moduleFile) Path() string { return f.name }

// Lstat implements zip.File.
func (f moduleFile) Lstat() (fs.FileInfo, error) { return os.Lstat(f.path) }

// Open implements zip.File.
func (f moduleFile) Open() (io.ReadCloser, error) { return os.Open(f.path) }
