package requestlog

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxCallerText is the maximum length in bytes of a path, recorded or in the access log, and of
// a recorded User-Agent. It limits the memory of the calls that wait to be written.
const MaxCallerText = 255

// credential matches the beginning of a key, a secret or a token, but not "script_".
var credential = regexp.MustCompile(`(^|[^A-Za-z0-9])(pk|gs|whsec|pt)_`)

// mayBeCredential are texts of which credential matches one. To look for them takes less time.
var mayBeCredential = []string{"pk_", "gs_", "whsec_", "pt_"}

// Sanitize returns a text of the caller that can be stored and logged: valid UTF-8 without NUL, of at
// most MaxCallerText bytes, or "[secret]" if it seems to contain a credential.
func Sanitize(text string) string {
	if text == "" {
		return ""
	}
	contained := func(part string) bool { return strings.Contains(text, part) }
	if slices.ContainsFunc(mayBeCredential, contained) && credential.MatchString(text) {
		return "[secret]"
	}
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > MaxCallerText {
		text = text[:MaxCallerText]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
	}
	return text
}
