// Package shell writes texts into the commands that Parley prints for people to run.
package shell

import "strings"

// safe are the characters that mean only themselves in every place of an argument.
const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// Quote returns text as one argument of a command in a POSIX shell, in quotes only if it needs them.
func Quote(text string) string {
	if text != "" && strings.Trim(text, safe) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
