package httpx

import "parley/internal/fault"

// ParseLimit reads how many of a list a page may hold, in digits; more than most
// means most.
func ParseLimit(text string, most int) (int, error) {
	n := 0
	for i := range len(text) {
		digit := text[i] - '0'
		if digit > 9 {
			n = 0
			break
		}
		n = min(10*n+int(digit), most)
	}
	if n == 0 {
		return 0, fault.Invalidf("limit must be a whole number of at least 1, in digits; more than %d means %d", most, most)
	}
	return n, nil
}
