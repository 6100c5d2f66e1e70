package signalfilter

import (
	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parley/internal/refusal"
)

// MaxFields is the maximum number of fields of one encoded message, including the fields
// of nested messages. LiveKit parses a message before it can be checked. An empty nested
// message takes two bytes in the encoding and several hundred bytes of memory after parsing,
// so that 1 MB of such messages took 295 MB. No version of LiveKit limits this. The largest
// request of livekit-client is a subscription to MaxTracks tracks.
const MaxFields = 10_000

// Scanner counts the fields of an encoded message while its bytes arrive, so that a
// message with too many fields is refused before it is parsed. It does not keep the bytes.
type Scanner struct {
	message   protoreflect.MessageDescriptor
	enclosing []enclosing
	position  int // in bytes
	fields    int

	expect expectation
	value  uint64                       // of the varint, as far as it was read
	shift  uint                         // of the next byte of the varint, in bits
	field  protoreflect.FieldDescriptor // whose length comes next; nil if unknown
	skip   int                          // unread bytes of a value
}

// enclosing is a nested message that contains the current position.
type enclosing struct {
	descriptor protoreflect.MessageDescriptor
	end        int // position after its last byte
}

type expectation uint8

const (
	expectTag expectation = iota
	expectVarint
	expectLength
)

// NewScanner returns a scanner of one encoded livekit.SignalRequest.
func NewScanner() *Scanner { return newScanner(&livekit.SignalRequest{}) }

func newScanner(m proto.Message) *Scanner { return &Scanner{message: m.ProtoReflect().Descriptor()} }

// Write scans the next bytes of the message. The scanner must not be used after a
// refusal.
func (s *Scanner) Write(b []byte) *Refusal {
	for len(b) > 0 {
		if s.skip > 0 {
			n := min(s.skip, len(b))
			s.skip -= n
			s.position += n
			b = b[n:]
			continue
		}
		next := b[0]
		b = b[1:]
		s.position++
		if s.shift > 63 {
			return malformedMessage()
		}
		s.value |= uint64(next&0x7f) << s.shift
		s.shift += 7
		if next&0x80 != 0 {
			continue
		}
		value := s.value
		s.value, s.shift = 0, 0
		if r := s.readVarint(value); r != nil {
			return r
		}
	}
	return nil
}

// readVarint handles a complete varint.
func (s *Scanner) readVarint(value uint64) *Refusal {
	switch s.expect {
	case expectTag:
		return s.beginField(value)
	case expectVarint:
		s.expect = expectTag
	case expectLength:
		s.expect = expectTag
		if value > MaxDescriptionBytes {
			return malformedMessage()
		}
		if s.field == nil || s.field.Message() == nil {
			s.skip = int(value)
			return nil
		}
		s.enclosing = append(s.enclosing, enclosing{s.field.Message(), s.position + int(value)})
	}
	return nil
}

// beginField handles the tag of a field.
func (s *Scanner) beginField(value uint64) *Refusal {
	if s.fields++; s.fields > MaxFields {
		return refuse(refusal.SignalRequest, "a message of more than %d fields", MaxFields)
	}
	// The tag is inside the message to which its field belongs.
	for len(s.enclosing) > 0 && s.position > s.enclosing[len(s.enclosing)-1].end {
		s.enclosing = s.enclosing[:len(s.enclosing)-1]
	}
	if len(s.enclosing) > maxDepth {
		return refuse(refusal.SignalRequest, "a message of more than %d levels", maxDepth)
	}
	field, kind := protowire.DecodeTag(value)
	switch kind {
	case protowire.VarintType:
		s.expect = expectVarint
	case protowire.Fixed32Type:
		s.skip = 4
	case protowire.Fixed64Type:
		s.skip = 8
	case protowire.BytesType:
		in := s.message
		if n := len(s.enclosing); n > 0 {
			in = s.enclosing[n-1].descriptor
		}
		s.field = in.Fields().ByNumber(field)
		s.expect = expectLength
	default: // groups, which LiveKit's messages do not use
		return malformedMessage()
	}
	return nil
}

// maxDepth is the maximum depth of nested messages. LiveKit's messages have less than ten
// levels.
const maxDepth = 50

func malformedMessage() *Refusal {
	return refuse(refusal.SignalRequest, "a message that is not valid protobuf")
}
