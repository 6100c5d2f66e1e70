package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2" // the format of Debian packages, without Debian's tools
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// debName returns the name of the Debian package, as Debian writes it.
func debName(p program) string { return fmt.Sprintf("parley_%s_%s.deb", p.version, p.arch) }

// writeDeb writes a package with the program, its unit, its user and its configuration.
func writeDeb(p program, source, file string) error {
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
			Contents: files.Contents{
				{Source: p.file, Destination: "/usr/bin/parley", FileInfo: &files.ContentFileInfo{Mode: 0o755}},
				{Source: unitFile, Destination: "/lib/systemd/system/parley.service",
					FileInfo: &files.ContentFileInfo{Mode: 0o644}},
				{Source: from("deploy/debian/parley.yaml"), Destination: "/etc/parley/parley.yaml",
					Type: files.TypeConfigNoReplace, FileInfo: &files.ContentFileInfo{Mode: 0o644}},
				{Source: from("LICENSE"), Destination: "/usr/share/doc/parley/copyright",
					FileInfo: &files.ContentFileInfo{Mode: 0o644}},
			},
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
