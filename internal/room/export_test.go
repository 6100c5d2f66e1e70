package room

import "context"

// Sweep does once what Run does every second.
func (s *Service) Sweep(ctx context.Context) {
	s.sweep(ctx)
	s.closeSessions(ctx)
}

// Reconcile does once what Run does every ten seconds.
func (s *Service) Reconcile(ctx context.Context) { s.reconcile(ctx) }

// The lengths of a wait, for the model.
const (
	QuickWait    = quickWait
	ReserveFor   = reserveFor
	ReturnWithin = returnWithin
)
