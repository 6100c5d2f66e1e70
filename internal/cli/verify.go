package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/client/sign"
)

type verifyCommand struct {
	credentials
	Signature string `arg:"" help:"The header hash-signature that was sent."`
	message
	Text string `help:"The text that the client signed, or @FILE: shows where it differs."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// difference is a part of the text that should have been signed and was not.
type difference struct {
	Part     int    `json:"part"`
	Name     string `json:"name"`
	Expected string `json:"expected"`
	Given    string `json:"given"`
	At       int    `json:"at"` // the first character that differs, counted from 1
}

// verification is what became of a signature.
type verification struct {
	Valid       bool         `json:"valid"`
	Profile     string       `json:"profile"`
	Key         string       `json:"key"`
	Parts       []part       `json:"parts"`
	Expected    string       `json:"expected_signature"`
	Hints       []hint       `json:"slips"`
	Differences []difference `json:"differences"`
	Timestamp   string       `json:"timestamp,omitempty"` // fresh, behind, ahead or malformed, by this clock
	SkewSeconds int64        `json:"skew_seconds,omitempty"`

	text             signedText
	signatureMatches bool // the signature is the text's, whatever its timestamp
}

var errInvalidSignature = errors.New("a server would refuse this signature")

// Run implements the command.
func (c verifyCommand) Run(s *streams) error {
	if err := c.applyQuickstart(); err != nil {
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
	v := verification{Profile: t.Profile, Key: t.KeyName, Parts: t.Parts, Expected: t.signature(), Hints: []hint{}, Differences: []difference{}, text: t}
	if t.usesV5 {
		v.Valid = sign.VerifyV5(t.key, t.value("method"), t.value("target"), t.value("timestamp"), t.value("idempotency key"), []byte(t.value("body")), c.Signature)
		check := sign.CheckTimestamp(c.Timestamp, now, sign.DefaultSkew)
		v.Timestamp, v.SkewSeconds = check.Freshness.String(), check.SkewSeconds
		if check.Milliseconds {
			v.Hints = append(v.Hints, hintMilliseconds)
		}
		v.signatureMatches = v.Valid
		v.Valid = v.Valid && check.Freshness != sign.Malformed && !check.Milliseconds
	} else {
		v.Valid = sign.VerifyLegacy(t.key, []byte(t.value("body")), c.Signature)
	}
	if !v.Valid && !v.signatureMatches {
		v.Hints = append(v.Hints, findHints(t, c.credentials, c.Signature, given)...)
	}
	if given != "" {
		v.Differences = differences(t, given)
	}
	return v, nil
}

// differences compares the text that was signed with the one that should have
// been, part by part.
func differences(t signedText, given string) []difference {
	lines := strings.SplitN(given, "\n", len(t.Parts))
	all := []difference{}
	for i, p := range t.Parts {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		if line != p.Value {
			all = append(all, difference{Part: i + 1, Name: p.Name, Expected: p.Value, Given: line, At: firstDifference(p.Value, line)})
		}
	}
	if right := joinParts(t.Parts); len(all) == 0 && given != right { // empty parts at the end, without their line feeds
		all = append(all, difference{Part: len(lines) + 1, Name: "the line feeds before it", Expected: strings.TrimPrefix(right, given), At: 1})
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
		fmt.Fprintf(s.out, "The signature is right: %s made it over this text.\n", v.Key)
	} else if v.signatureMatches {
		fmt.Fprintln(s.out, "The signature is that of this text, but no server takes its timestamp.")
	} else {
		fmt.Fprintf(s.out, "The signature is not right. With %s it would be\n  %s\n", v.Key, v.Expected)
	}
	for _, d := range v.Differences {
		fmt.Fprintf(s.out, "\nPart %d, %s, differs from its character %d on:\n  should be  %s\n  was        %s\n", d.Part, d.Name, d.At, escapeInvisible(d.Expected), escapeInvisible(d.Given))
	}
	if len(v.Hints) > 0 {
		fmt.Fprintln(s.out, "\nThis explains it:")
		for _, found := range v.Hints {
			fmt.Fprintf(s.out, "  - %s\n", found.Message)
		}
	} else if !v.Valid && len(v.Differences) == 0 {
		fmt.Fprintln(s.out, "\nNo usual slip explains it. Compare the key, and give the text that was signed with --text to see where it differs.")
	}
	switch v.Timestamp {
	case sign.Malformed.String():
		fmt.Fprintln(s.out, "\nThe timestamp is no number of seconds, and a server refuses it.")
	case sign.Behind.String():
		fmt.Fprintf(s.out, "\nThe timestamp is %d s behind this clock: a server refuses it now.\n", -v.SkewSeconds)
	case sign.Ahead.String():
		fmt.Fprintf(s.out, "\nThe timestamp is %d s ahead of this clock: a server refuses it now.\n", v.SkewSeconds)
	}
}
