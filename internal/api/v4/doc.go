// Package v4 translates version 4 of the API to the domain and back. It makes no
// decisions, and imports no other version, no store and no media engine.
package v4

//go:generate go tool oapi-codegen -config generate.yaml -templates ../codegen/templates openapi.yaml
//go:generate go run ../codegen/prune gen.go
//go:generate go run ../codegen/tojson openapi.yaml openapi.json
