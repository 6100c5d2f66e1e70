// Package manage translates the management API to the domain and back: what
// operators do with organizations, projects, keys, rooms and tokens. It decides
// nothing, and imports no other API, no store and no media engine.
package manage

//go:generate go tool oapi-codegen -config generate.yaml -templates ../codegen/templates openapi.yaml
//go:generate go run ../codegen/prune gen.go
