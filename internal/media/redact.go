package media

import (
	"regexp"
	"strings"
)

// What must not reach a log line, whoever wrote it: tokens open sessions, and
// the passwords in session descriptions open the media stream of one person.
var (
	tokenPattern = regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`)
	queryPattern = regexp.MustCompile(`(access_token=)[^&\s"'\\]+`)
	icePattern   = regexp.MustCompile(`(ice-pwd:)[^\s"'\\]+`)
)

// redact takes secrets out of a text that is about to be logged. The signing
// secret is given because nothing about its form would give it away.
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
