package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"parley/internal/validate"
)

// Plan is one plan of the file that --plans-file names. A field that the file
// omits is nil, which means the technical limit.
type Plan struct {
	Name            string `yaml:"-"`
	MaxParticipants *int   `yaml:"max_participants"`
	RoomDuration    *int   `yaml:"room_duration"` // minutes
	BreakoutRooms   *int   `yaml:"breakout_rooms"`
	IncludedMinutes *int64 `yaml:"included_minutes"` // per month
	// How many a project may make on one day in UTC; nil is any number.
	RoomsPerDay      *int `yaml:"rooms_per_day"`
	LinksPerDay      *int `yaml:"links_per_day"`
	JoinEventsPerDay *int `yaml:"join_events_per_day"`
}

// maxPerDay is far above what the limit of calls a second allows.
const maxPerDay = 1_000_000_000

// maxIncludedMinutes is about 1.9 million years of one participant.
const maxIncludedMinutes = 1_000_000_000_000

// Plans returns the plans of the plans file, sorted by name; none without a file.
// Errors name the file, the plan and the bound.
func (c *Config) Plans() ([]Plan, error) {
	if c.PlansFile == "" {
		return nil, nil
	}
	f, err := os.Open(c.PlansFile)
	if err != nil {
		return nil, settingError("plans-file", "cannot be opened: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, settingError("plans-file", "cannot be read: %w", err)
	}
	if len(data) > maxFileSize {
		return nil, settingError("plans-file", "%s is larger than 1 MiB", c.PlansFile)
	}
	plans, err := parsePlans(data)
	if err != nil {
		return nil, settingError("plans-file", "%s: %w", c.PlansFile, err)
	}
	return plans, nil
}

// parsePlans parses a YAML document that maps the names of plans to their limits.
// Unknown and duplicate keys are errors.
func parsePlans(data []byte) ([]Plan, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	var named map[string]Plan
	if err := decoder.Decode(&named); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("contains more than one YAML document")
	}
	plans := make([]Plan, 0, len(named))
	for name, p := range named {
		p.Name = name
		if err := p.validate(); err != nil {
			return nil, fmt.Errorf("plan %q: %w", name, err)
		}
		plans = append(plans, p)
	}
	slices.SortFunc(plans, func(a, b Plan) int { return strings.Compare(a.Name, b.Name) })
	return plans, nil
}

func (p Plan) validate() error {
	if p.Name == "" || len(p.Name) > 64 || strings.Trim(p.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return errors.New("the name must be 1 to 64 lower-case letters, digits, - and _")
	}
	for _, f := range []struct {
		key      string
		value    *int
		min, max int
	}{
		{"max_participants", p.MaxParticipants, 1, validate.MaxParticipants},
		{"room_duration", p.RoomDuration, 1, validate.MaxRoomDuration},
		{"breakout_rooms", p.BreakoutRooms, 0, validate.MaxBreakoutRooms},
		{"rooms_per_day", p.RoomsPerDay, 1, maxPerDay},
		{"links_per_day", p.LinksPerDay, 1, maxPerDay},
		{"join_events_per_day", p.JoinEventsPerDay, 1, maxPerDay},
	} {
		if f.value != nil && (*f.value < f.min || *f.value > f.max) {
			return fmt.Errorf("%s must be between %d and %d, not %d", f.key, f.min, f.max, *f.value)
		}
	}
	if n := p.IncludedMinutes; n != nil && (*n < 0 || *n > maxIncludedMinutes) {
		return fmt.Errorf("included_minutes must be between 0 and %d, not %d", int64(maxIncludedMinutes), *n)
	}
	return nil
}
