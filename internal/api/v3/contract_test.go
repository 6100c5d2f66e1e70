package v3

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/client/sign"
	"parley/internal/api/contract"
	"parley/internal/api/web"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
)

const quickAudio = "/api/v3/rooms/create_quick_audio_room"

// bundle is version 3 on a real database.
type bundle struct {
	db       *store.DB
	projects *project.Service
	rooms    *room.Service
	project  project.Project
	issued   key.Issued
	handler  http.Handler
	rings    Rings
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func setup(t testing.TB, options Options) *bundle {
	t.Helper()
	db, err := store.Open(t.Context(), "", t.TempDir())
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	must(t, db.Unlock(t.Context(), seal.NewBox(seal.NewKey())))
	b := &bundle{db: db}
	var keys *key.Service
	b.projects = project.NewService(db, time.Now, newID, func(id string) { keys.Forget(id) })
	keys = key.NewService(db, b.projects, time.Now, newID)
	b.rings = keys
	b.rooms = room.NewService(db, nil, func() string { return "https://meet.example.org" }, time.Now, newID, slog.New(slog.DiscardHandler))
	o, err := b.projects.CreateOrganization(t.Context(), "Org", project.Plan)
	must(t, err)
	b.project, b.issued, err = keys.CreateProject(t.Context(), o.ID, "Project")
	must(t, err)
	b.handler = wrap(NewHandler(b.rooms, keys, time.Now, options))
	return b
}

func wrap(h http.Handler) http.Handler {
	return web.Wrap(h, nil, slog.New(slog.DiscardHandler), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fields is a body that is right, to be changed by each case.
func (b *bundle) fields() map[string]any {
	return map[string]any{
		"project_id": b.project.ID, "name": "Amina", "max_participants": 10, "empty_timeout": 300,
		"metadata": map[string]any{"room_title": "Standup", "welcome_message": "Good\nmorning"},
	}
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return raw
}

func signed(key seal.Secret, body []byte) http.Header {
	return http.Header{"Content-Type": {"application/json"}, "Hash-Signature": {sign.Legacy(key.Reveal(), body)}}
}

func description(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile("openapi.yaml")
	must(t, err)
	return raw
}

// sentence reads {"error": …}, and nothing else, from an answer.
func sentence(t testing.TB, answer *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(answer.Body)
	must(t, err)
	var fields map[string]string
	if err := json.Unmarshal(raw, &fields); err != nil || len(fields) != 1 {
		t.Fatalf("the body of a refusal is %s", raw)
	}
	return fields["error"]
}

func TestCreateQuickAudioRoom(t *testing.T) {
	t.Parallel()
	b := setup(t, Options{})
	c := contract.New(t, description(t), b.handler)
	post := func(t testing.TB, header http.Header, body []byte) *http.Response {
		return c.Do(t, http.MethodPost, quickAudio, header, body)
	}

	t.Run("created", func(t *testing.T) {
		for name, k := range map[string]seal.Secret{"signed with the API key": b.issued.APIKey, "signed with the project secret": b.issued.ProjectSecret} {
			t.Run(name, func(t *testing.T) {
				body := encode(t, b.fields())
				answer := post(t, signed(k, body), body)
				if answer.StatusCode != http.StatusOK {
					t.Fatalf("%d %s", answer.StatusCode, sentence(t, answer))
				}
				var out map[string]any
				must(t, json.NewDecoder(answer.Body).Decode(&out))
				id, _ := out["room_id"].(string)
				link, _ := out["final_link"].(string)
				if out["status"] != true || len(out) != 3 || !strings.HasPrefix(link, "https://meet.example.org/r/"+id+"#t=") {
					t.Errorf("answer: %v", out)
				}
				r, err := b.rooms.Get(t.Context(), id)
				must(t, err)
				if r.Type != room.Audio || r.State != room.Open || r.MaxParticipants != 10 || r.EmptyTimeout != 300*time.Second ||
					r.Title != "Standup" || r.WelcomeMessage != "Good\nmorning" || r.CreatorName != "Amina" || r.ProjectID != b.project.ID {
					t.Errorf("stored: %+v", r)
				}
				events, err := b.db.Events(t.Context(), id, 0)
				must(t, err)
				if len(events) != 1 || events[0].Type != "room.opened" || events[0].Sequence != 1 {
					t.Errorf("events: %+v", events)
				}
				if answer.Header.Get("X-Request-ID") == "" {
					t.Error("no X-Request-ID")
				}
			})
		}
	})

	t.Run("fields of version 4 are named", func(t *testing.T) {
		f := b.fields()
		f["webhook_url"], f["external_user_id"] = "https://example.org", "7"
		f["metadata"].(map[string]any)["room_features"] = map[string]any{}
		body := encode(t, f)
		answer := post(t, signed(b.issued.APIKey, body), body)
		if got := answer.Header.Get("X-Ignored-Fields"); answer.StatusCode != 200 || got != "external_user_id, webhook_url, metadata.room_features" {
			t.Errorf("%d X-Ignored-Fields: %q", answer.StatusCode, got)
		}
	})

	t.Run("client_room_id is taken once", func(t *testing.T) {
		f := b.fields()
		f["client_room_id"] = "mine"
		body := encode(t, f)
		if answer := post(t, signed(b.issued.APIKey, body), body); answer.StatusCode != 200 {
			t.Fatalf("first: %d", answer.StatusCode)
		}
		answer := post(t, signed(b.issued.APIKey, body), body)
		if got := sentence(t, answer); answer.StatusCode != 409 || got != "client_room_id is already taken by another room of this project" {
			t.Errorf("second: %d %q", answer.StatusCode, got)
		}
	})

	for _, tc := range refusals() {
		t.Run(tc.name, func(t *testing.T) {
			f := b.fields()
			if tc.change != nil {
				tc.change(f)
			}
			body := encode(t, f)
			if tc.body != nil {
				body = tc.body(b)
			}
			header := signed(b.issued.APIKey, body)
			if tc.header != nil {
				tc.header(b, header, body)
			}
			answer := post(t, header, body)
			if got := sentence(t, answer); answer.StatusCode != tc.status || got != tc.sentence {
				t.Errorf("got %d %q\nwant %d %q", answer.StatusCode, got, tc.status, tc.sentence)
			}
			if answer.Header.Get("X-Request-ID") == "" {
				t.Error("no X-Request-ID")
			}
			if got := answer.Header.Get("WWW-Authenticate"); (tc.status == 401) != (got != "") {
				t.Errorf("WWW-Authenticate: %q", got)
			}
		})
	}

	t.Run("another method", func(t *testing.T) {
		answer := c.Do(t, http.MethodGet, quickAudio, nil, nil)
		if got := sentence(t, answer); answer.StatusCode != 405 || answer.Header.Get("Allow") != "POST" || got != "this path takes POST, not GET" {
			t.Errorf("%d %q Allow: %q", answer.StatusCode, got, answer.Header.Get("Allow"))
		}
	})
	t.Run("another path", func(t *testing.T) {
		for _, path := range []string{"/api/v3/rooms", "/api/v3/", "/api/v3/rooms/create_quick_audio_room/", "/api/v3//rooms/create_quick_audio_room"} {
			if answer := c.Do(t, http.MethodPost, path, nil, nil); answer.StatusCode != 404 {
				t.Errorf("%s: %d", path, answer.StatusCode)
			}
		}
	})
	t.Run("projects that admit nobody", func(t *testing.T) {
		body := encode(t, b.fields())
		must(t, b.projects.SetStatus(t.Context(), b.project.ID, project.Inactive))
		answer := post(t, signed(b.issued.APIKey, body), body)
		if got := sentence(t, answer); answer.StatusCode != 403 || got != "the project is inactive" {
			t.Errorf("inactive: %d %q", answer.StatusCode, got)
		}
		must(t, b.projects.SetStatus(t.Context(), b.project.ID, project.Active))
		must(t, b.projects.Suspend(t.Context(), b.project.ID))
		answer = post(t, signed(b.issued.APIKey, body), body)
		if got := sentence(t, answer); answer.StatusCode != 403 || got != "the project is suspended" {
			t.Errorf("suspended: %d %q", answer.StatusCode, got)
		}
		answer = post(t, signed("wrong", body), body)
		if answer.StatusCode != 401 {
			t.Errorf("only who can sign learns of the suspension, but the answer was %d", answer.StatusCode)
		}
		must(t, b.projects.Resume(t.Context(), b.project.ID))
		if answer := post(t, signed(b.issued.APIKey, body), body); answer.StatusCode != 200 {
			t.Errorf("resumed: %d", answer.StatusCode)
		}
	})
	t.Run("project secrets only", func(t *testing.T) {
		body := encode(t, b.fields())
		must(t, b.projects.Configure(t.Context(), b.project.ID, project.Settings{RequireSecretSignatures: true}))
		if answer := post(t, signed(b.issued.APIKey, body), body); answer.StatusCode != 401 {
			t.Errorf("API key: %d", answer.StatusCode)
		}
		if answer := post(t, signed(b.issued.ProjectSecret, body), body); answer.StatusCode != 200 {
			t.Errorf("project secret: %d", answer.StatusCode)
		}
		must(t, b.projects.Configure(t.Context(), b.project.ID, project.Settings{}))
	})
	t.Run("our failures", func(t *testing.T) {
		body := encode(t, b.fields())
		header := signed(b.issued.APIKey, body)
		c.With(wrap(NewHandler(failing{errors.New("secret cause")}, b.rings, time.Now, Options{})), func() {
			answer := post(t, header, body)
			if got := sentence(t, answer); answer.StatusCode != 500 || got != "internal error" {
				t.Errorf("%d %q", answer.StatusCode, got)
			}
		})
		gone := &fault.Error{Kind: fault.Unavailable, Message: "the database does not answer, try again in a moment"}
		c.With(wrap(NewHandler(failing{gone}, b.rings, time.Now, Options{})), func() {
			answer := post(t, header, body)
			if got := sentence(t, answer); answer.StatusCode != 503 || got != gone.Message || answer.Header.Get("Retry-After") != "1" {
				t.Errorf("%d %q", answer.StatusCode, got)
			}
		})
	})
	c.Covered()
}

// failing is a database that is gone, or a mistake of ours.
type failing struct{ err error }

func (f failing) CreateQuick(context.Context, project.Project, room.Request) (room.Created, error) {
	return room.Created{}, f.err
}

func TestLegacyKeyHeader(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		b := setup(t, Options{LegacyKeyHeader: allowed})
		body := encode(t, b.fields())
		for _, name := range []string{"Key", "Api-Key"} {
			for _, tc := range []struct {
				key  string
				good bool
			}{{b.issued.APIKey.Reveal(), allowed}, {"pk_wrong", false}, {b.issued.ProjectSecret.Reveal(), false}} {
				answer := contract.New(t, description(t), b.handler).Do(t, http.MethodPost, quickAudio,
					http.Header{"Content-Type": {"application/json"}, name: {tc.key}}, body)
				if (answer.StatusCode == 200) != tc.good || !tc.good && answer.StatusCode != 401 {
					t.Errorf("allowed %v, %s: %d", allowed, name, answer.StatusCode)
				}
			}
		}
	}
}
