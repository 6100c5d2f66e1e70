// Package types tests that integrators can generate code from the published OpenAPI
// descriptions: the code that public tools generate compiles, and so does a program that
// uses it.
package types

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/oapi-codegen/runtime" // the generated clients need it, and this keeps it in go.mod
)

var versions = []string{"v3", "v4", "v5"}

// TestGo generates types and a client with oapi-codegen and compiles them together with a
// program that uses them. The generated files exist only in the compiler's overlay.
func TestGo(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{filepath.Join(root, "test/types/use/use.go"): filepath.Join(root,
		"test/types/testdata/use.go")}
	for _, version := range versions {
		generated := filepath.Join(dir, version+".go")
		runTool(t, root, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", version, "-o",
			generated, openAPIFile(root, version))
		files[filepath.Join(root, "test/types", version, "client.go")] = generated
	}
	text, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	runTool(t, root, "go", "build", "-overlay", overlay, "./test/types/use")
}

// TestTypeScript generates types with openapi-typescript and compiles them strictly together
// with a program that uses them.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tool := func(name string) string { return filepath.Join(root, "web/node_modules/.bin", name) }
	for _, version := range versions {
		runTool(t, root, tool("openapi-typescript"), openAPIFile(root, version), "-o",
			filepath.Join(dir, version+".ts"))
	}
	use, err := os.ReadFile("testdata/use.ts")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "use.ts"), use, 0o600); err != nil {
		t.Fatal(err)
	}
	runTool(t, dir, tool("tsc"), "--noEmit", "--strict", "--noUnusedLocals", "--exactOptionalPropertyTypes",
		"--noUncheckedIndexedAccess",
		"--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "use.ts")
}

func openAPIFile(root, version string) string {
	return filepath.Join(root, "internal/api", version, "openapi.yaml")
}

// runTool runs a tool in a directory and fails the test if the tool fails.
func runTool(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
}
