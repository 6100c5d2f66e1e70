package config

import "strings"

// maxTypingErrors is the number of letters by which a mistyped name differs from the one that is suggested.
const maxTypingErrors = 2

// suggestKey returns the key of the file that a name probably stands for, as in `, did you mean "listen"?`, or "".
func suggestKey(name string, known map[string]setting) string {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	name = strings.TrimPrefix(name, strings.ToLower(envPrefix))
	best, errors := "", maxTypingErrors+1
	for key := range known {
		if n := editDistance(name, key); n < errors || n == errors && key < best {
			best, errors = key, n
		}
	}
	if errors > maxTypingErrors {
		return ""
	}
	return `, did you mean "` + best + `"?`
}

// editDistance returns the number of bytes to insert, delete or replace in a, so that it is b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances between the part of a that was read and each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
