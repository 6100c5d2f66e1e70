// Package manage translates the requests of the management API to calls of the
// domain, and the results to responses: operators manage organizations,
// projects, keys, rooms, webhooks and tokens with it. It contains no rules of its
// own, and imports no other API, no store and no media engine.
package manage

//go:generate go tool oapi-codegen -config generate.yaml -templates ../codegen/templates openapi.yaml
//go:generate go run ../codegen/prune gen.go
