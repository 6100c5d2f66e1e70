package v3

import (
	"net/http"
	"testing"
	"time"

	"parley/internal/api/companion"
	"parley/internal/api/companion/companiontest"
	"parley/internal/api/legacy"
	. "parley/internal/api/legacy/legacytest"
)

func house(t testing.TB, b *Bundle) *companiontest.House {
	ended := Options{Retirement: Retirement{Sunset: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}}
	return companiontest.NewHouse(t, b, companiontest.Version{
		Prefix: "/api/v3",
		Serve: func(rooms companiontest.Rooms, limits legacy.Limits, options companion.Options) http.Handler {
			return NewHandler(rooms, b.Keys, time.Now, Options{Limits: limits, Companion: options})
		},
		StartAt:    func(at time.Time) string { return at.Format(time.RFC3339) },
		WrongStart: "start_at must be an ISO 8601 date and time such as 2027-01-31T09:30:00Z, not ",
		Ended:      NewHandler(b.Rooms, b.Keys, time.Now, ended),
	}, Description(t))
}

func TestCompanions(t *testing.T) {
	t.Parallel()
	t.Run("meeting", func(t *testing.T) { t.Parallel(); house(t, New(t)).Run(t) })
	t.Run("reschedule", func(t *testing.T) { t.Parallel(); house(t, New(t)).Reschedule(t) })
	t.Run("order of checks", func(t *testing.T) { t.Parallel(); house(t, New(t)).Order(t) })
	t.Run("replays", func(t *testing.T) { t.Parallel(); house(t, New(t)).Replays(t) })
	t.Run("body signatures", func(t *testing.T) { t.Parallel(); house(t, New(t)).BodySignatures(t) })
}
