// Package v5 translates version 5 of the API, the signed Gateway, to the
// domain and back. It decides nothing, and imports no other version, no store
// and no media engine.
//
// Only its types are generated: generated routing reads parameters before
// anything else, and here the signature comes first.
package v5

//go:generate go tool oapi-codegen -config generate.yaml -templates ../codegen/templates openapi.yaml
//go:generate go run ../codegen/prune gen.go
