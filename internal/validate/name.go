package validate

import (
	"strings"
	"unicode"

	"parley/internal/fault"
)

// Name holds a text that people are shown as a name or a title: it is as Text,
// has at least one visible character, and none that turns the direction of
// writing or is there to be unseen. Joiners, which Persian, Indic names and
// emoji need, and direction marks pass.
func Name(name, text string, low, high int) error {
	if err := Text(name, text, low, high, false); err != nil {
		return err
	}
	visible, before := false, rune(0)
	for _, c := range text {
		if isInvisibleFormat(c) && !(isTag(c) && (before == blackFlag || isTag(before))) {
			return fault.Invalidf("%s must not contain the invisible character U+%04X", name, c)
		}
		visible = visible || isVisible(c)
		before = c
	}
	if low > 0 && !visible {
		return fault.Invalidf("%s must contain at least one visible character", name)
	}
	return nil
}

// blackFlag begins the flags of regions, which continue with tag characters.
const blackFlag = '\U0001F3F4'

func isTag(c rune) bool { return c >= 0xE0020 && c <= 0xE007F }

// allowedFormats are format characters (Cf) that names are written with: the
// joiners, the direction marks, and the Arabic, Syriac and Kaithi signs, which
// are visible.
const allowedFormats = "\u200c\u200d\u200e\u200f\u061c"

// isInvisibleFormat reports a character that no name needs.
func isInvisibleFormat(c rune) bool {
	switch {
	case c == '\u2028', c == '\u2029':
		return true
	case !unicode.Is(unicode.Cf, c):
		return false
	}
	return !strings.ContainsRune(allowedFormats, c) && !unicode.Is(unicode.Prepended_Concatenation_Mark, c)
}

// isVisible reports a character that can be seen by itself.
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
