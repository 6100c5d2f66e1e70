package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"parley/internal/audit"
	"parley/internal/fault"
)

// The limits of the width and the height of a logo, in pixels.
const (
	minLogoLength = 16
	maxLogoLength = 1024
)

// logoFormats are the formats of logos, as package image names them. SVG is not one
// of them, because it can contain scripts.
var logoFormats = []string{"png", "jpeg", "webp"}

// ErrLogoNotFound says that no project has a logo with a hash.
var ErrLogoNotFound = fault.New(fault.NotFound, "logo_not_found", "there is no such logo")

// Logo describes the logo of a project. The zero value means that there is none.
type Logo struct {
	Hash          string // SHA-256 of the image, in hex
	Format        string // png, jpeg or webp
	Width, Height int    // in pixels
}

// NewLogo returns the description of an image. It returns Invalid if the format,
// the width or the height is not allowed; an image that is not recognized has no
// format.
func NewLogo(format string, width, height int, image []byte) (Logo, error) {
	if !slices.Contains(logoFormats, format) {
		return Logo{}, fault.Invalidf("logo must be a PNG, JPEG or WebP image")
	}
	for _, length := range []int{width, height} {
		if length < minLogoLength || length > maxLogoLength {
			return Logo{}, fault.Invalidf("logo must be between %d and %d pixels wide and high, not %dx%d",
				minLogoLength, maxLogoLength, width, height)
		}
	}
	hash := sha256.Sum256(image)
	return Logo{Hash: hex.EncodeToString(hash[:]), Format: format, Width: width, Height: height}, nil
}

// Path returns the path of the image, which the join API serves. It changes with
// the image.
func (l Logo) Path() string { return "/api/join/logos/" + l.Hash }

// MediaType returns the type of the image, such as "image/png".
func (l Logo) MediaType() string { return "image/" + l.Format }

// LogoStore stores logos. Every method may run inside Write.
type LogoStore interface {
	// SaveLogo replaces the logo of a project, or adds it.
	SaveLogo(ctx context.Context, projectID string, l Logo, image []byte) error
	// DeleteLogo does nothing if the project has no logo.
	DeleteLogo(ctx context.Context, projectID string) error
	// Logo returns the zero Logo if the project has none.
	Logo(ctx context.Context, projectID string) (Logo, error)
	// LogoImage returns ErrLogoNotFound if no project has a logo with this hash.
	LogoImage(ctx context.Context, hash string) (Logo, []byte, error)
}

// SetLogo replaces the logo of a project, or adds it. l describes the image.
func (s *Service) SetLogo(ctx context.Context, projectID string, l Logo, image []byte) error {
	return s.changeLogo(ctx, projectID, l, func(ctx context.Context) error {
		return s.store.SaveLogo(ctx, projectID, l, image)
	})
}

// DeleteLogo removes the logo of a project, if it has one.
func (s *Service) DeleteLogo(ctx context.Context, projectID string) error {
	return s.changeLogo(ctx, projectID, Logo{}, func(ctx context.Context) error {
		return s.store.DeleteLogo(ctx, projectID)
	})
}

// changeLogo runs change, after which the project has the logo l.
func (s *Service) changeLogo(ctx context.Context, projectID string, l Logo,
	change func(ctx context.Context) error) error {
	return s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.LockProject(ctx, projectID); err != nil {
			return err
		}
		before, err := s.store.Logo(ctx, projectID)
		if err != nil {
			return err
		}
		if err := change(ctx); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, s.now(), audit.Change{
			Action:    audit.ProjectChanged,
			Subject:   projectID,
			ProjectID: projectID,
			Before:    audit.Fields{"logo": before.Hash},
			After:     audit.Fields{"logo": l.Hash},
		})
	})
}

// Logo returns the description of a project's logo, or the zero Logo if it has none.
func (s *Service) Logo(ctx context.Context, projectID string) (Logo, error) {
	return s.store.Logo(ctx, projectID)
}

// LogoImage returns the logo with a hash, of any project, or ErrLogoNotFound.
func (s *Service) LogoImage(ctx context.Context, hash string) (Logo, []byte, error) {
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != sha256.Size {
		return Logo{}, nil, ErrLogoNotFound
	}
	return s.store.LogoImage(ctx, hash)
}
