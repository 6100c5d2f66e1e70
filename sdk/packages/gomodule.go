package main

import (
	"bytes"
	"os"
	"path/filepath"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// goModule is the path of the Go SDK. The domain example is reserved (RFC 2606), so that nobody else can
// publish a module under this path.
const goModule = "parley.example/client"

// writeModuleProxy writes the Go SDK as a module proxy serves it (https://go.dev/ref/mod#goproxy-protocol).
func writeModuleProxy(dir, out, version string) error {
	v := module.Version{Path: goModule, Version: "v" + version}
	var archive bytes.Buffer
	if err := zip.CreateFromDir(&archive, v, dir); err != nil {
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
