package requestlog

// Filter selects calls. The zero value selects all calls.
type Filter struct {
	// These are nil for all calls. An empty text selects the calls without the property.
	RequestID, Cause     *string
	KeySlot              *string // of Call.KeySlot or Call.SignerSlot
	Route                *string // path with the names of its parameters
	MinStatus, MaxStatus int     // bounds of the status, both included; 0 for no bound
	// Backend leaves out the calls of the management API, so that those of Totals remain.
	Backend bool
	// ManagementToken is the ID of a management token. If it is not empty, the calls of the
	// management API that were made with other tokens are left out.
	ManagementToken string
}

// onlyRejected reports whether f selects no accepted call.
func (f Filter) onlyRejected() bool {
	return f.MinStatus >= minRejected || f.Cause != nil && *f.Cause != ""
}

// Matches reports whether f selects a call.
func (f Filter) Matches(c *Call) bool {
	same := func(wanted *string, value string) bool { return wanted == nil || *wanted == value }
	sameSlot := same(f.KeySlot, c.KeySlot) || c.SignerSlot != "" && same(f.KeySlot, c.SignerSlot)
	return same(f.RequestID, c.RequestID) && same(f.Cause, c.Cause) && sameSlot &&
		same(f.Route, c.RouteOrPath()) && c.Status >= f.MinStatus && (f.MaxStatus == 0 || c.Status <= f.MaxStatus) &&
		(!f.Backend || c.API != ManagementAPI) &&
		(f.ManagementToken == "" || c.API != ManagementAPI || c.TokenID == f.ManagementToken)
}
