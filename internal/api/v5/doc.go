// Package v5 translates the requests of version 5 of the API, the signed Gateway,
// to calls of the domain, and the results to responses. It contains no rules of
// its own, and imports no other version, no store and no media engine.
//
// Only its types are generated, because generated routing would read the
// parameters before the signature is checked.
package v5

//go:generate go tool oapi-codegen -config generate.yaml -templates ../codegen/templates openapi.yaml
//go:generate go run ../codegen/prune gen.go
//go:generate go run ../codegen/tojson openapi.yaml openapi.json
