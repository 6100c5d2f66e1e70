// Command prune removes the declarations that no code uses from a generated
// file of the package in the working directory, because oapi-codegen writes a
// type for every schema, parameter and response of a description. Code of this
// module outside the package counts as a user of exported names.
//
//	go run parley/internal/api/codegen/prune gen.go
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: prune FILE")
		os.Exit(2)
	}
	if err := prune(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "prune:", err)
		os.Exit(1)
	}
}

func prune(name string) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	used, err := usedNames(name, file.Name.Name)
	if err != nil {
		return err
	}
	keep := reachable(file, used)
	var cut [][2]int
	for _, decl := range file.Decls {
		if imports, ok := decl.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
			continue
		}
		if !keep[decl] {
			cut = append(cut, span(fset, decl))
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for i := len(cut) - 1; i >= 0; i-- {
		text = append(text[:cut[i][0]:cut[i][0]], text[cut[i][1]:]...)
	}
	if text, err = withoutUnusedImports(name, text); err != nil {
		return err
	}
	if text, err = format.Source(text); err != nil {
		return err
	}
	return os.WriteFile(name, append(bytes.TrimSpace(text), '\n'), 0o644)
}

// span returns where a declaration and its comment begin and end, in bytes.
func span(fset *token.FileSet, decl ast.Decl) [2]int {
	start := decl.Pos()
	switch d := decl.(type) {
	case *ast.GenDecl:
		if d.Doc != nil {
			start = d.Doc.Pos()
		}
	case *ast.FuncDecl:
		if d.Doc != nil {
			start = d.Doc.Pos()
		}
	}
	return [2]int{fset.Position(start).Offset, fset.Position(decl.End()).Offset}
}

// usedNames returns every identifier in the other files of the package, and the
// names that other packages of the module select from it.
func usedNames(generated, pkg string) (map[string]bool, error) {
	used := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if name == generated {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		for id := range identifiers(file) {
			used[id] = true
		}
	}
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	selected := regexp.MustCompile(`\b` + pkg + `\.([A-Z]\w*)`)
	return used, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")) {
			return errorOr(err, filepath.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, match := range selected.FindAllSubmatch(text, -1) {
			used[string(match[1])] = true
		}
		return err
	})
}

func errorOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, found := os.Stat(filepath.Join(dir, "go.mod")); found == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fs.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// reachable returns the declarations that used names need, directly or through
// other declarations. A method and the constants of a type belong to the type.
func reachable(file *ast.File, used map[string]bool) map[ast.Decl]bool {
	keep := map[ast.Decl]bool{}
	for grown := true; grown; {
		grown = false
		for _, decl := range file.Decls {
			if keep[decl] || !needed(decl, used) {
				continue
			}
			keep[decl], grown = true, true
			for id := range identifiers(decl) {
				used[id] = true
			}
		}
	}
	return keep
}

func needed(decl ast.Decl, used map[string]bool) bool {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return used[d.Name.Name]
		}
		return used[receiver(d)] && used["."+d.Name.Name]
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if used[s.Name.Name] {
					return true
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if used[n.Name] {
						return true
					}
				}
			}
		}
	}
	return false
}

func receiver(d *ast.FuncDecl) string {
	kind := d.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if id, ok := kind.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// identifiers returns the identifiers below n that may name a declaration of
// the package: not those of fields.
func identifiers(n ast.Node) map[string]bool {
	all := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			for id := range identifiers(n.X) {
				all[id] = true
			}
			all["."+n.Sel.Name] = true // a method, perhaps
			return false
		case *ast.Field:
			for id := range identifiers(n.Type) {
				all[id] = true
			}
			return false
		case *ast.Ident:
			all[n.Name] = true
		}
		return true
	})
	return all
}

// withoutUnusedImports removes the imports whose packages nothing names any
// more.
func withoutUnusedImports(name string, text []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				named[id.Name] = true
			}
		}
		return true
	})
	for i := len(file.Imports) - 1; i >= 0; i-- {
		spec := file.Imports[i]
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		local := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if !named[local] {
			text = append(text[:fset.Position(spec.Pos()).Offset:fset.Position(spec.Pos()).Offset],
				text[fset.Position(spec.End()).Offset:]...)
		}
	}
	return bytes.Replace(text, []byte("import ()\n"), nil, 1), nil
}
