// Command fill adds meetings of the past to a data directory with SQLite whose server is not
// running. The browser tests of the console use it to show that they pass over much data.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"parley/internal/store"
	"parley/internal/store/filltest"
	"parley/internal/usage"
)

func main() {
	dataDir := flag.String("data-dir", "", "data directory of an installation with SQLite")
	projectID := flag.String("project", "", "ID of the project of the meetings")
	meetings := flag.Int("meetings", 100_000, "number of meetings")
	days := flag.Int("days", 300, "length of the period before yesterday over which the meetings are spread")
	flag.Parse()
	if err := fill(context.Background(), *dataDir, *projectID, *meetings, *days); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func fill(ctx context.Context, dataDir, projectID string, meetings, days int) error {
	s, err := store.Open(ctx, "", dataDir)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	// The hours of the past are rolled up already, without these meetings. Each meeting would report that it is late.
	err = s.Write(ctx, func(ctx context.Context) error { return s.Exec(ctx, `DELETE FROM usage_progress`) })
	if err != nil {
		return err
	}
	end := time.Now().AddDate(0, 0, -1)
	err = filltest.Meetings(ctx, s, filltest.Past{
		ProjectID: projectID,
		Meetings:  meetings,
		Start:     end.AddDate(0, 0, -days),
		End:       end,
		Seed:      1,
	})
	if err != nil {
		return err
	}
	return usage.NewService(s, usage.NoProvider{}, time.Now).RollUp(ctx)
}
