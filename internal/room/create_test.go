package room

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/internal/fault"
	"parley/internal/project"
)

// validRequest returns a valid request.
func validRequest() Spec {
	return Spec{Type: Video, CreatorName: "Ada", MaxParticipants: 10, Title: "Title"}
}

func TestSpec_Bounds(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("𝄞", n) }
	for _, c := range []struct {
		change func(q *Spec)
		want   string // empty: nothing is wrong
	}{
		{func(q *Spec) {}, ""},

		{func(q *Spec) { q.CreatorName = "" }, "name must have 1 to 255 characters and not be blank"},
		{func(q *Spec) { q.CreatorName = " \u00a0\t" }, "name must have 1 to 255 characters and not be blank"},
		{func(q *Spec) { q.CreatorName = long(255) }, ""},
		{func(q *Spec) { q.CreatorName = long(256) }, "name must have at most 255 characters, not 256"},
		{func(q *Spec) { q.CreatorName = "A\x00" }, "name must not contain control characters such as U+0000"},
		{func(q *Spec) { q.CreatorName = "A\nB" }, "name must not contain control characters such as U+000A"},
		{func(q *Spec) { q.CreatorName = "A\u009f" }, "name must not contain control characters such as U+009F"},
		{func(q *Spec) { q.CreatorName = "A\xff" }, "name must be UTF-8"},

		{func(q *Spec) { q.MaxParticipants = 0 }, "max_participants must be between 1 and 1000, not 0"},
		{func(q *Spec) { q.MaxParticipants = -1 }, "max_participants must be between 1 and 1000, not -1"},
		{func(q *Spec) { q.MaxParticipants = 1 }, ""},
		{func(q *Spec) { q.MaxParticipants = 1000 }, ""},
		{func(q *Spec) { q.MaxParticipants = 1001 }, "max_participants must be between 1 and 1000, not 1001"},

		{func(q *Spec) { q.EmptyTimeout = -time.Second }, "empty_timeout must be between 0 and 86400, not -1"},
		{func(q *Spec) { q.EmptyTimeout = time.Second }, ""},
		{func(q *Spec) { q.EmptyTimeout = 86400 * time.Second }, ""},
		{func(q *Spec) { q.EmptyTimeout = 86401 * time.Second }, "empty_timeout must be between 0 and 86400, not 86401"},

		{func(q *Spec) { q.Title = "" }, "title must have 1 to 255 characters and not be blank"},
		{func(q *Spec) { q.Title = long(255) }, ""},
		{func(q *Spec) { q.Title = long(256) }, "title must have at most 255 characters, not 256"},
		{func(q *Spec) { q.Title = "\u007f" }, "title must not contain control characters such as U+007F"},

		{func(q *Spec) { q.WelcomeMessage = long(2000) }, ""},
		{func(q *Spec) { q.WelcomeMessage = long(2001) }, "welcome_message must have at most 2000 characters, not 2001"},
		{func(q *Spec) { q.WelcomeMessage = " \n\r\n" }, ""},
		{func(q *Spec) { q.WelcomeMessage = "a\tb" }, "welcome_message must not contain control characters such as U+0009"},

		{func(q *Spec) { q.ClientRoomID = long(255) }, ""},
		{func(q *Spec) { q.ClientRoomID = long(256) }, "client_room_id must have at most 255 characters, not 256"},
		{func(q *Spec) { q.ClientRoomID = "a\r" }, "client_room_id must not contain control characters such as U+000D"},
	} {
		q := validRequest()
		c.change(&q)
		_, _, err := newRoom(MaxEntitlements, project.Settings{}, q)
		if c.want == "" {
			if err != nil {
				t.Errorf("request %+v: got error %v, want none", q, err)
			}
			continue
		}
		if !fault.Is(err, fault.Invalid) || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// The error names the bound of the plan, not the larger one of the service.
func TestSpec_PlanBounds(t *testing.T) {
	t.Parallel()
	plan := Entitlements{MaxParticipants: 25, Duration: 40 * time.Minute}
	q := validRequest()
	q.MaxParticipants = 25
	r, _, err := newRoom(plan, project.Settings{}, q)
	if err != nil || r.Duration != plan.Duration {
		t.Errorf("duration with the plan %+v: got %s, error %v, want %s", plan, r.Duration, err, plan.Duration)
	}
	q.MaxParticipants = 26
	const want = "max_participants must be between 1 and 25, not 26"
	if _, _, err := newRoom(plan, project.Settings{}, q); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSpec_EmptyTimeoutDefault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asked, project int
		want           time.Duration
	}{
		{0, 0, 300 * time.Second},
		{0, 20, 20 * time.Second},
		{10, 20, 10 * time.Second},
		{86400, 0, 24 * time.Hour},
	} {
		q := validRequest()
		q.EmptyTimeout = time.Duration(c.asked) * time.Second
		r, _, err := newRoom(MaxEntitlements, project.Settings{DefaultEmptyTimeout: c.project}, q)
		if err != nil || r.EmptyTimeout != c.want {
			t.Errorf("empty timeout, asked %d, project %d: got %s, error %v, want %s", c.asked, c.project, r.EmptyTimeout, err,
				c.want)
		}
	}
}

// For every request, the result is a room within all bounds that can be stored, or
// one error.
func FuzzApplyPolicy(f *testing.F) {
	f.Add("Ada", 10, 0, "id", "Title", "Welcome\nall", 1000, 0)
	f.Add("", -1, 86401, "\x00", " ", "\xff", 1, 86400)
	f.Add(strings.Repeat("é", 256), 1<<40, -1, "\u2028", "\u0085", strings.Repeat("x", 2001), 0, -5)
	f.Fuzz(func(t *testing.T, name string, participants, empty int, id, title, welcome string, allowed,
		projectDefault int) {
		q := Spec{
			Type:            Audio,
			CreatorName:     name,
			MaxParticipants: participants,
			EmptyTimeout:    time.Duration(empty) * time.Second,
			ClientRoomID:    id,
			Title:           title,
			WelcomeMessage:  welcome,
		}
		plan := Entitlements{MaxParticipants: allowed, Duration: time.Hour}
		r, _, err := newRoom(plan, project.Settings{DefaultEmptyTimeout: projectDefault}, q)
		if err != nil {
			sentence := err.Error()
			if !fault.Is(err, fault.Invalid) || strings.ContainsFunc(sentence, unicode.IsControl) || len(sentence) > 120 {
				t.Fatalf("request %+v: got error %q, want an Invalid error without control characters, at most 120 bytes", q,
					sentence)
			}
			return
		}
		for text, limit := range map[string]int{r.CreatorName: 255, r.Title: 255, r.ClientRoomID: 255,
			r.WelcomeMessage: 2000} {
			if !utf8.ValidString(text) || utf8.RuneCountInString(text) > limit || strings.Contains(text, "\x00") {
				t.Fatalf("stored text: got %q, want valid UTF-8 without U+0000, at most %d characters", text, limit)
			}
		}
		if r.MaxParticipants < 1 || r.MaxParticipants > allowed || r.EmptyTimeout > 24*time.Hour && empty != 0 ||
			r.Duration != plan.Duration {
			t.Fatalf("request %+v: got %+v, want 1 to %d participants, an empty timeout up to 24h, duration %s", q, r, allowed,
				plan.Duration)
		}
		if r.CreatorName != name || r.Title != title || r.ClientRoomID != id || r.WelcomeMessage != welcome ||
			r.Type != Audio {
			t.Fatalf("type and texts of the room: got %+v, want those of the request %+v", r, q)
		}
	})
}

func TestCheckStart(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 31, 9, 30, 0, 0, time.UTC)
	for ahead, ok := range map[time.Duration]bool{
		0: true, -60 * time.Second: true, -60*time.Second - time.Millisecond: false, time.Second: true,
		366 * 24 * time.Hour: true, 366*24*time.Hour + time.Millisecond: false,
	} {
		if err := checkStart(now.Add(ahead), now); (err == nil) != ok {
			t.Errorf("start %s from now: got error %v, want success: %v", ahead, err, ok)
		}
	}
}
