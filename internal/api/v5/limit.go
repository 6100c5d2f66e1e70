package v5

import (
	"strconv"
	"sync"
)

// maxLimitsBodies is the largest number of bodies that are kept. The next one replaces them all. An operator has few
// plans.
const maxLimitsBodies = 100

// limitsBodies are the bodies of limits that were encoded, by all that they depend on.
type limitsBodies struct {
	mu      sync.RWMutex
	encoded map[limitsKey][]byte
}

// limitsKey is what the body of limits depends on.
type limitsKey struct {
	known                                        bool // the following is that of a plan
	plan                                         string
	maxParticipants, roomDuration, breakoutRooms int
}

// getLimits returns the entitlements of the organization's plan.
func (s *Server) getLimits(c *call) ([]byte, error) {
	var key limitsKey
	if plan, known := s.usage.PlanOf(c.keyring.Organization); known {
		key = limitsKey{
			known:           true,
			plan:            plan.Name,
			maxParticipants: plan.MaxParticipants,
			roomDuration:    plan.RoomDuration,
			breakoutRooms:   plan.BreakoutRooms,
		}
	}
	return s.limits.get(key), nil
}

// get returns the body for a key. Nobody may change it.
func (l *limitsBodies) get(key limitsKey) []byte {
	l.mu.RLock()
	body := l.encoded[key]
	l.mu.RUnlock()
	if body != nil {
		return body
	}
	body = appendLimits(nil, newLimits(key))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.encoded == nil || len(l.encoded) >= maxLimitsBodies {
		l.encoded = map[limitsKey][]byte{}
	}
	l.encoded[key] = body
	return body
}

func newLimits(k limitsKey) Limits {
	out := Limits{Availability: availability(k.known), Entitlements: []Entitlement{}}
	if !k.known {
		return out
	}
	addEntitlement := func(key EntitlementKey, value int, unit EntitlementUnit) {
		out.Entitlements = append(out.Entitlements, Entitlement{
			Key:          key,
			Value:        value,
			Unit:         unit,
			Scope:        Room,
			Source:       "plan:" + k.plan,
			Availability: AvailabilityAvailable,
		})
	}
	addEntitlement(MaxParticipants, k.maxParticipants, EntitlementUnitParticipants)
	addEntitlement(RoomDuration, k.roomDuration, EntitlementUnitMinutes)
	addEntitlement(BreakoutRooms, k.breakoutRooms, EntitlementUnitRooms)
	return out
}

// appendLimits appends the JSON of LimitsResponse, in the form of encoding/json.
func appendLimits(b []byte, l Limits) []byte {
	b = appendText(append(b, `{"data":{"availability":`...), string(l.Availability))
	b = append(b, `,"entitlements":[`...)
	for i, e := range l.Entitlements {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"availability":`...), string(e.Availability))
		b = appendText(append(b, `,"key":`...), string(e.Key))
		b = appendText(append(b, `,"scope":`...), string(e.Scope))
		b = appendText(append(b, `,"source":`...), e.Source)
		b = appendText(append(b, `,"unit":`...), string(e.Unit))
		b = append(strconv.AppendInt(append(b, `,"value":`...), int64(e.Value), 10), '}')
	}
	return append(b, "]}}"...)
}
