// Package web holds the built room page. Its one job is to carry web/dist/app,
// which `make build` fills, inside the binary.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Assets returns the built page: index.html and what it loads. It is empty
// when the page has not been built.
func Assets() fs.FS {
	app, err := fs.Sub(dist, "dist/app")
	if err != nil {
		panic(err) // the path is a constant and valid
	}
	return app
}
