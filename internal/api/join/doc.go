// Package join translates what the room page asks to the domain and back. It
// decides nothing, and imports no other API, no store and no media engine.
package join

//go:generate go tool oapi-codegen -config generate.yaml -templates ../codegen/templates openapi.yaml
//go:generate go run ../codegen/prune gen.go
