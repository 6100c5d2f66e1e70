// Package usage says what an organization has used, what its plan entitles it
// to and what it owes. Every figure comes from the ledger of attendance; none
// is invented. It imports the standard library, fault and project.
package usage

import (
	"maps"
	"slices"

	"parley/internal/validate"
)

// DefaultPlan is the name of the plan of an organization that has no other.
const DefaultPlan = "default"

// Plan is what an organization is entitled to.
type Plan struct {
	Name            string
	MaxParticipants int // of a room
	RoomDuration    int // minutes
	BreakoutRooms   int // of a room
	// IncludedMinutes are the participant minutes a month that the plan
	// includes; nil when it says nothing of minutes.
	IncludedMinutes *int64
}

// Provider knows plans.
type Provider interface {
	// Plan returns the plan of a name; false when it is not known, so that
	// nothing can be said of it. An empty name is DefaultPlan.
	Plan(name string) (Plan, bool)
	// Names returns the names of all plans it knows, in order.
	Names() []string
}

type builtinProvider map[string]Plan

// NewBuiltinProvider returns a Provider of the plans that the operator has configured. A
// plan named default that is not among them has the technical bounds, and says
// nothing of minutes.
func NewBuiltinProvider(plans []Plan) Provider {
	b := builtinProvider{DefaultPlan: {Name: DefaultPlan, MaxParticipants: validate.MaxParticipants,
		RoomDuration: validate.MaxRoomDuration, BreakoutRooms: validate.MaxBreakoutRooms}}
	for _, p := range plans {
		b[p.Name] = p
	}
	return b
}

// Plan implements Provider.
func (b builtinProvider) Plan(name string) (Plan, bool) {
	if name == "" {
		name = DefaultPlan
	}
	p, ok := b[name]
	return p, ok
}

// Names implements Provider.
func (b builtinProvider) Names() []string { return slices.Sorted(maps.Keys(b)) }

// NoProvider is the missing Provider: it knows nothing.
type NoProvider struct{}

// Plan implements Provider.
func (NoProvider) Plan(string) (Plan, bool) { return Plan{}, false }

// Names implements Provider.
func (NoProvider) Names() []string { return nil }
