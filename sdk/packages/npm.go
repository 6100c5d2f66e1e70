package main

import (
	"encoding/json"
	"fmt"
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
func writeTarball(dir, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	target, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	pack := exec.Command("npm", "pack", "--silent", "--pack-destination", target)
	pack.Dir = dir
	if output, err := pack.CombinedOutput(); err != nil {
		return fmt.Errorf("npm pack in %s: %w\n%s", dir, err, output)
	}
	return nil
}
