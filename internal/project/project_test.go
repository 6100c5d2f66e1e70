package project_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// fixture is the service on a real database. It records the projects that the
// service invalidates.
type fixture struct {
	*project.Service
	now time.Time

	mu      sync.Mutex
	changed []string
}

func newFixture(db *store.DB, options ...project.Option) *fixture {
	d := &fixture{now: time.UnixMilli(1_780_000_000_000).UTC()}
	d.Service = project.NewService(db, func() time.Time { return d.now }, storetest.NewID, func(id string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.changed = append(d.changed, id)
	}, options...)
	return d
}

func (d *fixture) createProject(t testing.TB) project.Project {
	t.Helper()
	o, err := d.CreateOrganization(context.Background(), "Org", project.Plan)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Create(context.Background(), project.Draft{OrganizationID: o.ID, Name: "Project"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drainChanged returns the projects that were invalidated since the last call.
func (d *fixture) drainChanged() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() { d.changed = nil }()
	return d.changed
}

// TestProject_StatusAndSuspension checks that a suspension refuses changes of
// the client's status, and that this status applies again when it ends.
func TestProject_StatusAndSuspension(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newFixture(storetest.SQLite(t))
	p := d.createProject(t)
	is := func(status project.Status, suspended time.Time, admits string) {
		t.Helper()
		got, err := d.Get(ctx, p.ID)
		if err != nil || got.Status != status || got.SuspendedAt != suspended {
			t.Errorf("got %+v, %v, want status %s, suspended at %s", got, err, status, suspended)
		}
		if err := got.AllowsJoins(); (admits == "") != (err == nil) || err != nil && fault.From(err).Code != admits {
			t.Errorf("admits: got error %v, want the code %q", err, admits)
		}
	}
	do := func(err error) {
		t.Helper()
		if published := d.drainChanged(); err != nil || !slices.Equal(published, []string{p.ID}) {
			t.Errorf("got error %v, published %v, want no error, published %s", err, published, p.ID)
		}
	}
	is(project.Active, time.Time{}, "")
	do(d.SetStatus(ctx, p.ID, project.Inactive))
	is(project.Inactive, time.Time{}, "project_inactive")
	suspended := d.now
	do(d.Suspend(ctx, p.ID))
	is(project.Inactive, suspended, "project_suspended")
	d.now = d.now.Add(time.Hour)
	do(d.Suspend(ctx, p.ID))
	is(project.Inactive, suspended, "project_suspended") // since the first time
	if err := d.SetStatus(ctx, p.ID, project.Active); !fault.Is(err, fault.Forbidden) ||
		err.Error() != "the project is suspended" {
		t.Errorf("a change while suspended: got %v, want Forbidden: the project is suspended", err)
	}
	do(d.Resume(ctx, p.ID))
	is(project.Inactive, time.Time{}, "project_inactive")
	do(d.SetStatus(ctx, p.ID, project.Active))
	is(project.Active, time.Time{}, "")

	for i, refused := range []struct {
		err  error
		kind fault.Kind
	}{
		{d.SetStatus(ctx, p.ID, "suspended"), fault.Invalid},
		{d.SetStatus(ctx, storetest.NewID(), project.Active), fault.NotFound},
		{d.Suspend(ctx, storetest.NewID()), fault.NotFound},
		{d.Configure(ctx, p.ID, project.Settings{DefaultEmptyTimeout: 86401}), fault.Invalid},
		{d.Configure(ctx, p.ID, project.Settings{DefaultEmptyTimeout: -1}), fault.Invalid},
	} {
		if !fault.Is(refused.err, refused.kind) {
			t.Errorf("refused call %d: got %v, want the kind %v", i, refused.err, refused.kind)
		}
	}
	if published := d.drainChanged(); published != nil {
		t.Errorf("after refused calls: got published %v, want none", published)
	}
}

// TestService_ConcurrentChanges checks that concurrent changes by operators and
// clients do not overwrite each other; above all, that no call of a client lifts
// a suspension.
func TestService_ConcurrentChanges(t *testing.T) {
	t.Parallel()
	for name, open := range storetest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			d := newFixture(open(t))
			text := func(s string) *string { return &s }
			for range 30 {
				p := d.createProject(t)
				var wg sync.WaitGroup
				for _, change := range []func() error{
					func() error { return d.Suspend(ctx, p.ID) },
					func() error {
						if err := d.SetStatus(ctx, p.ID, project.Inactive); !fault.Is(err, fault.Forbidden) {
							return err
						}
						return nil
					},
					func() error {
						_, err := d.Edit(ctx, p.ID, project.Edit{Name: text("New")})
						return err
					},
					func() error {
						_, err := d.Edit(ctx, p.ID, project.Edit{
							Settings: func(s *project.Settings) error { s.DefaultEmptyTimeout = 20; return nil }})
						return err
					},
					func() error {
						_, err := d.Edit(ctx, p.ID, project.Edit{
							Settings: func(s *project.Settings) error { s.RequireSecretSignatures = true; return nil }})
						return err
					},
					func() error {
						_, err := d.SetOrganization(ctx, p.OrganizationID,
							project.OrganizationChanges{Name: text("New")})
						return err
					},
					func() error {
						_, err := d.SetOrganization(ctx, p.OrganizationID,
							project.OrganizationChanges{Plan: text("gold")})
						return err
					},
				} {
					wg.Go(func() {
						if err := change(); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				got, err := d.Get(ctx, p.ID)
				want := project.Settings{RequireSecretSignatures: true, DefaultEmptyTimeout: 20}
				if err != nil || !got.Suspended() || got.Name != "New" {
					t.Fatalf("got %+v, %v, want New, suspended", got, err)
				}
				if diff := cmp.Diff(want, got.Settings); diff != "" {
					t.Fatalf("settings (-want +got):\n%s", diff)
				}
				o, err := d.Organization(ctx, p.OrganizationID)
				if err != nil || o.Name != "New" || o.Plan != "gold" {
					t.Fatalf("organization: got %+v, %v, want New with the plan gold", o, err)
				}
			}
		})
	}
}

func TestNames_Validation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newFixture(storetest.SQLite(t))
	o, err := d.CreateOrganization(ctx, "Org", project.Payg)
	if err != nil {
		t.Fatal(err)
	}
	const blank = "name must have 1 to 255 characters and not be blank"
	for name, want := range map[string]string{
		"x":                      "",
		strings.Repeat("𝄞", 255): "",
		"":                       blank,
		" \u00a0":                blank,
		strings.Repeat("é", 256): "name must have at most 255 characters, not 256",
		"a\x00":                  "name must not contain control characters such as U+0000",
		"a\nb":                   "name must not contain control characters such as U+000A",
		"a\xff":                  "name must be UTF-8",
	} {
		_, errO := d.CreateOrganization(ctx, name, project.Plan)
		_, errP := d.Create(ctx, project.Draft{OrganizationID: o.ID, Name: name})
		_, errE := d.Edit(ctx, d.createProject(t).ID, project.Edit{Name: &name})
		for _, err := range []error{errO, errP, errE} {
			if want == "" && err != nil || want != "" && (!fault.Is(err, fault.Invalid) || err.Error() != want) {
				t.Errorf("name %q: got error %v, want %q", name, err, want)
			}
		}
	}
	if _, err := d.CreateOrganization(ctx, "Org", "barter"); !fault.Is(err, fault.Invalid) ||
		err.Error() != `billing must be "plan" or "payg"` {
		t.Errorf("billing barter: got %v, want Invalid: billing must be \"plan\" or \"payg\"", err)
	}
	nowhere := project.Draft{OrganizationID: storetest.NewID(), Name: "Project"}
	if _, err := d.Create(ctx, nowhere); !fault.Is(err, fault.NotFound) {
		t.Errorf("create a project in an unknown organization: got error %v, want NotFound", err)
	}
}

func TestService_Lists(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newFixture(storetest.SQLite(t))
	if empty, err := d.NoOrganizations(ctx); err != nil || !empty {
		t.Errorf("no organizations: got %t, %v, want true", empty, err)
	}
	first, second := d.createProject(t), d.createProject(t)
	third, err := d.Create(ctx, project.Draft{OrganizationID: first.OrganizationID, Name: "Third"})
	if err != nil {
		t.Fatal(err)
	}
	for organization, want := range map[string][]project.Project{
		"":                    {first, second, third},
		first.OrganizationID:  {first, third},
		second.OrganizationID: {second},
	} {
		got, err := d.Projects(ctx, project.ListQuery{OrganizationID: organization})
		if diff := cmp.Diff(want, got, storetest.Exact); err != nil || diff != "" {
			t.Errorf("projects of %q: error %v (-want +got):\n%s", organization, err, diff)
		}
	}
	if _, err := d.Projects(ctx, project.ListQuery{OrganizationID: storetest.NewID()}); !fault.Is(err, fault.NotFound) {
		t.Errorf("projects of an unknown organization: got error %v, want NotFound", err)
	}
	if all, err := d.Organizations(ctx, "", 0); err != nil || len(all) != 2 || all[0].ID != first.OrganizationID {
		t.Errorf("organizations: got %+v, %v, want two, first %s", all, err, first.OrganizationID)
	}
	if empty, err := d.NoOrganizations(ctx); err != nil || empty {
		t.Errorf("no organizations: got %t, %v, want false", empty, err)
	}
}

// TestService_RecordsStatusEvents checks that each change of status is recorded
// as an event and nothing else is, and that a change fails if its event cannot
// be recorded.
func TestService_RecordsStatusEvents(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var got []string
	var fails error
	record := func(_ context.Context, _ project.Project, kind event.Type, data event.ProjectData) error {
		got = append(got, fmt.Sprint(kind, " ", data.Status, " ", *data.Suspended))
		return fails
	}
	d := newFixture(storetest.SQLite(t), project.WithEventRecorder(record))
	p := d.createProject(t)
	for _, move := range []func() error{
		func() error { return d.SetStatus(ctx, p.ID, project.Active) },
		func() error { return d.SetStatus(ctx, p.ID, project.Inactive) },
		func() error { return d.Configure(ctx, p.ID, project.Settings{DefaultEmptyTimeout: 7}) },
		func() error { return d.Suspend(ctx, p.ID) },
		func() error { return d.Suspend(ctx, p.ID) },
		func() error { return d.Resume(ctx, p.ID) },
	} {
		if err := move(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"project.status_changed inactive false", "project.status_changed inactive true",
		"project.status_changed inactive false"}
	if !slices.Equal(got, want) {
		t.Errorf("events: got %q, want %q", got, want)
	}
	fails = errors.New("no")
	if err := d.SetStatus(ctx, p.ID, project.Active); err != fails {
		t.Errorf("change the status while its event cannot be stored: got error %v, want %v", err, fails)
	}
	if now, err := d.Get(ctx, p.ID); err != nil || now.Status != project.Inactive {
		t.Errorf("got %+v, %v, want an inactive project", now, err)
	}
}
