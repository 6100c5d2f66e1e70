package room

import "context"

// Sweep does once what Run does every second.
func (s *Service) Sweep(ctx context.Context) {
	s.sweep(ctx)
	s.forgetStale(ctx)
	s.closeSessions(ctx)
}

// Reconcile does once what Run does every ten seconds.
func (s *Service) Reconcile(ctx context.Context) { s.reconcile(ctx) }

// The lengths of a wait, for the model.
const (
	QuickWait     = quickWait
	ReserveFor    = reserveFor
	ConnectWithin = connectWithin
	RenewBefore   = renewBefore
	ReturnWithin  = returnWithin
	KnockKept     = knockKept
	OutFor        = outFor
	MaxWaiting    = maxWaiting
)

// Beat and Watch do once what Run does every second where there may be others.
func (s *Service) Beat(ctx context.Context)  { s.beat(ctx) }
func (s *Service) Watch(ctx context.Context) { s.watch(ctx) }

// LostAfter is how long a node may be silent.
const LostAfter = lostAfter

// Turns is what lets one at a time tell a room's pages.
type Turns struct{ turns }

func (t *Turns) Take(roomID string) (give func()) { return t.take(roomID) }

// Kept is of how many rooms something is remembered.
func (t *Turns) Kept() int { return len(t.rooms) }
