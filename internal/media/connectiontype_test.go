package media_test

import (
	"testing"

	"parley/internal/room"
)

func TestConnectionType(t *testing.T) {
	f := newFixture(t)
	f.openSession(t, "r.1", room.Video)
	f.join(t, "r.1", "ada", room.Video)
	for _, c := range []struct {
		session, identity string
		want              room.ConnectionType
	}{
		{"r.1", "ada", room.ConnectionUDP}, {"r.1", "ben", room.ConnectionUnknown}, {"r.2", "ada", room.ConnectionUnknown},
	} {
		if got := f.engine.ConnectionType(c.session, c.identity); got != c.want {
			t.Errorf("connection of %s in %s: got %q, want %q", c.identity, c.session, got, c.want)
		}
	}
	for identity, want := range map[string]room.ConnectionQuality{
		"ada": room.QualityExcellent, "ben": room.QualityUnknown,
	} {
		if got := f.engine.Quality("r.1", identity); got != want {
			t.Errorf("quality of %s: got %q, want %q", identity, got, want)
		}
	}
}
