package join

import (
	"context"
	"net/http"
	"strconv"

	"parley/internal/fault"
	"parley/internal/project"
)

// Logos is the part of the project service that this API calls.
type Logos interface {
	LogoImage(ctx context.Context, hash string) (project.Logo, []byte, error)
}

// GetLogo responds with the image of a project's logo.
func (s *Server) GetLogo(w http.ResponseWriter, r *http.Request, hash string) {
	logo, image, err := s.logos.LogoImage(r.Context(), hash)
	switch {
	case fault.Is(err, fault.NotFound):
		notFound(w, r)
	case err != nil:
		s.writeError(w, r, err)
	default:
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // the path contains the hash
		w.Header().Set("Content-Type", logo.MediaType())
		w.Header().Set("Content-Length", strconv.Itoa(len(image)))
		_, _ = w.Write(image)
	}
}

// brandLogo returns nil for the zero Logo.
func brandLogo(l project.Logo) *BrandLogo {
	if l == (project.Logo{}) {
		return nil
	}
	return &BrandLogo{Path: l.Path(), Width: l.Width, Height: l.Height}
}
