package v3

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "parley/internal/api/roomapi/roomstest"
	"parley/internal/project"
	"parley/internal/room"
)

// fakeRooms is rooms that cost nothing: what is left is the transport's share.
type fakeRooms struct{ FailingService }

func (fakeRooms) CreateQuick(context.Context, project.Project, room.Spec, *room.IdempotencyKey) (room.Created, error) {
	return room.Created{ID: "0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10",
		FinalLink: "https://meet.example.org/r/0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10#t=token"}, nil
}

func (fakeRooms) BeginIdempotent(context.Context, *room.IdempotencyKey) (func(), error) {
	return func() {}, nil
}

// BenchmarkCreateQuickAudioRoom is the way of one call, with and without the
// room itself. The project secret signs, as most clients do.
func BenchmarkCreateQuickAudioRoom(b *testing.B) {
	bundle, whole := setup(b, Options{})
	transport := WithMiddleware(NewHandler(fakeRooms{}, bundle.Keys, time.Now, Options{}))
	body := EncodeJSON(b, validFields(bundle, quickAudio))
	header := SignedHeaders(bundle.Issued.ProjectSecret, body)
	for name, handler := range map[string]http.Handler{"whole": whole, "transport": transport} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, quickAudio, strings.NewReader(string(body)))
				r.Header = header
				w := httptest.NewRecorder()
				if handler.ServeHTTP(w, r); w.Code != 200 {
					b.Fatalf("POST %s: got status %d, body %s, want 200", quickAudio, w.Code, w.Body)
				}
			}
		})
	}
}
