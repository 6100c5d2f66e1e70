package v3

import (
	"testing"

	. "parley/internal/api/roomapi/roomstest"
)

// FuzzCreations sends rightly signed bodies of any content to each route: none
// may be a 500, and each refusal must say something.
func FuzzCreations(f *testing.F) {
	b, handler := setup(f, Options{})
	for i, route := range creationRoutes {
		f.Add(byte(i), EncodeJSON(f, validFields(b, route)))
		for _, tc := range errorCases(route) {
			f.Add(byte(i), tc.BuildBody(f, b, validFields(b, route)))
		}
	}
	f.Fuzz(func(t *testing.T, route byte, body []byte) {
		CheckFuzzedBody(t, handler, b, "POST", creationRoutes[int(route)%len(creationRoutes)], b.Issued.APIKey, body)
	})
}
