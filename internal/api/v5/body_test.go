package v5

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawn draws the parts of a body.
type drawn struct{ *rapid.T }

func (d drawn) text(name string) string {
	return rapid.OneOf(rapid.String(), rapid.StringMatching("[a-z…]*")).Draw(d.T, name)
}

func (d drawn) at(name string) Time {
	return Time(time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(d.T, name)))
}

func (d drawn) minutes(name string) Minutes {
	return float64(rapid.Int64Range(0, 1e15).Draw(d.T, name)) / 100
}

func (d drawn) figure(name string) Figure {
	return Figure{Availability(d.text(name)), maybe(d, name+" value", d.minutes)}
}

// maybe draws a value or nil.
func maybe[T any](d drawn, name string, draw func(name string) T) *T {
	if rapid.Bool().Draw(d.T, "no "+name) {
		return nil
	}
	value := draw(name)
	return &value
}

// check compares a body with that of encoding/json.
func (d drawn) check(got []byte, response any) {
	want, err := json.Marshal(response)
	if err != nil {
		d.Fatal(err)
	}
	if string(got) != string(want) {
		d.Fatalf("got  %s\nwant %s", got, want)
	}
}

func TestAppendKeys_MatchesEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn{rt}
		k := Keys{
			Current: CurrentKey{
				Id:             d.text("id"),
				ApiKey:         d.text("key"),
				Status:         Active,
				SigningProfile: SVCHMACV51,
				CreatedAt:      d.at("created"),
				LastUsedAt:     maybe(d, "used", d.at),
			},
			Overlap: maybe(d, "overlap", func(string) OverlapKey {
				return OverlapKey{
					Id:                    d.text("id"),
					ApiKey:                d.text("key"),
					Status:                Retiring,
					RetiringSince:         d.at("since"),
					OverlapEndsAt:         d.at("ends"),
					LastUsedAt:            maybe(d, "used", d.at),
					RequestsSinceRotation: rapid.Int64().Draw(rt, "n"),
				}
			}),
		}
		d.check(appendKeys(nil, k), KeysResponse{Data: k})
	})
}

func TestAppendLimits_MatchesEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn{rt}
		l := Limits{Availability: Availability(d.text("availability")), Entitlements: []Entitlement{}}
		for range rapid.IntRange(0, 3).Draw(rt, "entitlements") {
			l.Entitlements = append(l.Entitlements, Entitlement{
				Availability: Availability(d.text("availability")),
				Key:          EntitlementKey(d.text("key")),
				Scope:        EntitlementScope(d.text("scope")),
				Source:       d.text("source"),
				Unit:         EntitlementUnit(d.text("unit")),
				Value:        rapid.Int().Draw(rt, "value"),
			})
		}
		d.check(appendLimits(nil, l), LimitsResponse{Data: l})
	})
}

func TestAppendUsage_MatchesEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn{rt}
		u := Usage{
			AsOf:           d.at("as of"),
			BillingModel:   UsageBillingModel(d.text("model")),
			OrganizationId: d.text("organization"),
			PayAsYouGo: maybe(d, "pay as you go", func(string) PayAsYouGo {
				return PayAsYouGo{
					AmountDue:    maybe(d, "amount", d.text),
					Availability: Availability(d.text("availability")),
					Currency:     maybe(d, "currency", d.text),
					Unit:         maybe(d, "unit", func(name string) PayAsYouGoUnit { return PayAsYouGoUnit(d.text(name)) }),
					UnitPrice:    maybe(d, "price", d.text),
				}
			}),
			Plan: PlanUsage{
				Availability:     Availability(d.text("availability")),
				IncludedMinutes:  maybe(d, "included", d.figure),
				Name:             maybe(d, "name", d.text),
				RemainingMinutes: maybe(d, "remaining", d.figure),
				UsedMinutes:      maybe(d, "used", d.figure),
			},
			Test: maybe(d, "test", func(name string) bool { return rapid.Bool().Draw(rt, name) }),
			Totals: Totals{
				AudioParticipantMinutes:    d.minutes("audio"),
				ParticipantMinutes:         d.minutes("minutes"),
				PeakConcurrentParticipants: rapid.Int64().Draw(rt, "peak"),
				RoomsCreated:               rapid.Int64().Draw(rt, "rooms"),
				Sessions:                   rapid.Int64().Draw(rt, "sessions"),
				VideoParticipantMinutes:    d.minutes("video"),
			},
		}
		u.Period.Start, u.Period.End = d.at("start"), d.at("end")
		d.check(appendUsage(nil, u), UsageResponse{Data: u})
	})
}
