package validate

import "strings"

// ParseUUID returns the canonical form of a UUID, which has small letters (RFC 9562, section 4), and any other text
// unchanged. Some databases print UUIDs in capital letters.
func ParseUUID(text string) (canonical string, ok bool) {
	if len(text) != 36 {
		return text, false
	}
	for i := range len(text) {
		c := text[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
		if dash != (c == '-') || !dash && !hex {
			return text, false
		}
	}
	return strings.ToLower(text), true
}
