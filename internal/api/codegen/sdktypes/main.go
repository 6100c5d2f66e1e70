// Command sdktypes writes the types of the Python and PHP SDKs from the OpenAPI
// descriptions: a class for each object of a response or a webhook, and a type
// for each request body. It runs in its own directory.
//
//	go generate ./internal/api/codegen/sdktypes
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run .

// descriptions are the files of the API's versions. Version 4 is first because its objects,
// which have more fields, set the order and the documentation of what version 3 has too.
var descriptions = []struct{ version, file string }{
	{"v4", "../../v4/openapi.yaml"},
	{"v3", "../../v3/openapi.yaml"},
	{"v5", "../../v5/openapi.yaml"},
}

const (
	pythonFile   = "../../../../sdk/python/src/parley/_generated.py"
	phpDirectory = "../../../../sdk/php/src/Types"

	// header is in every file that this command writes.
	header = "Generated from the OpenAPI descriptions. Do not edit."
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "sdktypes:", err)
		os.Exit(1)
	}
}

func generate() error {
	m := newModel()
	for _, d := range descriptions {
		text, err := os.ReadFile(d.file)
		if err != nil {
			return err
		}
		if err := m.read(d.version, text); err != nil {
			return fmt.Errorf("%s: %w", d.file, err)
		}
	}
	if err := errors.Join(m.check(), m.checkTables()); err != nil {
		return err
	}
	if err := writeFile(pythonFile, writePython(m)); err != nil {
		return err
	}
	return writeDirectory(phpDirectory, writePHP(m))
}

func writeFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// writeDirectory writes the files, by their names, and removes the generated files of
// types that the descriptions no longer have.
func writeDirectory(directory string, files map[string]string) error {
	for name, text := range files {
		if err := writeFile(filepath.Join(directory, name), text); err != nil {
			return err
		}
	}
	present, err := filepath.Glob(filepath.Join(directory, "*.php"))
	if err != nil {
		return err
	}
	for _, name := range present {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if _, written := files[filepath.Base(name)]; written || !bytes.Contains(text, []byte(header)) {
			continue
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}
