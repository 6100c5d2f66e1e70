package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2" // the format of Debian packages, without Debian's tools
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// debName returns the name of the Debian package, as Debian writes it.
func debName(p program) string { return fmt.Sprintf("parley_%s_%s.deb", p.version, p.arch) }

// helpFiles are the paths at which Debian's packages have their manual page and the completions of shells, without the
// first slash, and the arguments with which the program prints them.
var helpFiles = map[string][]string{
	"usr/share/man/man1/parley.1.gz":                  {"man"},
	"usr/share/bash-completion/completions/parley":    {"completion", "bash"},
	"usr/share/zsh/vendor-completions/_parley":        {"completion", "zsh"},
	"usr/share/fish/vendor_completions.d/parley.fish": {"completion", "fish"},
}

// writeHelp writes the manual page and the completions to a directory. It builds a program for this machine, because
// those of the release may be for another one.
func writeHelp(ctx context.Context, source, dir string) error {
	binary, err := filepath.Abs(filepath.Join(dir, "parley"))
	if err != nil {
		return err
	}
	if err := compile(ctx, source, binary, runtime.GOOS, runtime.GOARCH); err != nil {
		return err
	}
	for path, args := range helpFiles {
		text, err := exec.CommandContext(ctx, binary, args...).Output()
		if err != nil {
			return fmt.Errorf("parley %s: %w", strings.Join(args, " "), err)
		}
		if strings.HasSuffix(path, ".gz") {
			if text, err = compressed(text); err != nil {
				return err
			}
		}
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compressed returns a text in the form of gzip without a name or a time, so that it is always the same.
func compressed(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeDeb writes a package with the program, its unit, its user, its configuration and the files of writeHelp.
func writeDeb(p program, source, help, file string) error {
	scratch, err := os.MkdirTemp("", "parley-deb-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	unit, err := os.ReadFile(filepath.Join(source, "deploy/systemd/parley.service"))
	if err != nil {
		return err
	}
	// Files of packages are in /usr/bin, and those of the operator in /usr/local/bin.
	packaged := strings.ReplaceAll(string(unit), "/usr/local/bin/parley", "/usr/bin/parley")
	unitFile := filepath.Join(scratch, "parley.service")
	if err := os.WriteFile(unitFile, []byte(packaged), 0o644); err != nil {
		return err
	}
	var contents files.Contents
	for _, path := range slices.Sorted(maps.Keys(helpFiles)) {
		contents = append(contents, &files.Content{
			Source:      filepath.Join(help, path),
			Destination: "/" + path,
			FileInfo:    &files.ContentFileInfo{Mode: 0o644},
		})
	}
	from := func(path string) string { return filepath.Join(source, path) }
	info := nfpm.WithDefaults(&nfpm.Info{
		Name:        "parley",
		Arch:        p.arch,
		Platform:    "linux",
		Version:     p.version,
		Section:     "net",
		Priority:    "optional",
		Maintainer:  "Parley <parley@localhost>",
		Description: "Audio and video meetings, self-hosted\n One program with an API, a meeting page and a media engine.",
		License:     "Apache-2.0",
		MTime:       p.time,
		Overridables: nfpm.Overridables{
			Depends:    []string{"adduser"},
			Recommends: []string{"ca-certificates"},
			Scripts: nfpm.Scripts{
				PostInstall: from("deploy/debian/postinst"),
				PreRemove:   from("deploy/debian/prerm"),
				PostRemove:  from("deploy/debian/postrm"),
			},
			Contents: append(contents, files.Contents{
				{Source: p.file, Destination: "/usr/bin/parley", FileInfo: &files.ContentFileInfo{Mode: 0o755}},
				{Source: unitFile, Destination: "/lib/systemd/system/parley.service",
					FileInfo: &files.ContentFileInfo{Mode: 0o644}},
				{Source: from("deploy/debian/parley.yaml"), Destination: "/etc/parley/parley.yaml",
					Type: files.TypeConfigNoReplace, FileInfo: &files.ContentFileInfo{Mode: 0o644}},
				{Source: from("LICENSE"), Destination: "/usr/share/doc/parley/copyright",
					FileInfo: &files.ContentFileInfo{Mode: 0o644}},
			}...),
		},
	})
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	err = (&deb.Deb{}).Package(info, out)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}
