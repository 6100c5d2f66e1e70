package manage

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pngImage returns a PNG image as text, for a body that is sent unchanged.
func pngImage(width, height int) string {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		panic(err)
	}
	return out.String()
}

// A WebP image of 16x16 pixels, because the standard library writes none.
const webpImage = "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoQABAAAUAmJaQAA3AA/vz0AAA="

func testLogo(t *testing.T, b *fixture) {
	b.t = t
	path := "/projects/" + b.createProject()["project_id"].(string)
	var jpegImage bytes.Buffer
	must(t, jpeg.Encode(&jpegImage, image.NewGray(image.Rect(0, 0, 1024, 16)), nil))
	webp, err := base64.StdEncoding.DecodeString(webpImage)
	must(t, err)
	first := pngImage(320, 80)
	paths := map[any]bool{}
	for _, tc := range []struct {
		name, body    string
		width, height float64
	}{
		{"PNG", first, 320, 80},
		{"JPEG", jpegImage.String(), 1024, 16},
		{"WebP", string(webp), 16, 16},
		{"largest", pngImage(1024, 1024), 1024, 1024},
	} {
		set := b.mustPut(path+"/logo", tc.body)["logo"].(m)
		if set["width"] != tc.width || set["height"] != tc.height {
			t.Errorf("%s: got %v, want %vx%v", tc.name, set, tc.width, tc.height)
		}
		if diff := cmp.Diff(set, b.mustCall("GET", path, nil)["logo"]); diff != "" {
			t.Errorf("%s: logo of the project (-want +got):\n%s", tc.name, diff)
		}
		paths[set["path"]] = true
	}
	if len(paths) != 4 {
		t.Errorf("got the paths %v, want one for each image", paths)
	}

	// Refusals change nothing.
	before := b.mustPut(path+"/logo", first)["logo"]
	const formats = "logo must be a PNG, JPEG or WebP image"
	for _, tc := range []struct {
		name, body    string
		status        int
		code, message string
	}{
		{"nothing", "", 400, "invalid_request", formats},
		{"SVG", `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"/>`, 400, "invalid_request", formats},
		{"GIF", "GIF89a\x40\x00\x40\x00\x00\x00\x00;", 400, "invalid_request", formats},
		{"too narrow", pngImage(15, 64), 400, "invalid_request",
			"logo must be between 16 and 1024 pixels wide and high, not 15x64"},
		{"too high", pngImage(64, 1025), 400, "invalid_request",
			"logo must be between 16 and 1024 pixels wide and high, not 64x1025"},
		{"incomplete", first[:len(first)-20], 400, "invalid_request",
			"logo must be a complete image, but decoding it failed: png: invalid format: unexpected EOF"},
		{"too large", first + strings.Repeat("\x00", 64<<10), 413, "body_too_large",
			"logo must have at most 65536 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b.t = t
			b.assertError("PUT", path+"/logo", tc.body, tc.status, tc.code, tc.message)
		})
	}
	b.t = t
	if diff := cmp.Diff(before, b.mustCall("GET", path, nil)["logo"]); diff != "" {
		t.Errorf("logo after refusals (-want +got):\n%s", diff)
	}
	for range 2 {
		if got := b.mustCall("DELETE", path+"/logo", nil)["logo"]; got != nil {
			t.Errorf("after the deletion: got %v, want none", got)
		}
	}
}
