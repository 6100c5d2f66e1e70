// Package shell quotes the arguments of the commands that Parley prints for people to run.
package shell

import "strings"

// unquoted are the characters that have no special meaning anywhere in an argument. Not ~, which is a home directory at
// the start.
const unquoted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// Quote returns text as one word of a POSIX shell, with single quotes only where they are needed.
func Quote(text string) string {
	if text != "" && strings.Trim(text, unquoted) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
