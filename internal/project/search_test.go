package project

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// A search reads a bounded number of names for each page and says where it goes on. The names are
// those of 25,000 projects, of which every 10,000th is called Match.
func TestSearch_ReadsABoundedNumber(t *testing.T) {
	t.Parallel()
	const all = 25_000
	read := 0
	names := func(_ context.Context, after string, limit int) (batch []Name, err error) {
		first := 0
		if after != "" {
			if _, err := fmt.Sscanf(after, "%d", &first); err != nil {
				return nil, err
			}
			first++
		}
		for n := first; n < min(all, first+limit); n++ {
			name := "Other"
			if n%10_000 == 9_999 {
				name = "Match"
			}
			batch = append(batch, Name{ID: fmt.Sprintf("%05d", n), Name: name})
		}
		read += len(batch)
		return batch, nil
	}
	for _, c := range []struct {
		text, after string
		limit       int
		ids         []string
		next        string
		read        int
	}{
		{"match", "", 0, []string{"09999", "19999"}, "", all},
		{"match", "", 5, []string{"09999", "19999"}, "19999", maxScannedNames},
		{"match", "19999", 5, nil, "", all - 20_000},
		{"MATCH", "", 1, []string{"09999"}, "", 10_000},
		{"nobody", "", 5, nil, "19999", maxScannedNames},
		{"nobody", "24999", 5, nil, "", 0},
	} {
		read = 0
		ids, next, err := search(t.Context(), c.text, c.after, c.limit, names)
		if err != nil || !slices.Equal(ids, c.ids) || next != c.next || read != c.read {
			t.Errorf("search(%q, after %q, limit %d): got %v, next %q, %d names read, %v, want %v, %q, %d", c.text, c.after,
				c.limit, ids, next, read, err, c.ids, c.next, c.read)
		}
	}
}
