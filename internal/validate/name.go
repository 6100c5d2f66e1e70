package validate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/internal/fault"
)

// Name returns an error unless text is valid as a displayed name or title. The
// rules are those of Text on one line. In addition, text must have a visible
// character unless low is zero, and must not have invisible characters or those
// that override the direction of writing. Direction marks are allowed, and so are
// joiners, because Persian and Indic names and emoji need them.
func Name(name, text string, low, high int) error {
	if err := Text(name, text, low, high, false); err != nil {
		return err
	}
	visible, before := false, rune(0)
	for _, c := range text {
		if isInvisibleFormat(c) && !(isTag(c) && (before == blackFlag || isTag(before))) {
			return fault.InvalidField(name, "must not contain the invisible character U+%04X", c)
		}
		visible = visible || isVisible(c)
		before = c
	}
	if low > 0 && !visible {
		return fault.InvalidField(name, "must contain at least one visible character")
	}
	return nil
}

// CleanName returns a name that a person typed or pasted without the characters that Name
// refuses and that nobody sees: line breaks and other control characters become spaces, and
// invisible characters are left out. Use it where a person, and not a program, chose the
// name, because they cannot find such a character.
func CleanName(text string) string {
	if !utf8.ValidString(text) {
		return text // Name refuses it
	}
	var b strings.Builder
	before := rune(0)
	for _, c := range text {
		switch {
		case unicode.IsControl(c), c == '\u2028', c == '\u2029':
			b.WriteByte(' ')
		case isInvisibleFormat(c) && !(isTag(c) && (before == blackFlag || isTag(before))):
			continue // before stays, as if the character were not there
		default:
			b.WriteRune(c)
		}
		before = c
	}
	return strings.TrimSpace(b.String())
}

// blackFlag starts the flag of a region, which tag characters continue.
const blackFlag = '\U0001F3F4'

func isTag(c rune) bool { return c >= 0xE0020 && c <= 0xE007F }

// allowedFormats are the format characters (Cf) that names need: the joiners and
// the direction marks. isInvisibleFormat also allows the Arabic, Syriac and Kaithi
// signs of this category, which are visible.
const allowedFormats = "\u200c\u200d\u200e\u200f\u061c"

// isInvisibleFormat reports whether c is a format character that no name needs.
func isInvisibleFormat(c rune) bool {
	switch {
	case c == '\u2028', c == '\u2029':
		return true
	case !unicode.Is(unicode.Cf, c):
		return false
	}
	return !strings.ContainsRune(allowedFormats, c) && !unicode.Is(unicode.Prepended_Concatenation_Mark, c)
}

// isVisible reports whether c is visible without other characters.
func isVisible(c rune) bool {
	switch {
	case unicode.Is(unicode.Prepended_Concatenation_Mark, c):
		return true
	case c == '\u2800': // the Braille pattern without dots
		return false
	case unicode.In(c, unicode.Z, unicode.C, unicode.M, unicode.Other_Default_Ignorable_Code_Point):
		return unicode.Is(unicode.Co, c)
	}
	return true
}
