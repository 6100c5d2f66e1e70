package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/internal/config"
	"parley/internal/media/mediatest"
	"parley/internal/room"
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
			t.Fatalf("%s: %d %+v", name, status, a)
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
			t.Fatalf("%s: %d %+v", path, status, a)
		}
	}
	of := func(a joinResponse) map[string]any { return map[string]any{"identity": a.Identity} }
	testkit.Eventually(t, "both are written down", func() bool {
		who, err := s.app.rooms.Get(ctx, id)
		return err == nil && who.State == room.Active
	})

	// A guest may nothing of it.
	locked := map[string]any{"locks": map[string]any{"microphone": true}}
	for path, in := range map[string]map[string]any{"/mute": nil, "/unmute": of(host), "/remove": of(host),
		"/readmit": of(host), "/locks": locked,
		"/role": {"identity": guest.Identity, "role": "cohost"}, "/waiting/admit": nil, "/waiting/turn-away": of(
			host), "/invitations": {"role": "guest"}} {
		if status, a := send(path, guestKey, in); status != http.StatusForbidden || a.Error.Code != "not_host" {
			t.Errorf("%s as a guest: %d %+v", path, status, a.Error)
		}
	}

	done("/mute", hostKey, of(guest))
	if said, err := ben.AwaitMessage(ctx, room.MessageMuted); err != nil || said.From != "Amina" {
		t.Errorf("ben was told %+v, %v", said, err)
	}
	done("/unmute", hostKey, of(guest))
	if _, err := ben.AwaitMessage(ctx, room.MessageUnmute); err != nil {
		t.Error(err)
	}

	done("/locks", hostKey, locked)
	testkit.Eventually(t, "the microphone is taken out", func() bool { return ben.Unpublished("mic") })
	if err := ben.Publish(ctx, "again", mediatest.Microphone); !errors.Is(err, mediatest.ErrNotAllowed) {
		t.Errorf("a locked microphone: %v", err)
	}
	if _, err := amina.AwaitInfo(ctx, func(i room.Metadata) bool { return i.Locks.Microphone }); err != nil {
		t.Error(err)
	}
	done("/role", hostKey, map[string]any{"identity": guest.Identity, "role": "cohost"})
	testkit.Eventually(t, "ben is a co-host", func() bool {
		seen, there := amina.RemoteParticipant(guest.Identity)
		return there && seen.Attributes["role"] == "cohost"
	})
	if err := ben.Publish(ctx, "as a co-host", mediatest.Microphone); err != nil {
		t.Errorf("a co-host is not locked: %v", err)
	}
	if status, a := send("/remove", guestKey, of(host)); status != http.StatusForbidden || a.Error.Code != "not_host" {
		t.Errorf("a co-host removes a host: %d %+v", status, a.Error)
	}

	done("/remove", hostKey, of(guest))
	if end, err := ben.AwaitEnd(ctx); err != nil || end.Reason != "PARTICIPANT_REMOVED" || end.Reconnect {
		t.Errorf("%+v, %v", end, err)
	}
	keptOut := func() {
		t.Helper()
		for name, token := range map[string]string{"the pass": guest.MediaToken, "what the server sent": ben.Token()} {
			var refused *mediatest.RefusedError
			if p, err := mediatest.Join(ctx, s.app.BaseURL(), token); !errors.As(err, &refused) ||
				refused.Status != http.StatusUnauthorized {
				t.Errorf("%s: %v", name, err)
				if p != nil {
					p.Leave()
				}
			}
		}
		if status, a := send("/seats", guestKey, map[string]any{"name": "Ben"}); status != http.StatusForbidden ||
			a.Error.Code != "removed" {
			t.Errorf("%d %+v", status, a.Error)
		}
	}
	keptOut()
	stays, err := s.app.db.Attendance(ctx, id)
	if err != nil || len(stays) != 2 || !slices.ContainsFunc(stays,
		func(a room.Attendance) bool { return a.SeatID == guest.Identity && a.Reason == room.LeftRemoved }) {
		t.Errorf("%+v, %v", stays, err)
	}

	// It is a row, and not something a process remembers.
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	cfg := s.cfg
	s = startServer(t, func(c *config.Config) { *c = cfg })
	keptOut()
	done("/readmit", hostKey, of(guest))
	enter("Ben", guestKey, "")
}
