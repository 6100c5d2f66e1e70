package v4

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/api/apitest"
	. "parley/internal/api/roomapi/roomstest"
	"parley/internal/event"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/webhook/post"
	"parley/internal/webhook/sender"
)

// webhookFixture is an integrator's server, which is told everything.
type webhookFixture struct {
	*MeetingFixture
	t        *testing.T
	projects *project.Service
	keys     *key.Service

	mu     sync.Mutex
	bodies map[string]string // bodies by the event's id
}

func newWebhookFixture(t *testing.T) *webhookFixture {
	b := NewFixture(t)
	k := &webhookFixture{MeetingFixture: newMeetingFixture(t, b), t: t, bodies: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(k.receive))
	t.Cleanup(server.Close)
	s := sender.NewService(b.DB, k.Hooks, b.Keys, post.New(post.Guard{AllowPrivate: true}), time.Now,
		storetest.NewID, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	now := func() time.Time { return k.Now }
	k.projects = project.NewService(b.DB, now, storetest.NewID, b.Keys.Invalidate,
		project.WithEventRecorder(k.Hooks.ProjectChanged))
	k.keys = key.NewService(b.DB, k.projects, now, storetest.NewID, key.WithEventRecorder(k.Hooks.ProjectChanged))
	Must(t, k.projects.Configure(t.Context(), b.Project.ID, project.Settings{DefaultWebhookURL: server.URL}))
	var err error
	k.Project, err = b.DB.Project(t.Context(), b.Project.ID)
	Must(t, err)
	return k
}

func (k *webhookFixture) receive(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		k.t.Error(err)
	}
	k.mu.Lock()
	k.bodies[r.Header.Get("webhook-id")] = string(body)
	k.mu.Unlock()
}

// waitForBody waits until an event has come, and returns its body.
func (k *webhookFixture) waitForBody(id string) (body string) {
	k.t.Helper()
	testkit.Eventually(k.t, "the event "+id+" is delivered", func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		body = k.bodies[id]
		return body != ""
	})
	return body
}

// createRoom makes a room: scheduled for in an hour, or else open.
func (k *webhookFixture) createRoom(scheduled bool, seats int) room.Created {
	k.t.Helper()
	q := room.Spec{Type: room.Video, MaxParticipants: seats, Title: "Standup", CreatorName: "Amina"}
	create := k.LiveRooms.CreateQuick
	if scheduled {
		q.StartAt, q.ClientRoomID, create = k.Now.Add(time.Hour), "lesson "+storetest.NewID(), k.LiveRooms.Schedule
	}
	made, err := create(k.t.Context(), k.Project, q, nil)
	Must(k.t, err)
	return made
}

// runMeetings goes through what can happen to rooms, and returns these.
func (k *webhookFixture) runMeetings() []string {
	t, ctx := k.t, k.t.Context()
	main, quick, called, lonely := k.createRoom(true, 3), k.createRoom(false, 1), k.createRoom(true, 2),
		k.createRoom(true, 2)
	link, err := k.LiveRooms.OpenEarly(ctx, k.Project, main.ID, room.OpenEarlyRequest{Name: "Amina"})
	Must(t, err)
	guests, err := k.LiveRooms.Invite(ctx, k.Project, main.ID, room.Invitation{Role: room.Guest})
	Must(t, err)
	host := k.Join(t, link, "Amina", 1)
	Must(t, k.LiveRooms.MarkAttendance(ctx, k.Project, main.ID, "Bela", []byte("{}"), false))
	k.Now = k.Now.Add(1234567 * time.Nanosecond)
	k.Join(t, guests, `Zoë <b>"&"</b>`+"", 2)
	k.Join(t, guests, "Dan", 3)
	if _, err := k.LiveRooms.ReserveSeat(ctx, main.ID,
		room.JoinRequest{SeatKey: "seat-key-of-browser-000004", Name: "Eve"}); err == nil {
		t.Error("a fourth participant in a room of three: got no error, want one")
	}
	k.Leave(host, 1)
	Must(t, k.LiveRooms.GiveFeedback(ctx, main.ID, "seat-key-of-browser-000002", room.RatedBad))
	Must(t, k.LiveRooms.EndByAPI(ctx, k.Project, main.ID)) // with people in it
	Must(t, k.LiveRooms.GiveFeedback(ctx, main.ID, "seat-key-of-browser-000003", room.RatedGood))
	Must(t, k.LiveRooms.EndByAPI(ctx, k.Project, called.ID))
	k.Join(t, quick.FinalLink, "Fay", 5)
	Must(t, k.LiveRooms.EndByAPI(ctx, k.Project, quick.ID))

	k.Now = k.Now.Add(time.Hour)
	place, token, _ := strings.Cut(lonely.FinalLink, "#t=")
	gil, err := k.LiveRooms.ReserveSeat(ctx, place[strings.LastIndexByte(place, '/')+1:],
		room.JoinRequest{LinkToken: token, SeatKey: "seat-key-of-browser-000006", Name: "Gil"})
	Must(t, err) // who never connects
	k.Now = k.Now.Add(48 * time.Hour)
	k.Leave(gil, 6) // whoever looks at the room finds that its time is over
	return []string{main.ID, quick.ID, called.ID, lonely.ID}
}

// changeProject goes through what can happen to a project itself.
func (k *webhookFixture) changeProject() {
	t, ctx, id := k.t, k.t.Context(), k.Project.ID
	Must(t, k.projects.SetStatus(ctx, id, project.Inactive))
	Must(t, k.projects.Suspend(ctx, id))
	_, err := k.Hooks.Test(ctx, id)
	Must(t, err)
	_, err = k.keys.RotateKey(ctx, id, key.Rotation{Overlap: time.Hour})
	Must(t, err)
	_, err = k.keys.RotateSecret(ctx, id, key.Rotation{})
	Must(t, err)
	k.Now = k.Now.Add(40 * time.Minute)
	Must(t, k.keys.Sweep(ctx))
}

// readEvents reads a room's events as a backend without webhooks does.
func (k *webhookFixture) readEvents(roomID, limit string) (bodies []string) {
	k.t.Helper()
	after := "0"
	for more := true; more; {
		answer := k.Call(k.t, "/rooms/"+roomID+"/events?after="+after+limit, nil)
		var page struct {
			Events    []json.RawMessage
			NextAfter json.Number `json:"next_after"`
			HasMore   bool        `json:"has_more"`
		}
		Must(k.t, json.NewDecoder(answer.Body).Decode(&page))
		for _, body := range page.Events {
			bodies = append(bodies, string(body))
		}
		if more = page.HasMore; more && page.NextAfter.String() == after {
			k.t.Fatalf("events after %s: got status %d, next_after %s, has_more true, want another next_after", after,
				answer.StatusCode, page.NextAfter)
		}
		after = page.NextAfter.String()
		if !more {
			rest := DecodeFields(k.t, k.Call(k.t, "/rooms/"+roomID+"/events?after="+after, nil))
			if fmt.Sprint(rest["events"], rest["has_more"]) != "[] false" || fmt.Sprint(rest["next_after"]) != after {
				k.t.Errorf("events after the last one: got %v, want none, has_more false, next_after %s", rest, after)
			}
		}
	}
	return bodies
}

// Each kind of event comes to a receiver as the description says, every field
// that it describes comes, and a room's events can be read afterwards as the
// very bodies that were sent.
func TestWebhooks_MatchDescription(t *testing.T) {
	t.Parallel()
	k := newWebhookFixture(t)
	described := apitest.NewWebhookChecker(t, Description(t))
	known := declaredEventTypes(t)
	if got := described.EventTypes(); !slices.Equal(got, known) {
		t.Errorf("event types in the description: got %v, want %v", got, known)
	}
	meetings := k.runMeetings()
	analytics := DecodeFields(t, k.Call(t, "/analytics/get_analytics?room_id="+meetings[0], nil))
	if got := analytics["reported"].([]any); len(got) != 1 || got[0].(map[string]any)["name"] != "Bela" ||
		got[0].(map[string]any)["source"] != "external" {
		t.Errorf("reported people in the analytics: got %v, want Bela, from an external source", got)
	}
	for _, id := range meetings {
		all, err := storetest.Events(t.Context(), k.DB, id)
		Must(t, err)
		var sent []string
		for _, e := range all {
			sent = append(sent, k.waitForBody(e.ID))
		}
		for _, limit := range []string{"", "&limit=1", "&limit=2", "&limit=1000"} {
			if got := k.readEvents(id, limit); !slices.Equal(got, sent) {
				t.Errorf("events read with %q: got\n%s\nwant the sent bodies\n%s", limit, strings.Join(got, "\n"),
					strings.Join(sent, "\n"))
			}
		}
		if got := DecodeFields(t, k.Call(t, "/rooms/"+strings.ToUpper(id)+"/events?after=9007199254740991",
			nil)); len(got["events"].([]any)) != 0 || got["next_after"] != 9007199254740991.0 {
			t.Errorf("events after 9007199254740991: got %v, want none and next_after 9007199254740991", got)
		}
	}
	k.changeProject()
	all, err := storetest.ProjectEvents(t.Context(), k.DB, k.Project.ID)
	Must(t, err)
	for _, e := range all {
		k.waitForBody(e.ID)
	}
	for _, body := range k.bodies {
		described.Check(t, []byte(body))
	}
	described.AssertCovered(t)
}

// declaredEventTypes are those that the source has, except the one that is never delivered.
func declaredEventTypes(t *testing.T) (all []string) {
	source, err := os.ReadFile("../../event/event.go")
	Must(t, err)
	for _, m := range regexp.MustCompile(`\bType += "([a-z_.]+)"`).FindAllStringSubmatch(string(source), -1) {
		if m[1] != string(event.AttendanceMarked) {
			all = append(all, m[1])
		}
	}
	slices.Sort(all)
	return all
}
