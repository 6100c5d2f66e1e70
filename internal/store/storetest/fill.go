package storetest

import (
	"testing"
	"time"

	"parley/internal/store"
	"parley/internal/store/filltest"
)

// Fill is filltest.Meetings for tests.
func Fill(t testing.TB, s *store.DB, projectID string, meetings int, start, end time.Time, seed uint64) {
	t.Helper()
	past := filltest.Past{
		ProjectID: projectID,
		Meetings:  meetings,
		Start:     start,
		End:       end,
		Seed:      seed,
	}
	if err := filltest.Meetings(t.Context(), s, past); err != nil {
		t.Fatal(err)
	}
}
