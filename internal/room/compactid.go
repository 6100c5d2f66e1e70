package room

import (
	"encoding/base32"
	"encoding/hex"
	"strings"
)

var compactEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// CompactID returns an ID of 20 characters for a UUIDv7 (RFC 9562, section 5.7): its 48 bits of
// time, the 12 bits after the version, which order the IDs that a process makes in a
// millisecond, and 36 of its random bits. The order of the IDs stays the same. Any other ID is
// returned as it is. A connection stores the ID of its seat in four rows and two indexes, and
// those of its attendance and its node, so shorter IDs save much space.
func CompactID(id string) string {
	u, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(u) != 16 || u[6]>>4 != 7 {
		return id
	}
	var b [12]byte
	copy(b[:6], u[:6])
	b[6], b[7] = u[6]<<4|u[7]>>4, u[7]<<4|u[11]&0x0f // without the version
	copy(b[8:], u[12:])
	return compactEncoding.EncodeToString(b[:])
}
