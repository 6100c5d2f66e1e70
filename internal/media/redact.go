package media

import (
	"regexp"
	"strings"
)

// maxLogValue is the maximum length of one value in a log line, in bytes, because LiveKit logs
// whole session descriptions and packets of participants.
const maxLogValue = 1 << 10

// These patterns match secrets that must not be logged: tokens open sessions, and the
// passwords in session descriptions open the media stream of one participant.
var (
	tokenPattern = regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`)
	queryPattern = regexp.MustCompile(`(access_token=)[^&\s"'\\]+`)
	icePattern   = regexp.MustCompile(`(ice-pwd:)[^\s"'\\]+`)
)

// redact returns a text for the log without secrets. The signing secret is a parameter
// because no pattern can recognize it.
func redact(text, secret string) string {
	if secret != "" {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	if strings.Contains(text, "eyJ") {
		text = tokenPattern.ReplaceAllString(text, "[token]")
	}
	if strings.Contains(text, "access_token=") {
		text = queryPattern.ReplaceAllString(text, "$1[token]")
	}
	if strings.Contains(text, "ice-pwd:") {
		text = icePattern.ReplaceAllString(text, "$1[password]")
	}
	return text
}

// truncate returns the first maxLogValue bytes of text, with "…" if it is longer.
func truncate(text string) string {
	if len(text) <= maxLogValue {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogValue], "") + "…"
}
