package store

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/requestlog"
)

// TestAppendCallJSON_MatchesTags checks that encoding/json reads what
// appendCallJSON writes.
func TestAppendCallJSON_MatchesTags(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return rapid.String().Draw(t, name) }
		want := requestlog.NumberedCall{N: rapid.Int64().Draw(t, "N"), Call: requestlog.Call{
			RequestID: text("RequestID"),
			ReceivedAt: time.Unix(rapid.Int64Range(0, 1<<37).Draw(t, "ReceivedAt"),
				rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds")).UTC(),
			Method:       text("Method"),
			Path:         text("Path"),
			Route:        text("Route"),
			Status:       rapid.Int().Draw(t, "Status"),
			Micros:       rapid.Int64().Draw(t, "Micros"),
			KeySlot:      text("KeySlot"),
			SignerSlot:   text("SignerSlot"),
			TokenID:      text("TokenID"),
			Cause:        text("Cause"),
			Hint:         text("Hint"),
			ClockSkew:    rapid.Int64().Draw(t, "ClockSkew"),
			HasTimestamp: rapid.Bool().Draw(t, "HasTimestamp"),
			Address:      text("Address"),
			UserAgent:    text("UserAgent"),
		}}
		var got requestlog.NumberedCall
		written := appendCallJSON(nil, want)
		if err := json.Unmarshal(written, &got); err != nil || got != want {
			t.Errorf("appendCallJSON: got %s, which encoding/json reads as %+v, %v, want %+v", written, got, err, want)
		}
	})
}
