package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"parley.example/client/sign"
)

type verifyCommand struct {
	credentials
	Signature string `arg:"" help:"Value of the header hash-signature."`
	message
	Text string `help:"Text that the client signed, or @FILE, to show where it differs."`
	JSON bool   `name:"json" help:"JSON output."`
}

// difference is a part of the signed text with a wrong value.
type difference struct {
	Part     int    `json:"part"`
	Name     string `json:"name"`
	Expected string `json:"expected"`
	Given    string `json:"given"`
	At       int    `json:"at"` // position of the first different character, from 1
}

// verification is the result of checking a signature.
type verification struct {
	Valid       bool         `json:"valid"`
	Remark      string       `json:"remark,omitempty"` // where servers refuse the valid signature
	Profile     string       `json:"profile"`
	Key         string       `json:"key"`
	Parts       []part       `json:"parts"`
	Expected    string       `json:"expected_signature"`
	Hints       []hint       `json:"slips"`
	Differences []difference `json:"differences"`
	Timestamp   string       `json:"timestamp,omitempty"` // fresh, behind, ahead or malformed
	SkewSeconds int64        `json:"skew_seconds,omitempty"`

	text             signedText
	signatureMatches bool // the signature is correct, whether or not the timestamp is
}

var errInvalidSignature = errors.New("a server would refuse this signature")

// Run checks the signature and prints the result.
func (c verifyCommand) Run(s *streams) error {
	if err := c.applyQuickstart(false); err != nil {
		return err
	}
	given, err := readBody(c.Text)
	if err != nil {
		return err
	}
	if usesV5Profile(c.Target) && c.Timestamp == "" {
		return usageError{errors.New("this route needs --timestamp, the header that was sent with the signature")}
	}
	v, err := c.verify(string(given), time.Now())
	if err != nil {
		return err
	}
	c.warnUnsignedKey(s.err)
	if c.JSON {
		err = printJSON(s.out, v)
	} else {
		v.print(s)
	}
	if err == nil && !v.Valid {
		return errInvalidSignature
	}
	return err
}

func (c verifyCommand) verify(given string, now time.Time) (verification, error) {
	t, err := c.buildSignedText(c.credentials)
	if err != nil {
		return verification{}, err
	}
	signer := t.keys[0]
	v := verification{
		Profile:     t.Profile,
		Key:         signer.name,
		Parts:       t.Parts,
		Expected:    t.signature(),
		Hints:       []hint{},
		Differences: []difference{},
		text:        t,
	}
	for _, k := range t.keys {
		if t.verify(k.value, c.Signature) {
			v.signatureMatches, v.Key, v.Remark = true, k.name, k.remark
			break
		}
	}
	v.Valid = v.signatureMatches
	if t.usesV5 {
		check := sign.CheckTimestamp(c.Timestamp, now, sign.DefaultSkew)
		v.Timestamp, v.SkewSeconds = check.Freshness.String(), check.SkewSeconds
		if check.Milliseconds {
			v.Hints = append(v.Hints, hintMilliseconds)
		}
		v.Valid = v.Valid && check.Freshness != sign.Malformed && !check.Milliseconds
	}
	if !v.signatureMatches {
		v.Hints = append(v.Hints, findHints(t, c, given)...)
	}
	if given != "" {
		v.Differences = differences(t, given)
	}
	return v, nil
}

// differences compares the text that the client signed with the correct text, part
// by part.
func differences(t signedText, given string) []difference {
	lines := strings.SplitN(given, "\n", len(t.Parts))
	all := []difference{}
	for i, p := range t.Parts {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		if line != p.Value {
			all = append(all, difference{
				Part:     i + 1,
				Name:     p.Name,
				Expected: p.Value,
				Given:    line,
				At:       firstDifference(p.Value, line),
			})
		}
	}
	// The line feeds before empty parts at the end may be missing.
	if right := joinParts(t.Parts); len(all) == 0 && given != right {
		all = append(all, difference{Part: len(lines) + 1, Name: "the line feeds before it",
			Expected: strings.TrimPrefix(right, given), At: 1})
	}
	return all
}

func firstDifference(a, b string) int {
	x, y := []rune(a), []rune(b)
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return i + 1
		}
	}
	return len(x) + 1
}

func (v verification) print(s *streams) {
	v.text.print(s.out)
	if v.Valid {
		fmt.Fprintf(s.out, "The signature is valid: it was made with %s over this text.\n", v.Key)
		if v.Remark != "" {
			fmt.Fprintln(s.out, v.Remark)
		}
	} else if v.signatureMatches {
		fmt.Fprintln(s.out, "The signature matches this text, but servers refuse its timestamp.")
	} else {
		fmt.Fprintf(s.out, "The signature is invalid. The signature with %s is\n  %s\n", v.Key, v.Expected)
	}
	for _, d := range v.Differences {
		fmt.Fprintf(s.out, "\nPart %d, %s, differs from character %d on:\n  expected  %s\n  given     %s\n",
			d.Part, d.Name, d.At, escapeInvisible(d.Expected), escapeInvisible(d.Given))
	}
	if len(v.Hints) > 0 {
		fmt.Fprintln(s.out, "\nReason:")
		for _, h := range v.Hints {
			fmt.Fprintf(s.out, "  - %s\n", h.Message)
		}
	} else if !v.Valid && len(v.Differences) == 0 {
		fmt.Fprintln(s.out, "\nNo common mistake explains it. Compare the key, "+
			"and use --text with the text that was signed to see where it differs.")
	}
	switch v.Timestamp {
	case sign.Malformed.String():
		fmt.Fprintln(s.out, "\nThe timestamp is not a number of seconds: a server refuses it.")
	case sign.Behind.String():
		fmt.Fprintf(s.out, "\nThe timestamp is %d s behind this clock: a server refuses it now.\n", -v.SkewSeconds)
	case sign.Ahead.String():
		fmt.Fprintf(s.out, "\nThe timestamp is %d s ahead of this clock: a server refuses it now.\n", v.SkewSeconds)
		if v.SkewSeconds > firstMilliseconds {
			fmt.Fprintln(s.out, "It is probably in milliseconds: sign and send Unix time in seconds.")
		}
	}
}
