package manage

import (
	"bytes"
	"image"
	_ "image/jpeg" // decodes logos
	_ "image/png"  // decodes logos
	"net/http"

	_ "golang.org/x/image/webp" // because the standard library does not decode WebP

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/project"
)

// SetProjectLogo replaces the logo of a project with the body.
func (s *server) SetProjectLogo(w http.ResponseWriter, r *http.Request, id string) {
	logo, body, err := readLogo(w, r)
	if err == nil {
		err = s.Projects.SetLogo(r.Context(), id, logo, body)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

// DeleteProjectLogo removes the logo of a project.
func (s *server) DeleteProjectLogo(w http.ResponseWriter, r *http.Request, id string) {
	if err := s.Projects.DeleteLogo(r.Context(), id); err != nil {
		writeError(w, r, err)
		return
	}
	s.GetProject(w, r, id)
}

// errLogoTooLarge is the error for an image that is larger than a body may be.
var errLogoTooLarge = fault.New(fault.Invalid, httpx.CodeBodyTooLarge, "logo must have at most %d bytes",
	httpx.MaxBodySize)

// readLogo reads an image from the body.
func readLogo(w http.ResponseWriter, r *http.Request) (project.Logo, []byte, error) {
	body, err := httpx.ReadOptionalBody(w, r)
	if fault.From(err).Code == httpx.CodeBodyTooLarge {
		err = errLogoTooLarge
	}
	if err != nil {
		return project.Logo{}, nil, err
	}
	logo, err := decodeLogo(body)
	return logo, body, err
}

// CheckLogo returns the error with which a server of this version refuses an image as a logo. Errors: Invalid.
func CheckLogo(body []byte) error {
	if len(body) > httpx.MaxBodySize {
		return errLogoTooLarge
	}
	_, err := decodeLogo(body)
	return err
}

// decodeLogo returns the logo with an image. The format is that of the bytes. The limits
// are checked before the pixels are decoded, so that a small file cannot take much
// memory. The pixels are decoded because a browser could not show a damaged image.
func decodeLogo(body []byte) (project.Logo, error) {
	config, format, _ := image.DecodeConfig(bytes.NewReader(body))
	logo, err := project.NewLogo(format, config.Width, config.Height, body)
	if err != nil {
		return project.Logo{}, err
	}
	if _, _, err := image.Decode(bytes.NewReader(body)); err != nil {
		return project.Logo{}, fault.Invalidf("logo must be a complete image, but decoding it failed: %v", err)
	}
	return logo, nil
}

// newProjectLogo returns nil for the zero Logo.
func newProjectLogo(l project.Logo) *ProjectLogo {
	if l == (project.Logo{}) {
		return nil
	}
	return &ProjectLogo{Path: l.Path(), Width: l.Width, Height: l.Height}
}
