package v5

import "encoding/json"

// getLimits answers with what the organization's plan entitles it to.
func (s *Server) getLimits(c *call) ([]byte, error) {
	plan, known := s.usage.PlanOf(c.keyring.Organization)
	out := Limits{Availability: availability(known), Entitlements: []Entitlement{}}
	if known {
		entitled := func(key EntitlementKey, value int, unit EntitlementUnit) {
			out.Entitlements = append(out.Entitlements, Entitlement{Key: key, Value: value, Unit: unit, Scope: Room,
				Source: "plan:" + plan.Name, Availability: AvailabilityAvailable})
		}
		entitled(MaxParticipants, plan.MaxParticipants, EntitlementUnitParticipants)
		entitled(RoomDuration, plan.RoomDuration, EntitlementUnitMinutes)
		entitled(BreakoutRooms, plan.BreakoutRooms, EntitlementUnitRooms)
	}
	return json.Marshal(LimitsAnswer{Data: out})
}
