// Command release builds what a release consists of, from a clean checkout of its tag: binaries, a
// container image, Debian packages, a list of components for each binary, the changes, and checksums. Two
// builds of one commit are the same byte for byte. It is a module of its own, so that the server does not
// depend on its tools.
package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	source := flag.String("source", "..", "Checkout of Parley, with a built page.")
	out := flag.String("out", "../dist", "Directory for the files, which is created.")
	snapshot := flag.Bool("snapshot", false, "Build a commit that has no tag, for a test.")
	arch := flag.String("arch", "amd64,arm64", "Processors for which to build, separated by commas; all with Linux.")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := release(ctx, *source, *out, strings.Split(*arch, ","), *snapshot); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// program is a binary of one architecture.
type program struct {
	arch    string
	file    string
	info    *buildinfo.BuildInfo
	version string    // such as 1.2.3, without a v
	time    time.Time // of the commit
}

// name returns the name of a file of the release about the program.
func (p program) name(suffix string) string {
	return fmt.Sprintf("parley_%s_linux_%s%s", p.version, p.arch, suffix)
}

func release(ctx context.Context, source, out string, architectures []string, snapshot bool) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if old, err := os.ReadDir(out); err != nil || len(old) > 0 {
		return errors.Join(err, fmt.Errorf("%s must be empty, so that only new files are in the checksums", out))
	}
	help, err := os.MkdirTemp("", "parley-help-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(help) }()
	if err := writeHelp(ctx, source, help); err != nil {
		return err
	}
	var programs []program
	for _, arch := range architectures {
		p, err := build(ctx, source, out, arch)
		if err != nil {
			return err
		}
		if !snapshot {
			if err := checkTag(ctx, source, p.info.Main.Version); err != nil {
				return err
			}
		}
		if len(programs) == 0 {
			if err := writeNotes(source, out, p.version, snapshot); err != nil {
				return err
			}
		}
		programs = append(programs, p)
		if err := writeSBOM(p, filepath.Join(out, p.name(".cdx.json"))); err != nil {
			return fmt.Errorf("list the components: %w", err)
		}
		if err := writeDeb(p, source, help, filepath.Join(out, debName(p))); err != nil {
			return fmt.Errorf("make the Debian package: %w", err)
		}
	}
	if err := writeImages(programs, out); err != nil {
		return fmt.Errorf("make the images: %w", err)
	}
	return writeChecksums(out)
}

// build compiles the program for an architecture.
func build(ctx context.Context, source, out, arch string) (p program, err error) {
	if _, err := os.Stat(filepath.Join(source, "web/dist/app/index.html")); err != nil {
		return p, fmt.Errorf("the page is not built: run make build: %w", err)
	}
	partial, err := filepath.Abs(filepath.Join(out, "parley."+arch))
	if err != nil {
		return p, err
	}
	if err := compile(ctx, source, partial, "linux", arch); err != nil {
		return p, err
	}
	p = program{arch: arch}
	if p.info, err = buildinfo.ReadFile(partial); err != nil {
		return p, err
	}
	p.version = strings.TrimPrefix(p.info.Main.Version, "v")
	if p.version == "" || p.version == "(devel)" {
		return p, errors.New("the program has no version: build it in a git checkout")
	}
	if setting(p.info, "vcs.modified") == "true" {
		return p, errors.New("the checkout has changes: commit them, because others must be able to build the same")
	}
	if p.time, err = time.Parse(time.RFC3339, setting(p.info, "vcs.time")); err != nil {
		return p, fmt.Errorf("the program has no time of its commit: %w", err)
	}
	p.file = filepath.Join(out, p.name(""))
	return p, os.Rename(partial, p.file)
}

// compile writes the program for a system and an architecture to a file.
func compile(ctx context.Context, source, file, system, arch string) error {
	// VCS information gives the program its version, which is the tag.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", file,
		"./cmd/parley")
	cmd.Dir = source
	// For every processor of the architecture, whatever the settings of this machine.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOEXPERIMENT=", "GOFLAGS=", "GOENV=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s/%s: %w: %s", system, arch, err, text)
	}
	return nil
}

// checkTag returns an error unless the commit has the tag of a version. Go takes the version from it, but only
// from a tag that fits the module.
func checkTag(ctx context.Context, source, version string) error {
	cmd := exec.CommandContext(ctx, "git", "tag", "--points-at", "HEAD")
	cmd.Dir = source
	tags, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("read the tags of the commit: %w", err)
	}
	if !slices.Contains(strings.Fields(string(tags)), version) {
		return fmt.Errorf("the commit has no tag %s: tag it, or build it with -snapshot", version)
	}
	return nil
}

// setting returns a setting of the build of a program.
func setting(info *buildinfo.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// writeChecksums writes the file with which sha256sum -c checks all other files.
func writeChecksums(dir string) error {
	const name = "SHA256SUMS"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		if e.IsDir() || e.Name() == name {
			continue
		}
		sum, err := checksum(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, sum+"  "+e.Name()+"\n")
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "")), 0o644)
}

func checksum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
