// Command packages builds the packages of the SDKs, which every server offers under /docs/sdk: a
// tarball for npm, a wheel for pip, a repository for Composer, and a module proxy for Go. The same
// sources always become the same bytes. With -bump it raises the version, which every change of the sources needs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

// file is a file of an archive.
type file struct {
	name    string // with slashes
	content []byte
}

func main() {
	log.SetFlags(0)
	sources := flag.String("sources", "sdk", "directory of the SDKs")
	out := flag.String("out", "web/dist/app/docs/sdk", "directory to write, which is emptied first")
	raise := flag.Bool("bump", false, "raise the version of the SDKs if their sources have changed, and build nothing")
	flag.Parse()
	run := func() error { return build(*sources, *out) }
	if *raise {
		run = func() error { return bump(*sources, os.Stdout) }
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func build(sources, out string) error {
	version, err := readVersion(sources)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return errors.Join(
		writeTarball(filepath.Join(sources, "typescript"), out, version),
		writeWheel(filepath.Join(sources, "python"), out, version),
		writeComposerRepository(filepath.Join(sources, "php"), filepath.Join(out, "php"), version),
		writeModuleProxy(filepath.Join(sources, "go"), filepath.Join(out, "go"), version),
	)
}

// readVersion returns the version that all SDKs have.
func readVersion(sources string) (string, error) {
	npm, err := readPackageJSON(filepath.Join(sources, "typescript"))
	if err != nil {
		return "", err
	}
	python, err := readProject(filepath.Join(sources, "python"))
	if err != nil {
		return "", err
	}
	php, err := readComposerJSON(filepath.Join(sources, "php"))
	if err != nil {
		return "", err
	}
	for name, version := range map[string]any{"pyproject.toml": python.Project.Version, "composer.json": php["version"]} {
		if version != npm.Version {
			return "", fmt.Errorf("%s has the version %v, and package.json %s: all SDKs have the same version", name, version,
				npm.Version)
		}
	}
	if npm.Version == "" {
		return "", errors.New("package.json has no version")
	}
	return npm.Version, nil
}

// write writes a file and the directories above it.
func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
