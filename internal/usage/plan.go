// Package usage reports the usage of an organization, its entitlements and the
// amount due. Every figure is computed from the recorded attendance. It imports
// the standard library, fault, project, key, room and validate.
package usage

import (
	"context"
	"maps"
	"slices"
	"time"

	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/validate"
)

// DefaultPlan is the name of the plan of an organization without another one.
const DefaultPlan = "default"

// Plan contains the limits of a plan.
type Plan struct {
	Name            string
	MaxParticipants int // per room
	RoomDuration    int // minutes
	BreakoutRooms   int // per room
	// IncludedMinutes is the number of participant minutes included per month; nil
	// if the plan does not define it.
	IncludedMinutes *int64
	// Quotas are those of each project.
	Quotas room.Quotas
}

// Provider returns plans by name.
type Provider interface {
	// Plan returns the plan with this name; false when it is unknown. An empty name
	// means DefaultPlan.
	Plan(name string) (Plan, bool)
	// Names returns the sorted names of all known plans.
	Names() []string
}

type builtinProvider map[string]Plan

// NewBuiltinProvider returns a Provider of the plans that the operator has
// configured. If none of them is named default, that plan has the technical limits
// and does not define included minutes.
func NewBuiltinProvider(plans []Plan) Provider {
	b := builtinProvider{DefaultPlan: {Name: DefaultPlan, MaxParticipants: validate.MaxParticipants,
		RoomDuration: validate.MaxRoomDuration, BreakoutRooms: validate.MaxBreakoutRooms}}
	for _, p := range plans {
		b[p.Name] = p
	}
	return b
}

// Plan returns a configured plan.
func (b builtinProvider) Plan(name string) (Plan, bool) {
	if name == "" {
		name = DefaultPlan
	}
	p, ok := b[name]
	return p, ok
}

// Names returns the sorted names of the configured plans.
func (b builtinProvider) Names() []string { return slices.Sorted(maps.Keys(b)) }

// NoProvider is a Provider without plans.
type NoProvider struct{}

// Plan returns false.
func (NoProvider) Plan(string) (Plan, bool) { return Plan{}, false }

// Names returns nil.
func (NoProvider) Names() []string { return nil }

// Keyrings finds the organization of a project without the database.
type Keyrings interface {
	Keyring(ctx context.Context, projectID string) (*key.Keyring, error)
}

// RoomPlans looks up what the plan of a project's organization allows its rooms.
type RoomPlans struct {
	Provider Provider
	Keys     Keyrings
}

// Entitlements returns the entitlements of a project; room.MaxEntitlements when its
// plan is unknown.
func (e RoomPlans) Entitlements(ctx context.Context, p project.Project) (room.Entitlements, error) {
	keyring, err := e.Keys.Keyring(ctx, p.ID)
	if err != nil {
		return room.Entitlements{}, err
	}
	plan, known := e.Provider.Plan(keyring.Organization.Plan)
	if !known {
		return room.MaxEntitlements, nil
	}
	return room.Entitlements{MaxParticipants: plan.MaxParticipants,
		Duration: time.Duration(plan.RoomDuration) * time.Minute, BreakoutRooms: plan.BreakoutRooms,
		Quotas: plan.Quotas}, nil
}
