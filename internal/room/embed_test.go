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
	h := newFixture(t)
	id, _ := h.create(t, room.Spec{MaxParticipants: 2})
	is := func(what, id string, want ...string) {
		t.Helper()
		if _, _, got := h.RoomPage(ctx, id); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	allow := func(origins ...string) {
		t.Helper()
		p := h.project
		p.Settings = project.Settings{EmbedOrigins: origins}
		if err := h.db.Write(ctx, func(ctx context.Context) error { return h.db.UpdateProject(ctx, p) }); err != nil {
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
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	is("the database away", id)
}

// The title is public unless the project requires invitations or allows no joins.
func TestRoomPage_PublicTitle(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newFixture(t)
	id, _ := h.create(t, room.Spec{MaxParticipants: 2})
	assertTitle := func(id, want string) {
		t.Helper()
		title, _, _ := h.RoomPage(ctx, id)
		if other, err := h.PublicTitle(ctx, id); title != want || err == nil && other != want {
			t.Errorf("got %q and %q, want %q", title, other, want)
		}
	}
	assertTitle(id, "Title")
	assertTitle(storetest.NewID(), "")
	h.configureProject(t, project.Settings{InvitationsRequired: true})
	assertTitle(id, "")
	h.configureProject(t, project.Settings{})
	assertTitle(id, "Title")
	if err := h.EndByAPI(ctx, h.project, id); err != nil {
		t.Fatal(err)
	}
	assertTitle(id, "Title")
	p := h.project
	p.Status = project.Inactive
	if err := h.db.Write(ctx, func(ctx context.Context) error { return h.db.UpdateProject(ctx, p) }); err != nil {
		t.Fatal(err)
	}
	assertTitle(id, "")
}

// The brand name is as public as the title.
func TestRoomPage_BrandName(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id, _ := h.create(t, room.Spec{MaxParticipants: 2})
	for _, c := range []struct {
		settings project.Settings
		want     string
	}{
		{project.Settings{}, ""},
		{project.Settings{BrandName: "Acme"}, "Acme"},
		{project.Settings{BrandName: "Acme", InvitationsRequired: true}, ""},
	} {
		h.configureProject(t, c.settings)
		if _, got, _ := h.RoomPage(t.Context(), id); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.settings, got, c.want)
		}
	}
}
