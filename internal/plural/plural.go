// Package plural writes numbers with their nouns in messages to people.
package plural

import "strconv"

// Count returns a number with the noun for it: "1 room", "2 rooms".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
