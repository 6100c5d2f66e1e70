package room

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/validate"
)

// TestApplyPolicy_NeverExceedsPlan checks the guarantees of the policy for every plan,
// project and request.
func TestApplyPolicy_NeverExceedsPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		allowed := Entitlements{
			MaxParticipants: rapid.IntRange(1, MaxEntitlements.MaxParticipants).Draw(t, "plan: participants"),
			Duration:        time.Duration(rapid.IntRange(1, validate.MaxRoomDuration).Draw(t, "plan: minutes")) * time.Minute,
			BreakoutRooms:   rapid.IntRange(0, validate.MaxBreakoutRooms).Draw(t, "plan: breakout rooms"),
		}
		lowers := func(name string, limit int) int {
			return rapid.OneOf(rapid.Just(0), rapid.IntRange(1, limit)).Draw(t, "project: "+name)
		}
		flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
		settings := project.Settings{DefaultEmptyTimeout: rapid.IntRange(0, validate.MaxEmptyTimeout).Draw(t,
			"default empty_timeout"),
			Features: project.Features{
				MaxParticipants: lowers("participants", MaxEntitlements.MaxParticipants),
				RoomDuration:    lowers("minutes", validate.MaxRoomDuration),
				NoCamera:        flag("no camera"),
				NoScreenShare:   flag("no screen share"),
				NoChat:          flag("no chat"),
			},
			Locks: project.Locks{
				Microphone:  flag("lock microphone"),
				Camera:      flag("lock camera"),
				ScreenShare: flag("lock screen share"),
				Chat:        flag("lock chat"),
				WaitingRoom: flag("waiting room"),
			}}
		if flag("the project bounds breakout rooms") {
			n := rapid.IntRange(0, validate.MaxBreakoutRooms).Draw(t, "project: breakout rooms")
			settings.Features.BreakoutRooms = &n
		}
		plan := allowed
		if n := settings.Features.MaxParticipants; n > 0 {
			allowed.MaxParticipants = min(n, allowed.MaxParticipants)
		}
		if n := settings.Features.RoomDuration; n > 0 {
			allowed.Duration = min(time.Duration(n)*time.Minute, allowed.Duration)
		}
		if n := settings.Features.BreakoutRooms; n != nil {
			allowed.BreakoutRooms = min(*n, allowed.BreakoutRooms)
		}
		draw := func(name string, limit int) time.Duration {
			return time.Duration(rapid.IntRange(-1, limit+1).Draw(t, name))
		}
		q := Spec{
			Type:            rapid.SampledFrom([]Type{Video, Audio}).Draw(t, "type"),
			Title:           "T",
			CreatorName:     "A",
			MaxParticipants: rapid.IntRange(-1, 1002).Draw(t, "max_participants"),
			EmptyTimeout:    draw("empty_timeout", validate.MaxEmptyTimeout) * time.Second,
			Duration:        draw("room_duration", validate.MaxRoomDuration) * time.Minute,
		}
		asksBreakouts := rapid.Bool().Draw(t, "asks for breakout rooms")
		if asksBreakouts {
			q.BreakoutRooms = rapid.IntRange(-1, validate.MaxBreakoutRooms+1).Draw(t, "allowed_number_rooms")
			q.NoBreakoutRooms = q.BreakoutRooms == 0
		}
		r, adjusted, err := newRoom(plan, settings, q)

		inBounds := q.MaxParticipants >= 1 && q.MaxParticipants <= allowed.MaxParticipants && q.EmptyTimeout >= 0 &&
			q.EmptyTimeout <= validate.MaxEmptyTimeout*time.Second &&
			q.Duration >= 0 && q.Duration <= validate.MaxRoomDuration*time.Minute &&
			q.BreakoutRooms >= 0 && q.BreakoutRooms <= validate.MaxBreakoutRooms
		if inBounds != (err == nil) || err != nil && !fault.Is(err, fault.Invalid) {
			t.Fatalf("request %+v: got error %v, want success: %v, and otherwise an Invalid error", q, err, inBounds)
		}
		if err != nil {
			return
		}
		if r.MaxParticipants > allowed.MaxParticipants || r.Duration > allowed.Duration ||
			r.BreakoutRooms > allowed.BreakoutRooms {
			t.Fatalf("room: got %+v, want at most what the plan allows: %+v", r, allowed)
		}
		if r.Duration <= 0 || r.EmptyTimeout <= 0 || r.MaxParticipants != q.MaxParticipants {
			t.Fatalf("room: got %+v, want %d participants, a duration and an empty timeout above 0", r, q.MaxParticipants)
		}
		asked := q.Duration
		if lowered := asked > 0 && r.Duration != asked; lowered != slices.Contains(adjusted, featureDuration) {
			t.Fatalf("room_duration %s became %s: got adjusted %v, want %s in it: %v", asked, r.Duration, adjusted,
				featureDuration, lowered)
		}
		lowered := asksBreakouts && r.BreakoutRooms != q.BreakoutRooms
		if lowered != slices.Contains(adjusted, featureBreakoutRooms) {
			t.Fatalf("allowed_number_rooms %d became %d: got adjusted %v, want %s in it: %v", q.BreakoutRooms, r.BreakoutRooms,
				adjusted, featureBreakoutRooms, lowered)
		}
		if asked == 0 && r.Duration != allowed.Duration ||
			!asksBreakouts && r.BreakoutRooms != allowed.BreakoutRooms {
			t.Fatalf("fields that the request %+v leaves out: got %+v, want the values of the plan %+v", q, r, allowed)
		}

		f, l := settings.Features, settings.Locks
		if want := (Features{Camera: q.Type == Video && !f.NoCamera, ScreenShare: q.Type == Video &&
			!f.NoScreenShare, Chat: !f.NoChat}); r.Features != want {
			t.Fatalf("features of %+v: got %+v, want %+v", q, r.Features, want)
		}
		if r.Locks != (Locks{
			Microphone:  l.Microphone,
			Camera:      l.Camera,
			ScreenShare: l.ScreenShare,
			Chat:        l.Chat,
			WaitingRoom: l.WaitingRoom,
		}) {
			t.Fatalf("locks: got %+v, want those of the project: %+v", r.Locks, l)
		}
		if ParseFeatures(r.Features.String()) != r.Features || ParseLocks(r.Locks.String()) != r.Locks {
			t.Fatalf("format and parse features and locks: got %+v and %+v, want %+v and %+v",
				ParseFeatures(r.Features.String()), ParseLocks(r.Locks.String()), r.Features, r.Locks)
		}
		may, all := r.grants(Guest), Grants{Microphone: true, Camera: r.Features.Camera, ScreenShare: r.Features.ScreenShare,
			Chat: r.Features.Chat}
		if r.grants(Host) != all || r.grants(CoHost) != all {
			t.Fatalf("grants: got %+v for hosts and %+v for co-hosts, want %+v", r.grants(Host), r.grants(CoHost), all)
		}
		if may != (Grants{all.Microphone && !l.Microphone, all.Camera && !l.Camera, all.ScreenShare &&
			!l.ScreenShare, all.Chat && !l.Chat}) {
			t.Fatalf("grants of guests: got %+v, want %+v without the locks %+v", may, all, l)
		}
	})
}

// Every setting of a room can be changed, except for its type and the integrator's
// own id.
func TestSpecChange_CoversSpec(t *testing.T) {
	t.Parallel()
	before := Spec{
		Type:            Video,
		ClientRoomID:    "mine",
		StartAt:         monday.Add(time.Hour),
		Title:           "a",
		WelcomeMessage:  "a",
		CreatorName:     "a",
		ExternalUserID:  "a",
		LogoutURL:       "https://example.org/a",
		WebhookURL:      "https://example.org/a",
		MaxParticipants: 1,
		EmptyTimeout:    time.Second,
		Duration:        time.Minute,
		BreakoutRooms:   1,
	}
	change := SpecChange{
		StartAt:         monday.Add(2 * time.Hour),
		Title:           new("b"),
		WelcomeMessage:  new("b"),
		CreatorName:     new("b"),
		ExternalUserID:  new("b"),
		LogoutURL:       new("https://example.org/b"),
		WebhookURL:      new("https://example.org/b"),
		MaxParticipants: new(2),
		EmptyTimeout:    new(2 * time.Second),
		Duration:        new(2 * time.Minute),
		BreakoutRooms:   new(2),
	}
	after := before
	if adjusted, err := change.apply(&after, MaxEntitlements, project.Settings{}, monday); err != nil || adjusted != nil {
		t.Fatalf("got adjusted %v, %v, want none", adjusted, err)
	}
	fixed := []string{"Type", "ClientRoomID", "NoBreakoutRooms"}
	old, got := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range old.NumField() {
		name := old.Type().Field(i).Name
		if same := old.Field(i).Interface() == got.Field(i).Interface(); same != slices.Contains(fixed, name) {
			t.Errorf("field %s: got %v after the change, %v before it, want equal: %v", name, got.Field(i), old.Field(i),
				slices.Contains(fixed, name))
		}
	}
	unchanged := after
	smaller := Entitlements{MaxParticipants: 1}
	if _, err := (SpecChange{}).apply(&unchanged, smaller, project.Settings{}, monday); err != nil || unchanged != after {
		t.Errorf("an empty change: got %+v, error %v, want %+v", unchanged, err, after)
	}
}
