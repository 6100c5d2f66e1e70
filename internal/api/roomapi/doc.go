// Package roomapi is the API of rooms that versions 3 and 4 share: authentication,
// the creation of rooms, the companion routes, with which a backend runs a meeting, and
// error responses. The versions add their routes and the fields that differ. It makes
// no decisions, and imports no version, no store and no media engine.
package roomapi

//go:generate go tool oapi-codegen -config generate.yaml -templates ../codegen/templates ../v4/openapi.yaml
//go:generate go run ../codegen/prune gen.go
