package room

import "context"

// Sweep runs once the work that Run does every second.
func (s *Service) Sweep(ctx context.Context) {
	_ = s.sweep(ctx) // which logs its errors
	s.deleteStaleKnocks(ctx)
	s.closeSessions(ctx)
}

// Reconcile runs once the reconciliation that Run does every ten seconds.
func (s *Service) Reconcile(ctx context.Context) { s.reconcile(ctx) }

// Recheck runs once the second look that Run takes every second, if it is due.
func (s *Service) Recheck(ctx context.Context) { s.recheck(ctx) }

// SimulatedConnections returns the number of connections of simulated participants that the process remembers.
func (s *Service) SimulatedConnections() int {
	s.Simulator.simulations.mu.Lock()
	defer s.Simulator.simulations.mu.Unlock()
	return len(s.Simulator.simulations.connections)
}

// EnforcePlacement runs once the placement that Run enforces every second.
func (s *Service) EnforcePlacement(ctx context.Context) { s.enforcePlacement(ctx) }

// Constants for the models of the tests.
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

// Heartbeat and WatchNodes run once the work that Run does every second in a cluster.
func (s *Service) Heartbeat(ctx context.Context)  { s.heartbeat(ctx) }
func (s *Service) WatchNodes(ctx context.Context) { s.watchNodes(ctx) }

// HandOver runs once what Run does every second while this node is draining.
func (s *Service) HandOver(ctx context.Context) { s.handOver(ctx) }

// EndRelays runs once what Run also does every second then.
func (s *Service) EndRelays(ctx context.Context) { s.endRelays(ctx) }

// RelayDelay is the time after which a node that is draining ends its first relay.
const RelayDelay = relayDelay

// DrainBatch exports drainBatch.
var DrainBatch = drainBatch

// RecheckDelay is the time from a reconciliation until the second look.
const RecheckDelay = recheckDelay

// NodeTimeout is the time without a heartbeat after which a node is lost.
const NodeTimeout = nodeTimeout

// KeyedMutex exports keyedMutex.
type KeyedMutex struct{ keyedMutex }

func (m *KeyedMutex) Lock(roomID string) (unlock func()) { return m.lock(roomID) }

// Len returns the number of rooms with a holder or a waiter.
func (m *KeyedMutex) Len() int { return len(m.entries) }
