package manage

import (
	"time"

	"parley/internal/api/httpx"
)

// Time is a time in the responses.
type Time = httpx.Time

// NewTime returns a time for a response.
func NewTime(t time.Time) Time { return Time{Time: t} }
