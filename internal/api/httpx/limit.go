package httpx

import "parley/internal/fault"

// ParseLimit parses the page size of a list, in ASCII digits. A value above
// maximum counts as maximum. The error is Invalid.
func ParseLimit(text string, maximum int) (int, error) {
	n := 0
	for i := range len(text) {
		digit := text[i] - '0'
		if digit > 9 {
			n = 0
			break
		}
		n = min(10*n+int(digit), maximum)
	}
	if n == 0 {
		return 0, fault.Invalidf("limit must be a whole number of at least 1, in digits; more than %d means %d",
			maximum, maximum)
	}
	return n, nil
}
