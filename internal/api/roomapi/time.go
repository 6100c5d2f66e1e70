package roomapi

import "parley/internal/api/httpx"

// Time is a time in the responses of the companion routes.
type Time = httpx.Time
