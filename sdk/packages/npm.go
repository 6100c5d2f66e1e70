package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

type packageJSON struct {
	Name    string
	Version string
}

func readPackageJSON(dir string) (p packageJSON, err error) {
	content, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return p, err
	}
	err = json.Unmarshal(content, &p)
	return p, err
}

// writeTarball packs the TypeScript SDK with npm, which also compiles it, as parley-sdk-VERSION.tgz.
func writeTarball(dir, out, version string) error {
	packed, err := os.MkdirTemp("", "parley-npm-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(packed) }()
	pack := exec.Command("npm", "pack", "--silent", "--pack-destination", packed)
	pack.Dir = dir
	if output, err := pack.CombinedOutput(); err != nil {
		return fmt.Errorf("npm pack in %s: %w\n%s", dir, err, output)
	}
	name := "parley-sdk-" + version + ".tgz"
	content, err := os.ReadFile(filepath.Join(packed, name))
	if err != nil {
		return err
	}
	if content, err = withFixedModes(content); err != nil {
		return fmt.Errorf("read what npm has packed: %w", err)
	}
	return write(filepath.Join(out, name), content)
}

// withFixedModes returns a tar archive for npm in which all files have the same mode. npm takes the modes from the
// files, and so from the umask of whoever builds. It is not compressed, so that its bytes do not depend on the version
// of Go.
func withFixedModes(archive []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.NoCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		h.Mode = 0o644
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := io.Copy(w, r); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), compressed.Close())
	return out.Bytes(), err
}
