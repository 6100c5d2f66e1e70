package main

import (
	"strings"
	"testing"
)

func TestFindNotes(t *testing.T) {
	const changelog = `# Changelog

## [Unreleased]

## [1.10.0] - 2026-12-01

### Added

- Backups.

## [1.1.0] - 2026-11-01

- Rooms.

## [1.0.0] - 2026-10-01
`
	for section, want := range map[string]string{
		"1.10.0":     "### Added\n\n- Backups.\n",
		"1.1.0":      "- Rooms.\n",
		"1.1":        "error: CHANGELOG.md has no section [1.1]",
		"2.0.0":      "error: CHANGELOG.md has no section [2.0.0]",
		"1.0.0":      "error: the section [1.0.0] of CHANGELOG.md is empty",
		"Unreleased": "No changes since the last release.\n",
	} {
		got, err := findNotes(changelog, section)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want && (err == nil || !strings.HasPrefix(got, want)) {
			t.Errorf("notes of %s: got %q, want %q", section, got, want)
		}
	}
}
