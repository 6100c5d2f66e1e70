package main

import (
	"crypto/sha1" // Composer knows no other checksum
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

func readComposerJSON(dir string) (map[string]any, error) {
	content, err := os.ReadFile(filepath.Join(dir, "composer.json"))
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	err = json.Unmarshal(content, &fields)
	return fields, err
}

// writeComposerRepository writes a repository of the type "composer" with one package
// (https://getcomposer.org/doc/05-repositories.md#packages).
func writeComposerRepository(dir, out, version string) error {
	fields, err := readComposerJSON(dir)
	if err != nil {
		return err
	}
	var files []file
	for _, name := range []string{"LICENSE", "README.md", "composer.json"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		files = append(files, file{name, content})
	}
	sources, err := readTree(filepath.Join(dir, "src"), "src/")
	if err != nil {
		return err
	}
	archive, err := zipped(append(files, sources...))
	if err != nil {
		return err
	}
	name := "parley-sdk-" + version + ".zip"
	sum := sha1.Sum(archive)
	fields["dist"] = map[string]string{"type": "zip", "url": name, "shasum": hex.EncodeToString(sum[:])}
	delete(fields, "archive")
	delete(fields, "config")
	repository, err := json.MarshalIndent(map[string]any{
		"packages": map[string]any{"parley/sdk": map[string]any{version: fields}},
		// Composer completes the address of a mirror, but not that of a package.
		"mirrors": []map[string]any{{"dist-url": "/docs/sdk/php/" + name, "preferred": true}},
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := write(filepath.Join(out, name), archive); err != nil {
		return err
	}
	return write(filepath.Join(out, "packages.json"), append(repository, '\n'))
}
