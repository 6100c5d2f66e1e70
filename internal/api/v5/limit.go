package v5

import "strconv"

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
	return c.setBody(func(b []byte) []byte { return appendLimits(b, out) }), nil
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
