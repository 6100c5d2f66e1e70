package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/internal/audit"
	"parley/internal/config"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// TestModeration_EnforcedByServer checks that decisions of a host apply to
// clients that ignore them, on the whole service, with real participants and
// through the API of the page.
func TestModeration_EnforcedByServer(t *testing.T) {
	s := startServer(t, nil)
	ctx := t.Context()
	id, link := s.createRoom(5, 300)
	_, token, _ := strings.Cut(link, "#t=")
	send := func(path, key string, in map[string]any) (int, joinResponse) {
		t.Helper()
		if in == nil {
			in = map[string]any{}
		}
		in["seat_key"] = key
		body, _ := json.Marshal(in)
		r, err := http.NewRequest(http.MethodPost, s.app.BaseURL()+"/api/join/rooms/"+id+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		var out joinResponse
		if res.StatusCode != http.StatusNoContent {
			if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
				t.Fatal(err)
			}
		}
		return res.StatusCode, out
	}
	enter := func(name, key, link string) (*mediatest.Participant, joinResponse) {
		t.Helper()
		status, a := send("/seats", key, map[string]any{"name": name, "link": link})
		if status != http.StatusOK {
			t.Fatalf("a seat for %s: got %d %+v, want 200", name, status, a)
		}
		p, err := mediatest.Join(ctx, s.app.BaseURL(), a.MediaToken)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Leave)
		return p, a
	}
	amina, host := enter("Amina", hostKey, token)
	ben, guest := enter("Ben", guestKey, "")
	if err := ben.Publish(ctx, "mic", mediatest.Microphone); err != nil {
		t.Fatal(err)
	}
	if err := amina.AwaitPacketsFrom(ctx, guest.Identity, mediatest.Microphone); err != nil {
		t.Fatal(err)
	}
	done := func(path, key string, in map[string]any) {
		t.Helper()
		if status, a := send(path, key, in); status != http.StatusNoContent {
			t.Fatalf("POST %s: got %d %+v, want 204", path, status, a)
		}
	}
	of := func(a joinResponse) map[string]any { return map[string]any{"identity": a.Identity} }
	testkit.Eventually(t, "the room is active", func() bool {
		who, err := s.app.rooms.Get(ctx, id)
		return err == nil && who.State == room.Active
	})

	// A guest is refused every action of a host.
	locked := map[string]any{"locks": map[string]any{"microphone": true}}
	for path, in := range map[string]map[string]any{"/mute": nil, "/unmute": of(host), "/remove": of(host),
		"/readmit": of(host), "/locks": locked,
		"/role": {"identity": guest.Identity, "role": "cohost"}, "/waiting/admit": nil, "/waiting/turn-away": of(
			host), "/invitations": {"role": "guest"}} {
		if status, a := send(path, guestKey, in); status != http.StatusForbidden || a.Error.Code != "not_host" {
			t.Errorf("POST %s as a guest: got %d %+v, want 403 not_host", path, status, a.Error)
		}
	}

	done("/mute", hostKey, of(guest))
	if message, err := ben.AwaitMessage(ctx, room.MessageMuted); err != nil || message.From != "Amina" {
		t.Errorf("mute: ben got %+v, %v, want a message from Amina", message, err)
	}
	done("/unmute", hostKey, of(guest))
	if _, err := ben.AwaitMessage(ctx, room.MessageUnmute); err != nil {
		t.Errorf("message to ben after unmute: got error %v, want %s", err, room.MessageUnmute)
	}

	done("/locks", hostKey, locked)
	testkit.Eventually(t, "the microphone is unpublished", func() bool { return ben.Unpublished("mic") })
	if err := ben.Publish(ctx, "again", mediatest.Microphone); !errors.Is(err, mediatest.ErrNotAllowed) {
		t.Errorf("publish a locked microphone: got error %v, want %v", err, mediatest.ErrNotAllowed)
	}
	if _, err := amina.AwaitInfo(ctx, func(i room.Metadata) bool { return i.Locks.Microphone }); err != nil {
		t.Errorf("metadata of amina with the microphone lock: got error %v, want none", err)
	}
	done("/role", hostKey, map[string]any{"identity": guest.Identity, "role": "cohost"})
	testkit.Eventually(t, "ben is a co-host", func() bool {
		seen, there := amina.RemoteParticipant(guest.Identity)
		return there && seen.Attributes["role"] == "cohost"
	})
	if err := ben.Publish(ctx, "as a co-host", mediatest.Microphone); err != nil {
		t.Errorf("publish a microphone as a co-host: got error %v, want none", err)
	}
	if status, a := send("/remove", guestKey, of(host)); status != http.StatusForbidden || a.Error.Code != "not_host" {
		t.Errorf("remove the host as a co-host: got %d %+v, want 403 not_host", status, a.Error)
	}

	done("/remove", hostKey, of(guest))
	if end, err := ben.AwaitEnd(ctx); err != nil || end.Reason != "PARTICIPANT_REMOVED" || end.Reconnect {
		t.Errorf("the connection of a removed guest ended with %+v, %v, want PARTICIPANT_REMOVED", end, err)
	}
	assertRemoved := func() {
		t.Helper()
		for name, token := range map[string]string{"first": guest.MediaToken, "refreshed": ben.Token()} {
			var refused *mediatest.RefusedError
			if p, err := mediatest.Join(ctx, s.app.BaseURL(), token); !errors.As(err, &refused) ||
				refused.Status != http.StatusUnauthorized {
				t.Errorf("join with the %s token: got error %v, want status 401", name, err)
				if p != nil {
					p.Leave()
				}
			}
		}
		if status, a := send("/seats", guestKey, map[string]any{"name": "Ben"}); status != http.StatusForbidden ||
			a.Error.Code != "removed" {
			t.Errorf("a seat for a removed guest: got %d %+v, want 403 removed", status, a.Error)
		}
	}
	assertRemoved()
	attendance, err := storetest.Attendance(ctx, s.app.db, id)
	if err != nil || len(attendance) != 2 || !slices.ContainsFunc(attendance,
		func(a room.Attendance) bool { return a.SeatID == guest.Identity && a.Reason == room.LeftRemoved }) {
		t.Errorf("got attendance %+v, %v, want two rows and one with a removal", attendance, err)
	}

	// The removal is stored, so it survives a restart.
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	cfg := s.cfg
	s = startServer(t, func(c *config.Config) { *c = cfg })
	assertRemoved()
	done("/readmit", hostKey, of(guest))
	enter("Ben", guestKey, "")

	// An operator can remove anybody, also the host.
	amina, host = enter("Amina", hostKey, token)
	remove := func() int {
		return s.send("POST", "/api/manage/rooms/"+id+"/remove-person", `{"seat_id":"`+host.Identity+`"}`,
			"Authorization", "Bearer "+s.AdminToken)
	}
	if status := remove(); status != http.StatusOK {
		t.Fatalf("remove the host as an operator: got status %d, want 200", status)
	}
	if end, err := amina.AwaitEnd(ctx); err != nil || end.Reason != "PARTICIPANT_REMOVED" || end.Reconnect {
		t.Errorf("the connection of a removed host ended with %+v, %v, want PARTICIPANT_REMOVED", end, err)
	}
	if status, a := send("/seats", hostKey, map[string]any{"name": "Amina", "link": token}); a.Error.Code != "removed" {
		t.Errorf("a seat for a removed host: got %d %+v, want 403 removed", status, a.Error)
	}
	entries, _, err := s.app.audit.List(ctx, audit.Query{Limit: 100})
	removals := slices.DeleteFunc(entries, func(e audit.Entry) bool { return e.Action != audit.ParticipantRemoved })
	if remove(); err != nil || len(removals) != 1 || removals[0].Subject != host.Identity ||
		!strings.Contains(removals[0].After, id) {
		t.Errorf("audit entries: got %+v, %v, want the removal of %s from %s", removals, err, host.Identity, id)
	}
}
