package room

import (
	"context"
	"errors"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
)

// pageTimeout limits the query for what the HTML of a room page contains, because
// the page waits for it.
const pageTimeout = time.Second

// LinkPreview is what messengers show of a link to a room.
type LinkPreview struct {
	Title     string // empty unless every visitor with the address of the room may read it
	BrandName string // of the project; may be empty
	LogoURL   string // of the project's logo; empty if there is none
}

// RoomPage returns the preview of links to a room, and the origins whose pages may
// embed it in a frame, as set in its project. Without a public title the preview is
// empty. It returns nothing if the room does not exist or the query fails.
func (s *Joining) RoomPage(ctx context.Context, roomID string) (preview LinkPreview, embedOrigins []string) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	r, p, err := s.roomWithProject(ctx, roomID)
	if err != nil && !fault.Is(err, fault.NotFound) && !errors.Is(err, context.Canceled) {
		s.log.Warn("read room of page failed, embedding is refused", "room_id", roomID, "error", err)
	}
	if err != nil {
		return LinkPreview{}, nil
	}
	title := r.publicTitle(p)
	if title == "" {
		return LinkPreview{}, p.Settings.EmbedOrigins
	}
	preview = LinkPreview{Title: title, BrandName: p.Settings.BrandName}
	logo, err := s.store.Logo(ctx, p.ID)
	if err != nil {
		s.log.Warn("read logo for link preview failed", "room_id", roomID, "error", err)
	} else if logo.Hash != "" {
		preview.LogoURL = s.publicURL() + logo.Path()
	}
	return preview, p.Settings.EmbedOrigins
}

// PublicTitle returns the title of a room, and the empty string unless every
// visitor with the address of the room may read it.
func (s *Joining) PublicTitle(ctx context.Context, roomID string) (string, error) {
	r, p, err := s.roomWithProject(ctx, roomID)
	if err != nil {
		return "", err
	}
	return r.publicTitle(p), nil
}

func (r *Room) publicTitle(p project.Project) string {
	if p.AllowsJoins() != nil || checkInvitation(p, NoLink, false) != nil {
		return ""
	}
	return r.Title
}

func (s *Joining) roomWithProject(ctx context.Context, roomID string) (*Room, project.Project, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return nil, project.Project{}, err
	}
	p, err := s.store.Project(ctx, r.ProjectID)
	return r, p, err
}
