package join_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/google/go-cmp/cmp"

	"parley/internal/project"
)

func (p *fixture) getLogo(method, hash string) *http.Response {
	p.t.Helper()
	return p.checker.Do(p.t, method, "/api/join/logos/"+hash, http.Header{}, nil)
}

// testLogo checks that a preview names the logo of the project, and that the image
// can be read without credentials and be cached.
func (p *fixture) testLogo(id string) {
	p.t.Helper()
	if _, a := p.send(id, "/preview", m{}); a.BrandLogo != nil {
		p.t.Errorf("preview without a logo: got %v, want none", a.BrandLogo)
	}
	image := []byte("\x89PNG of the test")
	logo, err := project.NewLogo("png", 320, 80, image)
	if err == nil {
		err = p.db.Write(p.t.Context(), func(ctx context.Context) error {
			return p.db.SaveLogo(ctx, p.project.ID, logo, image)
		})
	}
	if err != nil {
		p.t.Fatal(err)
	}
	_, a := p.send(id, "/preview", m{})
	want := m{"path": "/api/join/logos/" + logo.Hash, "width": 320., "height": 80.}
	if diff := cmp.Diff(want, a.BrandLogo); diff != "" {
		p.t.Errorf("logo in the preview (-want +got):\n%s", diff)
	}
	res := p.getLogo("GET", logo.Hash)
	got, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 || !bytes.Equal(got, image) ||
		res.Header.Get("Content-Type") != "image/png" ||
		res.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || res.Header.Get("Set-Cookie") != "" {
		p.t.Errorf("logo: got %d %q %v, %v, want the image, to be cached", res.StatusCode, got, res.Header, err)
	}
	for _, hash := range []string{strings.Repeat("0", 64), "0", "%00", logo.Hash[:63] + "%00"} {
		if res := p.getLogo("GET", hash); res.StatusCode != 404 || res.Header.Get("Cache-Control") != "no-store" {
			p.t.Errorf("logo %q: got %d %v, want 404 that is not cached", hash, res.StatusCode, res.Header)
		}
	}
	if res := p.getLogo("POST", logo.Hash); res.StatusCode != 405 {
		p.t.Errorf("POST of a logo: got %d, want 405", res.StatusCode)
	}
}
