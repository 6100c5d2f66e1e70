package httpx

// OrNil returns a pointer to a value, or nil for the zero value, for an optional field of a
// response.
func OrNil[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// OrZero returns the value of an optional field of a request, or the zero value for nil.
func OrZero[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
