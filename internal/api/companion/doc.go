// Package companion answers the routes with which a client's backend runs a
// meeting: start it, let people in, see who is there, end it, look back. They
// are the same under versions 3 and 4, but for the events of a room, which
// version 4 alone has. It translates and decides nothing, and imports no
// version, no store and no media engine.
package companion

//go:generate go tool oapi-codegen -config generate.yaml -templates ../codegen/templates ../v4/openapi.yaml
//go:generate go run ../codegen/prune gen.go
