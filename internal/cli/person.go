package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"parley/internal/api/manage"
	"parley/internal/plural"
)

type personCommands struct {
	Export personExport `cmd:"" help:"Print everything that is stored about a person, as JSON."`
	Erase  personErase  `cmd:"" help:"Erase the name and the ID of a person."`
}

// personFlags choose a person of a project.
type personFlags struct {
	manager
	Project string `arg:"" name:"project-id" refers:"project" help:"ID or unique name of the project."`
	UserID  string `name:"user-id" xor:"person" required:"" placeholder:"ID" help:"ID of the person in the integrator's system."`
	SeatID  string `name:"seat" xor:"person" required:"" placeholder:"ID" help:"Seat of a person without such an ID: the identity that events show."`
}

// query returns the person as a query for the page that a cursor names.
func (f personFlags) query(cursor *string) manage.PersonQuery {
	return manage.PersonQuery{UserId: optionalString(f.UserID), SeatId: optionalString(f.SeatID), Cursor: cursor}
}

type personExport struct{ personFlags }

// Run prints an array of rooms with what each contains about the person.
func (c personExport) Run(ctx context.Context, s *streams) error {
	rooms, err := c.rooms(ctx)
	return s.printResult(rooms, err)
}

// rooms returns all rooms with what each contains about the person.
func (f personFlags) rooms(ctx context.Context) ([]manage.PersonRoom, error) {
	rooms := []manage.PersonRoom{}
	for cursor, more := (*string)(nil), true; more; more = cursor != nil {
		page, err := callManagement[manage.PersonExport](ctx, f.manager, "POST",
			apiPath("/projects/%s/person-export", f.Project), f.query(cursor))
		if err != nil {
			return nil, err
		}
		rooms, cursor = append(rooms, page.Rooms...), page.NextCursor
	}
	return rooms, nil
}

type personErase struct {
	personFlags
	irreversible
}

// Run erases the person and prints how much was changed.
func (c personErase) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		rooms, err := c.rooms(ctx)
		effect := fmt.Sprintf("erase the person from %s of project %s", plural.Count(len(rooms), "room", "rooms"), c.Project)
		if len(rooms) == 0 {
			effect += " (check the ID, because nothing is stored about this person)"
		}
		return effect, err
	}); !ok {
		return err
	}
	q := c.query(nil)
	done, err := callWithTimeout[manage.PersonErased](ctx, c.manager, "POST",
		apiPath("/projects/%s/person-erase", c.Project), manage.Person{UserId: q.UserId, SeatId: q.SeatId}, 0)
	if err != nil {
		return err
	}
	nothing := done.Erased == manage.PersonErasedCounts{}
	effect := "the person is erased"
	if nothing {
		effect = "nothing was left to erase"
	}
	failed := compactionError(effect, done.Compaction)
	if c.JSON {
		return errors.Join(s.printResult(done, nil), failed)
	}
	if nothing {
		fmt.Fprintf(s.out, "Nothing is stored about this person in project %s, so nothing was erased. "+
			"Check the ID, unless an earlier command has erased the person.\n", c.Project)
		if done.Compaction != "later" { // nothing was deleted that the database must overwrite
			printCompaction(s.out, done.Compaction)
		}
		return failed
	}
	fmt.Fprint(s.out, "Erased the person. Changed:\n")
	if err := printFields(s.out, "  rooms", strconv.Itoa(done.Erased.Rooms), "  seats", strconv.Itoa(done.Erased.Seats),
		"  links", strconv.Itoa(done.Erased.Links), "  events", strconv.Itoa(done.Erased.Events),
		"  deliveries", strconv.Itoa(done.Erased.Deliveries), "  host actions", strconv.Itoa(done.Erased.HostActions),
		"  knocks", strconv.Itoa(done.Erased.Knocks)); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "Backups made before %s still contain the person.\n", formatTime(&done.ErasedAt))
	printCompaction(s.out, done.Compaction)
	return failed
}

// printCompaction prints what the operator must know about the compaction after a deletion, unless compactionError
// does.
func printCompaction(out io.Writer, compaction manage.Compaction) {
	switch compaction {
	case "running":
		fmt.Fprint(out, "The files of the database are still being rewritten; the log of the server says when that ends. "+
			"If the server stops first, it rewrites them after its next start.\n")
	case "later":
		fmt.Fprint(out, "The database overwrites the deleted text later; see the guide for operators.\n")
	}
}

// compactionError returns the error of a deletion whose compaction has failed, or nil. done says what was deleted.
func compactionError(done string, compaction manage.Compaction) error {
	if compaction != "failed" {
		return nil
	}
	return fmt.Errorf("%s, but the compaction of the database failed, so that its files still contain the deleted data: "+
		"find the cause in the log of the server and remove it; the server tries again by itself, at least once a day and "+
		"after each start", done)
}
