package room

import "context"

// Live is how many rooms and people are live.
type Live struct {
	Rooms int // in which a session runs
	// People are the connections, without hidden ones, by how their media reached the server
	// when they joined.
	People map[ConnectionType]int
}

// Participants returns the number of the people.
func (l Live) Participants() int {
	all := 0
	for _, n := range l.People {
		all += n
	}
	return all
}

// Live returns what is live in a project, or in all projects for an empty ID.
func (s *Bookings) Live(ctx context.Context, projectID string) (Live, error) {
	return s.store.Live(ctx, projectID)
}
