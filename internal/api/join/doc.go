// Package join translates the requests of the room page to calls of the domain,
// and the results to responses. It contains no rules of its own, and imports no
// other API, no store and no media engine.
package join

//go:generate go tool oapi-codegen -config generate.yaml -templates ../codegen/templates openapi.yaml
//go:generate go run ../codegen/prune gen.go
