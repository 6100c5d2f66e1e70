package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// unreleased is the section of CHANGELOG.md for what no release has yet.
const unreleased = "Unreleased"

// writeNotes writes the section of CHANGELOG.md about a version, which is the page of the release. It returns an error
// if there is none, so that nobody publishes a version without saying what has changed.
func writeNotes(source, out, version string, snapshot bool) error {
	changelog, err := os.ReadFile(filepath.Join(source, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	section := version
	if snapshot {
		section = unreleased
	}
	notes, err := findNotes(string(changelog), section)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("# Parley %s\n\n%s", version, notes)
	return os.WriteFile(filepath.Join(out, fmt.Sprintf("parley_%s_changes.md", version)), []byte(text), 0o644)
}

// findNotes returns the text of a section in the form of Keep a Changelog, whose heading is "## [1.2.0] - 2026-12-01"
// or "## [Unreleased]".
func findNotes(changelog, section string) (string, error) {
	var notes []string
	found := false
	for line := range strings.Lines(changelog) {
		if strings.HasPrefix(line, "## ") {
			if found {
				break
			}
			found = strings.HasPrefix(line, "## ["+section+"]")
			continue
		}
		if found {
			notes = append(notes, line)
		}
	}
	text := strings.TrimSpace(strings.Join(notes, ""))
	switch {
	case !found && section != unreleased:
		return "", fmt.Errorf("CHANGELOG.md has no section [%s]: rename the section [%s] to [%[1]s] - DATE, commit, and "+
			"tag the new commit", section, unreleased)
	case text == "" && section != unreleased:
		return "", fmt.Errorf("the section [%s] of CHANGELOG.md is empty: describe the changes there", section)
	case text == "":
		text = "No changes since the last release."
	}
	return text + "\n", nil
}
