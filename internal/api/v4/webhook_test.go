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

	"parley/internal/api/companion/companiontest"
	"parley/internal/api/contract"
	. "parley/internal/api/legacy/legacytest"
	"parley/internal/event"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/webhook"
	"parley/internal/webhook/post"
)

// backend is an integrator's server, which is told everything.
type backend struct {
	*companiontest.House
	t        *testing.T
	projects *project.Service
	keys     *key.Service
	hooks    *webhook.Service

	mu  sync.Mutex
	got map[string]string // bodies by the event's id
}

func newBackend(t *testing.T) *backend {
	b := New(t)
	k := &backend{House: house(t, b), t: t, got: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(k.receive))
	t.Cleanup(server.Close)
	k.hooks = webhook.NewService(b.DB, b.Keys, post.New(post.Guard{AllowPrivate: true}), time.Now, storetest.NewID, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { k.hooks.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	now := func() time.Time { return k.Now }
	k.projects = project.NewService(b.DB, now, storetest.NewID, b.Keys.Forget)
	k.keys = key.NewService(b.DB, k.projects, now, storetest.NewID)
	k.projects.Tell(k.hooks.ProjectChanged)
	k.keys.Tell(k.hooks.ProjectChanged)
	k.Meeting.UseWebhooks(k.hooks)
	Must(t, k.projects.Configure(t.Context(), b.Project.ID, project.Settings{DefaultWebhookURL: server.URL}))
	var err error
	k.Project, err = b.DB.Project(t.Context(), b.Project.ID)
	Must(t, err)
	return k
}

func (k *backend) receive(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		k.t.Error(err)
	}
	k.mu.Lock()
	k.got[r.Header.Get("webhook-id")] = string(body)
	k.mu.Unlock()
}

// await waits until an event has come, and returns its body.
func (k *backend) await(id string) (body string) {
	k.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); body == ""; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			k.t.Fatal("an event does not come")
		}
		k.mu.Lock()
		body = k.got[id]
		k.mu.Unlock()
	}
	return body
}

// make makes a room: scheduled for in an hour, or else open.
func (k *backend) make(scheduled bool, seats int) room.Created {
	k.t.Helper()
	q := room.Request{Type: room.Video, MaxParticipants: seats, Title: "Standup", Name: "Amina"}
	create := k.Meeting.CreateQuick
	if scheduled {
		q.StartAt, q.ClientRoomID, create = k.Now.Add(time.Hour), "lesson "+storetest.NewID(), k.Meeting.Schedule
	}
	made, err := create(k.t.Context(), k.Project, q)
	Must(k.t, err)
	return made
}

// meet goes through what can happen to rooms, and returns these.
func (k *backend) meet() []string {
	t, ctx := k.t, k.t.Context()
	main, quick, called, lonely := k.make(true, 3), k.make(false, 1), k.make(true, 2), k.make(true, 2)
	link, err := k.Meeting.OpenEarly(ctx, k.Project, main.ID, room.Early{Name: "Amina"})
	Must(t, err)
	guests, err := k.Meeting.Invite(ctx, k.Project, main.ID, room.Invitation{Role: room.Guest})
	Must(t, err)
	host := k.Enter(t, link, "Amina", 1)
	Must(t, k.Meeting.MarkAttendance(ctx, main.ID, "Bela", []byte("{}"), false))
	k.Now = k.Now.Add(1234567 * time.Nanosecond)
	k.Enter(t, guests, `Zoë <b>"&"</b>`+"", 2)
	k.Enter(t, guests, "Dan", 3)
	if _, err := k.Meeting.TakeSeat(ctx, main.ID, room.Visit{SeatKey: "seat-key-of-browser-000004", Name: "Eve"}); err == nil {
		t.Error("there was room for a fourth")
	}
	k.Leave(host, 1)
	Must(t, k.Meeting.EndOf(ctx, k.Project, main.ID)) // with people in it
	Must(t, k.Meeting.EndOf(ctx, k.Project, called.ID))
	k.Enter(t, quick.FinalLink, "Fay", 5)
	Must(t, k.Meeting.EndOf(ctx, k.Project, quick.ID))

	k.Now = k.Now.Add(time.Hour)
	place, token, _ := strings.Cut(lonely.FinalLink, "#t=")
	gil, err := k.Meeting.TakeSeat(ctx, place[strings.LastIndexByte(place, '/')+1:], room.Visit{Link: token, SeatKey: "seat-key-of-browser-000006", Name: "Gil"})
	Must(t, err) // who never connects
	k.Now = k.Now.Add(48 * time.Hour)
	k.Leave(gil, 6) // whoever looks at the room finds that its time is over
	return []string{main.ID, quick.ID, called.ID, lonely.ID}
}

// rotate goes through what can happen to a project itself.
func (k *backend) rotate() {
	t, ctx, id := k.t, k.t.Context(), k.Project.ID
	Must(t, k.projects.SetStatus(ctx, id, project.Inactive))
	Must(t, k.projects.Suspend(ctx, id))
	_, err := k.hooks.Test(ctx, id)
	Must(t, err)
	_, err = k.keys.RotateKey(ctx, id, key.Rotation{Overlap: time.Hour})
	Must(t, err)
	_, err = k.keys.RotateSecret(ctx, id, key.Rotation{})
	Must(t, err)
	k.Now = k.Now.Add(40 * time.Minute)
	Must(t, k.keys.Sweep(ctx))
}

// log reads a room's events as a backend without webhooks does.
func (k *backend) log(roomID, limit string) (bodies []string) {
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
			k.t.Fatalf("%d after %s: on to %s, more: %v", answer.StatusCode, after, page.NextAfter, more)
		}
		after = page.NextAfter.String()
		if !more {
			rest := Fields(k.t, k.Call(k.t, "/rooms/"+roomID+"/events?after="+after, nil))
			if fmt.Sprint(rest["events"], rest["has_more"]) != "[] false" || fmt.Sprint(rest["next_after"]) != after {
				k.t.Errorf("after the last: %v", rest)
			}
		}
	}
	return bodies
}

// Each kind of event comes to a receiver as the description says, every field
// that it describes comes, and a room's events can be read afterwards as the
// very bodies that were sent.
func TestWebhooksAreAsDescribed(t *testing.T) {
	t.Parallel()
	k := newBackend(t)
	described := contract.NewWebhooks(t, Description(t))
	known := kinds(t)
	if got := described.Kinds(); !slices.Equal(got, known) {
		t.Errorf("described are %v\nthere are %v", got, known)
	}
	for _, id := range k.meet() {
		all, err := k.DB.Events(t.Context(), id, 0)
		Must(t, err)
		var sent []string
		for _, e := range all {
			if e.Type != event.AttendanceMarked {
				sent = append(sent, k.await(e.ID))
			}
		}
		for _, limit := range []string{"", "&limit=1", "&limit=2", "&limit=1000"} {
			if got := k.log(id, limit); !slices.Equal(got, sent) {
				t.Errorf("%s: read were\n%s\nsent were\n%s", limit, strings.Join(got, "\n"), strings.Join(sent, "\n"))
			}
		}
		if got := Fields(t, k.Call(t, "/rooms/"+strings.ToUpper(id)+"/events?after=9007199254740991", nil)); len(got["events"].([]any)) != 0 || got["next_after"] != 9007199254740991.0 {
			t.Errorf("after more than there are: %v", got)
		}
	}
	k.rotate()
	all, err := k.DB.ProjectEvents(t.Context(), k.Project.ID, 0)
	Must(t, err)
	for _, e := range all {
		k.await(e.ID)
	}
	for _, body := range k.got {
		described.Check(t, []byte(body))
	}
	described.Covered(t)
}

// kinds are those that the source has, but for the one that is told to nobody.
func kinds(t *testing.T) (all []string) {
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
