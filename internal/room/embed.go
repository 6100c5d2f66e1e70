package room

import (
	"context"
	"errors"
	"time"

	"parley/internal/fault"
)

// embedTimeout is how long a page waits to hear who may show it.
const embedTimeout = time.Second

// EmbedOrigins returns the origins whose pages may show a room in a frame, as
// its project has them now; none when there is no such room, or the database
// does not say.
func (s *Service) EmbedOrigins(ctx context.Context, roomID string) []string {
	ctx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	origins, err := s.embedOrigins(ctx, roomID)
	if err != nil && !fault.Is(err, fault.NotFound) && !errors.Is(err, context.Canceled) {
		s.log.Warn("nobody may show the room in a frame: its project could not be read", "error", err)
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
