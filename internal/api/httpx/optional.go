package httpx

import "time"

// OrNil returns a pointer to a value, or nil for the zero value, for an optional field of a
// response.
func OrNil[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// TimeOrNil is OrNil for a time, which it returns in UTC.
func TimeOrNil(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

// OrZero returns the value of an optional field of a request, or the zero value for nil.
func OrZero[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
