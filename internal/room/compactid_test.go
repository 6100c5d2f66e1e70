package room_test

import (
	"encoding/binary"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"parley/internal/room"
)

// Compact IDs are different and in the order of their UUIDs.
func TestCompactID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		newUUID := func(name string) uuid.UUID {
			u := uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, name))
			u[6], u[8] = u[6]&0x0f|0x70, u[8]&0x3f|0x80
			return u
		}
		a, b := newUUID("a"), newUUID("b")
		short, other := room.CompactID(a.String()), room.CompactID(b.String())
		if len(short) != 20 {
			t.Errorf("%s: got %q, want 20 characters", a, short)
		}
		at := func(u uuid.UUID) uint64 { return binary.BigEndian.Uint64(u[:8]) }
		if at(a) < at(b) && short >= other {
			t.Errorf("%s and %s: got %s and %s, want them in the same order", a, b, short, other)
		}
		random := func(u uuid.UUID) uint64 { return binary.BigEndian.Uint64(u[8:]) & (1<<36 - 1) }
		if same := at(a) == at(b) && random(a) == random(b); same != (short == other) {
			t.Errorf("%s and %s: got %s and %s, want equal %t", a, b, short, other, same)
		}
	})
	for _, id := range []string{"", "node-1", "2f1c9a44-3b0e-4c67-9f0e-0d1f6c1f7b11"} {
		if got := room.CompactID(id); got != id {
			t.Errorf("%q: got %q, want it as it is", id, got)
		}
	}
}
