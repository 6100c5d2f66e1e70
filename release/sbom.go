package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go" // the format of the list, which tools for security read
)

// writeSBOM writes the components of a program, in the format CycloneDX: the modules and the packages of its page that
// the program itself names.
func writeSBOM(p program, file string) error {
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
	ofPage, err := pagePackages(p.file)
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

// pagePackages returns the packages of the page. The build of the page (web/build/packageList.ts) puts a list of them
// into the program, whose first key occurs nowhere else.
func pagePackages(program string) (components []cdx.Component, err error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var list struct {
		Packages []struct{ Name, Version string } `json:"parleyPagePackages"`
	}
	if i := bytes.Index(content, []byte(`{"parleyPagePackages":`)); i >= 0 {
		if err := json.NewDecoder(bytes.NewReader(content[i:])).Decode(&list); err != nil {
			return nil, fmt.Errorf("read the list of the packages of the page: %w", err)
		}
	}
	if len(list.Packages) == 0 {
		return nil, errors.New("the program has no list of the packages of its page: run make build")
	}
	for _, p := range list.Packages {
		url := fmt.Sprintf("pkg:npm/%s@%s", strings.Replace(p.Name, "@", "%40", 1), p.Version)
		components = append(components, newComponent(cdx.ComponentTypeLibrary, p.Name, p.Version, url))
	}
	return components, nil
}
