package room

import (
	"context"
	"errors"
	"time"

	"parley/internal/fault"
)

// embedTimeout limits the query for the embed origins, because the room page waits
// for it.
const embedTimeout = time.Second

// EmbedOrigins returns the origins whose pages may embed a room in a frame, as set
// in its project. It returns none if the room does not exist or the query fails.
func (s *Service) EmbedOrigins(ctx context.Context, roomID string) []string {
	ctx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	origins, err := s.embedOrigins(ctx, roomID)
	if err != nil && !fault.Is(err, fault.NotFound) && !errors.Is(err, context.Canceled) {
		s.log.Warn("read embed origins failed, embedding is refused", "room_id", roomID, "error", err)
	}
	return origins
}

func (s *Service) embedOrigins(ctx context.Context, roomID string) ([]string, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return nil, err
	}
	p, err := s.store.Project(ctx, r.ProjectID)
	return p.Settings.EmbedOrigins, err
}
