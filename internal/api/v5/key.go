package v5

import (
	"encoding/json"
	"strconv"
	"time"

	"parley.example/client/sign"
	"parley/internal/key"
)

// getKeys returns the live keys of the project. It is the most frequent call, so it reads from memory. The JSON of
// keys, limits and usage is encoded by hand, because encoding/json takes a tenth of the time of such a call.
func (s *Server) getKeys(c *call) ([]byte, error) {
	var keys Keys
	for _, k := range c.keyring.Keys() {
		switch {
		case k.Slot == key.Current:
			_, last, err := s.keyUsage(c, k)
			if err != nil {
				return nil, err
			}
			keys.Current = CurrentKey{
				Id:             k.ID,
				ApiKey:         k.Masked(),
				Status:         Active,
				SigningProfile: sign.Profile,
				CreatedAt:      Time(k.CreatedAt),
				LastUsedAt:     timeOrNil(last),
			}
		case k.Live(c.receivedAt):
			n, last, err := s.keyUsage(c, k)
			if err != nil {
				return nil, err
			}
			keys.Overlap = &OverlapKey{
				Id:                    k.ID,
				ApiKey:                k.Masked(),
				Status:                Retiring,
				RetiringSince:         Time(k.RetiringSince),
				OverlapEndsAt:         Time(k.OverlapEndsAt),
				LastUsedAt:            timeOrNil(last),
				RequestsSinceRotation: n,
			}
		}
	}
	return c.setBody(func(b []byte) []byte { return appendKeys(b, keys) }), nil
}

// keyUsage returns the number of calls with a key in its slot, and the time of the
// last call in any slot.
func (s *Server) keyUsage(c *call, k key.APIKey) (int64, time.Time, error) {
	if k.ID == c.key.ID && k.Slot == key.Current {
		return 0, c.receivedAt, nil // last used by this call
	}
	n, last, err := s.counts.Count(&c.timeout, k.ID, string(k.Slot))
	if err != nil || k.Slot == key.Current || !last.IsZero() {
		return n, last, err
	}
	_, last, err = s.counts.Count(&c.timeout, k.ID, string(key.Current))
	return n, last, err
}

// appendKeys appends the JSON of KeysResponse, in the form of encoding/json.
func appendKeys(b []byte, k Keys) []byte {
	b = appendText(append(b, `{"data":{"current":{"api_key":`...), k.Current.ApiKey)
	b = k.Current.CreatedAt.appendJSON(append(b, `,"created_at":`...))
	b = appendText(append(b, `,"id":`...), k.Current.Id)
	b = appendTime(append(b, `,"last_used_at":`...), k.Current.LastUsedAt)
	b = appendText(append(b, `,"signing_profile":`...), string(k.Current.SigningProfile))
	b = appendText(append(b, `,"status":`...), string(k.Current.Status))
	b = append(b, `},"overlap":`...)
	if o := k.Overlap; o == nil {
		b = append(b, "null"...)
	} else {
		b = appendText(append(b, `{"api_key":`...), o.ApiKey)
		b = appendText(append(b, `,"id":`...), o.Id)
		b = appendTime(append(b, `,"last_used_at":`...), o.LastUsedAt)
		b = o.OverlapEndsAt.appendJSON(append(b, `,"overlap_ends_at":`...))
		b = strconv.AppendInt(append(b, `,"requests_since_rotation":`...), o.RequestsSinceRotation, 10)
		b = o.RetiringSince.appendJSON(append(b, `,"retiring_since":`...))
		b = appendText(append(b, `,"status":`...), string(o.Status))
		b = append(b, '}')
	}
	return append(b, "}}"...)
}

func appendTime(b []byte, t *Time) []byte {
	if t == nil {
		return append(b, "null"...)
	}
	return t.appendJSON(b)
}

// appendText appends a JSON string. encoding/json encodes a text that needs
// escapes.
func appendText(b []byte, text string) []byte {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == '\u2028' || c == '\u2029' ||
			c == '\uFFFD' {
			quoted, err := json.Marshal(text)
			if err != nil {
				panic(err) // unreachable because every string can be encoded
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
