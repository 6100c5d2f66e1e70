package room_test

import (
	"context"
	"slices"
	"testing"

	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// A change of the embed origins applies to existing rooms.
func TestRoomPage_EmbedOrigins(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 2})
	is := func(what, id string, want ...string) {
		t.Helper()
		if _, got := f.RoomPage(ctx, id); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	allow := func(origins ...string) {
		t.Helper()
		p := f.project
		p.Settings = project.Settings{EmbedOrigins: origins}
		if err := f.db.Write(ctx, func(ctx context.Context) error { return f.db.UpdateProject(ctx, p) }); err != nil {
			t.Fatal(err)
		}
	}
	is("by default", id)
	allow("https://a.example", "https://b.example")
	is("allowed", id, "https://a.example", "https://b.example")
	is("an unknown room", storetest.NewID())
	is("no id", "\x00")
	allow()
	is("no more", id)
	allow("https://a.example")
	if err := f.db.Close(); err != nil {
		t.Fatal(err)
	}
	is("the database away", id)
}

// The title is public unless the project requires invitations or allows no joins.
func TestRoomPage_PublicTitle(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 2})
	assertTitle := func(id, want string) {
		t.Helper()
		preview, _ := f.RoomPage(ctx, id)
		if other, err := f.PublicTitle(ctx, id); preview.Title != want || err == nil && other != want {
			t.Errorf("got %q and %q, want %q", preview.Title, other, want)
		}
	}
	assertTitle(id, "Title")
	assertTitle(storetest.NewID(), "")
	f.configureProject(t, project.Settings{InvitationsRequired: true})
	assertTitle(id, "")
	f.configureProject(t, project.Settings{})
	assertTitle(id, "Title")
	if err := f.EndByAPI(ctx, f.project, id); err != nil {
		t.Fatal(err)
	}
	assertTitle(id, "Title")
	p := f.project
	p.Status = project.Inactive
	if err := f.db.Write(ctx, func(ctx context.Context) error { return f.db.UpdateProject(ctx, p) }); err != nil {
		t.Fatal(err)
	}
	assertTitle(id, "")
}

// The preview of a link has the brand of the project if the title is public.
func TestRoomPage_Brand(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 2})
	assertPreview := func(want room.LinkPreview) {
		t.Helper()
		if got, _ := f.RoomPage(ctx, id); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	assertPreview(room.LinkPreview{Title: "Title"})
	f.configureProject(t, project.Settings{BrandName: "Acme"})
	logo := project.Logo{Hash: "a1b2", Format: "png", Width: 64, Height: 32}
	if err := f.db.Write(ctx, func(ctx context.Context) error {
		return f.db.SaveLogo(ctx, f.project.ID, logo, []byte("image"))
	}); err != nil {
		t.Fatal(err)
	}
	assertPreview(room.LinkPreview{Title: "Title", BrandName: "Acme",
		LogoURL: "https://meet.example.org/api/join/logos/a1b2"})
	if p, err := f.Preview(ctx, id, guest(1)); err != nil || p.BrandLogo != logo {
		t.Errorf("preview of the room: got logo %+v, %v, want %+v", p.BrandLogo, err, logo)
	}
	f.configureProject(t, project.Settings{BrandName: "Acme", InvitationsRequired: true})
	assertPreview(room.LinkPreview{})
}
