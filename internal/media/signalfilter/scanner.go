package signalfilter

import (
	"github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parley/internal/refusal"
)

// MaxFields bounds the fields of one encoded message, counted in all the
// messages inside it. LiveKit parses a message before it can be checked, and an
// empty message of two bytes becomes a structure of some hundred: 1 MB of them
// became 295 MB of memory. Not bounded in any version of LiveKit. A subscription
// to MaxTracks tracks is the largest request of livekit-client.
const MaxFields = 10_000

// Scanner counts the fields of an encoded message while its bytes arrive, so that
// a message with too many of them is refused before anybody parses it. It keeps
// no bytes.
type Scanner struct {
	message   protoreflect.MessageDescriptor
	enclosing []enclosing
	position  int // in bytes
	fields    int

	expect expectation
	number uint64 // the varint that is being read
	shift  uint
	field  protoreflect.FieldDescriptor // whose length is expected; nil if unknown
	skip   int                          // bytes of a value that are still to come
}

// enclosing is a message inside the message.
type enclosing struct {
	descriptor protoreflect.MessageDescriptor
	end        int // its position, in bytes
}

type expectation uint8

const (
	expectTag expectation = iota
	expectVarint
	expectLength
)

// NewScanner returns a scan of one encoded livekit.SignalRequest.
func NewScanner() *Scanner { return newScanner(&livekit.SignalRequest{}) }

func newScanner(m proto.Message) *Scanner { return &Scanner{message: m.ProtoReflect().Descriptor()} }

// Write reads the next bytes of the message. The scan must not be used after a
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
		s.number |= uint64(next&0x7f) << s.shift
		s.shift += 7
		if next&0x80 != 0 {
			continue
		}
		number := s.number
		s.number, s.shift = 0, 0
		if r := s.readVarint(number); r != nil {
			return r
		}
	}
	return nil
}

// readVarint takes a varint that is complete.
func (s *Scanner) readVarint(number uint64) *Refusal {
	switch s.expect {
	case expectTag:
		return s.beginField(number)
	case expectVarint:
		s.expect = expectTag
	case expectLength:
		s.expect = expectTag
		if number > MaxDescriptionBytes {
			return malformedMessage()
		}
		if s.field == nil || s.field.Message() == nil {
			s.skip = int(number)
			return nil
		}
		s.enclosing = append(s.enclosing, enclosing{s.field.Message(), s.position + int(number)})
	}
	return nil
}

// beginField begins a field.
func (s *Scanner) beginField(number uint64) *Refusal {
	if s.fields++; s.fields > MaxFields {
		return refuse(refusal.SignalRequest, "a message of more than %d fields", MaxFields)
	}
	// The tag itself is inside the message that it belongs to.
	for len(s.enclosing) > 0 && s.position > s.enclosing[len(s.enclosing)-1].end {
		s.enclosing = s.enclosing[:len(s.enclosing)-1]
	}
	if len(s.enclosing) > maxDepth {
		return refuse(refusal.SignalRequest, "a message of more than %d levels", maxDepth)
	}
	field, kind := protowire.DecodeTag(number)
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
	default: // groups, which no message of LiveKit has
		return malformedMessage()
	}
	return nil
}

// maxDepth bounds how deep messages are inside each other. LiveKit's are less
// than ten deep.
const maxDepth = 50

func malformedMessage() *Refusal {
	return refuse(refusal.SignalRequest, "a message that is not encoded as it should be")
}
