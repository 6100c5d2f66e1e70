package room

import "context"

// Sweep does once what Run does every second.
func (s *Service) Sweep(ctx context.Context) {
	s.sweep(ctx)
	s.deleteStaleKnocks(ctx)
	s.closeSessions(ctx)
}

// Reconcile does once what Run does every ten seconds.
func (s *Service) Reconcile(ctx context.Context) { s.reconcile(ctx) }

// The lengths of a wait, for the model.
const (
	QuickRoomMinWait = quickRoomMinWait
	RejoinTimeout    = rejoinTimeout
	ConnectTimeout   = connectTimeout
	RenewalWindow    = renewalWindow
	ReconnectTimeout = reconnectTimeout
	KnockTTL         = knockTTL
	KnockDenialTTL   = knockDenialTTL
	MaxWaiting       = maxWaiting
)

// Heartbeat and Watch do once what Run does every second where there may be others.
func (s *Service) Heartbeat(ctx context.Context)  { s.heartbeat(ctx) }
func (s *Service) WatchNodes(ctx context.Context) { s.watchNodes(ctx) }

// NodeTimeout is how long a node may be silent.
const NodeTimeout = nodeTimeout

// KeyedMutex is what lets one at a time tell a room's pages.
type KeyedMutex struct{ keyedMutex }

func (t *KeyedMutex) Lock(roomID string) (give func()) { return t.lock(roomID) }

// Len is of how many rooms something is remembered.
func (t *KeyedMutex) Len() int { return len(t.entries) }
