package validate

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"parley/internal/fault"
)

func TestName(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"Amina", "7", "?", "é", "e\u0301", "李雷", "\u202fA", // letters, numbers, punctuation
		"علی\u200cرضا", "क्\u200dष", "\u200fשלום\u200e", "\u061cA", "\u0600\u0661", // what scripts need
		"👩\u200d👩\u200d👧", "❤\ufe0f", "🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", "\U0001FAE8", // emoji
	} {
		if err := Name("name", good, 1, 255); err != nil {
			t.Errorf("Name(%q): got error %v, want none", good, err)
		}
	}
	const noVisible = "name must contain at least one visible character"
	hidden := func(code string) string { return "name must not contain the invisible character U+" + code }
	for bad, want := range map[string]string{
		"":                 "name must have 1 to 255 characters and not be blank",
		"\u3164":           noVisible,
		"\u2800":           noVisible,
		"\u115f\u1160":     noVisible,
		"\u200d":           noVisible,
		"\u200e \u200f":    noVisible,
		"\ufe0f":           noVisible,
		"\u034f":           noVisible,
		"\u0301":           noVisible,
		"\u200b":           hidden("200B"),
		"A\u200b":          hidden("200B"),
		"\u00ad":           hidden("00AD"),
		"\u2066":           hidden("2066"),
		"\u202e\u202dHost": hidden("202E"),
		"Host\u2069":       hidden("2069"),
		"A\ufeff":          hidden("FEFF"),
		"A\u2060":          hidden("2060"),
		"A\u2028B":         hidden("2028"),
		"A\U000E0067":      hidden("E0067"),
	} {
		if err := Name("name", bad, 1, 255); !fault.Is(err, fault.Invalid) || err.Error() != want {
			t.Errorf("Name(%q): got %v, want %s", bad, err, want)
		}
	}
	if err := Name("title", "", 0, 255); err != nil {
		t.Errorf("an empty optional title: got error %v, want none", err)
	}
}

// A valid name has a visible character and no override of the direction.
func TestCleanName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ana":                           "Ana",
		" \ufeffAna\u200b Lima\u00ad\n": "Ana Lima",
		"Ana\tLima\u2028Ruiz\x1b":       "Ana Lima Ruiz",
		"\u202eAna\u2069":               "Ana",
		"علی\u200cرضا":                  "علی\u200cرضا",
		"👩\u200d👩\u200d👧":               "👩\u200d👩\u200d👧",
		"🏴\U000E0067\u200b\U000E007FA":  "🏴\U000E0067\U000E007FA",
		"A\U000E0067":                   "A",
		"\u200b\n":                      "",
		"\xff\u200b":                    "\xff\u200b",
	} {
		got := CleanName(text)
		if got != want {
			t.Errorf("CleanName(%q): got %q, want %q", text, got, want)
		}
		if err := Name("name", got, 0, 255); err != nil && got[0] != 0xff {
			t.Errorf("Name(CleanName(%q)): got error %v, want none", text, err)
		}
	}
}

func FuzzName(f *testing.F) {
	for _, seed := range []string{"Amina", "\u202eevil", "\u3164", "👩\u200d👧", "علی\u200cرضا"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) && Name("name", CleanName(text), 0, len(text)) != nil {
			t.Errorf("Name(CleanName(%q)): got an error, want none", text)
		}
		if Name("name", text, 1, 255) != nil {
			return
		}
		shown := false
		for _, c := range text {
			if c >= 0x202A && c <= 0x202E || c >= 0x2066 && c <= 0x2069 || unicode.IsControl(c) {
				t.Errorf("Name(%q): got no error, want one, because of the character U+%04X", text, c)
			}
			ignorable := unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c)
			assigned := unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
			shown = shown || unicode.IsGraphic(c) && !unicode.IsSpace(c) && !ignorable ||
				unicode.In(c, unicode.Cf, unicode.Co) || !assigned
		}
		if !shown {
			t.Errorf("Name(%q): got no error, want one, because no character is visible", text)
		}
	})
}
