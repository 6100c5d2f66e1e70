package v5

import "encoding/json"

// getLimits returns the entitlements of the organization's plan.
func (s *Server) getLimits(c *call) ([]byte, error) {
	plan, known := s.usage.PlanOf(c.keyring.Organization)
	out := Limits{Availability: availability(known), Entitlements: []Entitlement{}}
	if known {
		addEntitlement := func(key EntitlementKey, value int, unit EntitlementUnit) {
			out.Entitlements = append(out.Entitlements, Entitlement{
				Key:          key,
				Value:        value,
				Unit:         unit,
				Scope:        Room,
				Source:       "plan:" + plan.Name,
				Availability: AvailabilityAvailable,
			})
		}
		addEntitlement(MaxParticipants, plan.MaxParticipants, EntitlementUnitParticipants)
		addEntitlement(RoomDuration, plan.RoomDuration, EntitlementUnitMinutes)
		addEntitlement(BreakoutRooms, plan.BreakoutRooms, EntitlementUnitRooms)
	}
	return json.Marshal(LimitsResponse{Data: out})
}
