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

// RoomPage returns the title of a room and the brand name of its project for link
// previews, and the origins whose pages may embed the room in a frame, as set in its
// project. Title and brand name are empty unless every visitor with the address of
// the room may read the title. It returns nothing if the room does not exist or the
// query fails.
func (s *Service) RoomPage(ctx context.Context, roomID string) (title, brandName string, embedOrigins []string) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	r, p, err := s.roomWithProject(ctx, roomID)
	if err != nil && !fault.Is(err, fault.NotFound) && !errors.Is(err, context.Canceled) {
		s.log.Warn("read room of page failed, embedding is refused", "room_id", roomID, "error", err)
	}
	if err != nil {
		return "", "", nil
	}
	if title = r.publicTitle(p); title != "" {
		brandName = p.Settings.BrandName
	}
	return title, brandName, p.Settings.EmbedOrigins
}

// PublicTitle returns the title of a room, and the empty string unless every
// visitor with the address of the room may read it.
func (s *Service) PublicTitle(ctx context.Context, roomID string) (string, error) {
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

func (s *Service) roomWithProject(ctx context.Context, roomID string) (*Room, project.Project, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return nil, project.Project{}, err
	}
	p, err := s.store.Project(ctx, r.ProjectID)
	return r, p, err
}
