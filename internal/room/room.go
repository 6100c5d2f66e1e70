// Package room holds rooms: what they are, how they live and end, who may come
// in. It imports the standard library, fault, event and the nouns to its left
// (project, key), and no transport, database or media engine.
package room

// Type is what a room carries.
type Type string

// The types of a room.
const (
	Video Type = "video" // sound, pictures and screens
	Audio Type = "audio" // sound only
)

// Role is what a participant may do in a room. It comes with the link.
type Role string

// The roles.
const (
	Host  Role = "host"
	Guest Role = "guest"
)
