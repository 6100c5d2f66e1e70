package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlans_File(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plans.yaml")
	write := func(text string) *Config {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return &Config{PlansFile: path}
	}
	if plans, err := (&Config{}).Plans(); plans != nil || err != nil {
		t.Errorf("no file: got %v, %v, want no plans", plans, err)
	}
	plans, err := write(
		"gold:\n  max_participants: 500\n  included_minutes: 100000\n  links_per_day: 7\ndefault:\n  room_duration: 60\n  breakout_rooms: 0\n").Plans()
	if err != nil || len(plans) != 2 || plans[0].Name != "default" || *plans[0].RoomDuration != 60 ||
		*plans[0].BreakoutRooms != 0 || plans[0].MaxParticipants != nil ||
		plans[1].Name != "gold" || *plans[1].MaxParticipants != 500 || *plans[1].IncludedMinutes != 100_000 ||
		*plans[1].LinksPerDay != 7 || plans[1].RoomsPerDay != nil {
		t.Errorf("got plans %+v, %v, want default and gold with their values", plans, err)
	}
	if plans, err := write("# nothing yet\n").Plans(); len(plans) != 0 || err != nil {
		t.Errorf("an empty file: got %v, %v, want no plans", plans, err)
	}
	for text, want := range map[string]string{
		"gold:\n  max_participant: 5\n":                           "max_participant",
		"gold:\n  max_participants: 1001\n":                       `plan "gold": max_participants must be between 1 and 1000, not 1001`,
		"gold:\n  max_participants: 0\n":                          "max_participants must be between 1 and 1000, not 0",
		"gold:\n  room_duration: 1441\n":                          "room_duration must be between 1 and 1440, not 1441",
		"gold:\n  breakout_rooms: -1\n":                           "breakout_rooms must be between 0 and 16, not -1",
		"gold:\n  rooms_per_day: 0\n":                             "rooms_per_day must be between 1 and 1000000000, not 0",
		"gold:\n  included_minutes: -1\n":                         "included_minutes must be between 0 and 1000000000000, not -1",
		"gold:\n  max_participants: many\n":                       "line 2",
		"gold:\n  max_participants: 5\n  max_participants: 5\n":   "already",
		"gold:\n  max_participants: 5\ngold:\n  room_duration: 5": "already",
		"Gold: {}\n":     `plan "Gold": the name must be 1 to 64 lower-case letters, digits, - and _`,
		"- gold\n":       "line 1",
		"a: {}\n---\nb:": "more than one YAML document",
	} {
		_, err := write(text).Plans()
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "--plans-file (PARLEY_PLANS_FILE) ") {
			t.Errorf("%q: got error %v, want %q", text, err, want)
		}
	}
	if _, err := (&Config{PlansFile: filepath.Join(t.TempDir(), "none")}).Plans(); err == nil {
		t.Error("a missing file: got no error, want one")
	}
}
