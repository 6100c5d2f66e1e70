package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go" // the format of the list, which tools for security read
)

// writeSBOM writes the components of a program, in the format CycloneDX: the modules that the program itself
// names, and the packages of its page.
func writeSBOM(p program, source, file string) error {
	main := component(debug.Module{Path: p.info.Main.Path, Version: p.info.Main.Version}, cdx.ComponentTypeApplication)
	goVersion := strings.TrimPrefix(p.info.GoVersion, "go")
	components := []cdx.Component{
		newComponent(cdx.ComponentTypeLibrary, "stdlib", goVersion, "pkg:golang/stdlib@"+goVersion),
	}
	for _, m := range p.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, component(*m, cdx.ComponentTypeLibrary))
	}
	ofPage, err := pagePackages(source)
	if err != nil {
		return err
	}
	components = append(components, ofPage...)
	slices.SortFunc(components, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: p.time.UTC().Format(time.RFC3339),
		Component: &main,
		Properties: &[]cdx.Property{
			{Name: "arch", Value: p.arch},
			{Name: "revision", Value: setting(p.info, "vcs.revision")},
		},
	}
	bom.Components = &components
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	encoder := cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	if err := encoder.Encode(bom); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func component(m debug.Module, kind cdx.ComponentType) cdx.Component {
	url := fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version)
	return newComponent(kind, m.Path, m.Version, url)
}

func newComponent(kind cdx.ComponentType, name, version, url string) cdx.Component {
	return cdx.Component{
		BOMRef:     url,
		Type:       kind,
		Name:       name,
		Version:    version,
		PackageURL: url,
	}
}

// pagePackages returns the packages that are part of the page, without those that only build it.
func pagePackages(source string) (components []cdx.Component, err error) {
	text, err := os.ReadFile(filepath.Join(source, "web/package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("read package-lock.json: %w", err)
	}
	for path, p := range lock.Packages {
		const folder = "node_modules/"
		i := strings.LastIndex(path, folder)
		if i < 0 || p.Dev {
			continue
		}
		name := path[i+len(folder):]
		url := fmt.Sprintf("pkg:npm/%s@%s", strings.Replace(name, "@", "%40", 1), p.Version)
		components = append(components, newComponent(cdx.ComponentTypeLibrary, name, p.Version, url))
	}
	return components, nil
}
