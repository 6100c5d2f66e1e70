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

// verdict is what became of a signature.
type verdict struct {
	Valid       bool         `json:"valid"`
	Profile     string       `json:"profile"`
	Key         string       `json:"key"`
	Parts       []part       `json:"parts"`
	Expected    string       `json:"expected_signature"`
	Slips       []slip       `json:"slips"`
	Differences []difference `json:"differences"`
	Timestamp   string       `json:"timestamp,omitempty"` // fresh, behind, ahead or malformed, by this clock
	SkewSeconds int64        `json:"skew_seconds,omitempty"`

	text    signedText
	matches bool // the signature is the text's, whatever its timestamp
}

var errSignature = errors.New("a server would refuse this signature")

// Run implements the command.
func (c verifyCommand) Run(s *streams) error {
	if err := c.fill(); err != nil {
		return err
	}
	given, err := readBody(c.Text)
	if err != nil {
		return err
	}
	if timed(c.Target) && c.Timestamp == "" {
		return usageError{errors.New("this route needs --timestamp, the header that was sent with the signature")}
	}
	v, err := c.judge(string(given), time.Now())
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(s.out, v)
	} else {
		v.print(s)
	}
	if err == nil && !v.Valid {
		return errSignature
	}
	return err
}

func (c verifyCommand) judge(given string, now time.Time) (verdict, error) {
	t, err := c.text(c.credentials)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{Profile: t.Profile, Key: t.KeyName, Parts: t.Parts, Expected: t.signature(), Slips: []slip{}, Differences: []difference{}, text: t}
	if t.timed {
		v.Valid = sign.VerifyV5(t.key, t.value("method"), t.value("target"), t.value("timestamp"), t.value("idempotency key"), []byte(t.value("body")), c.Signature)
		check := sign.CheckTimestamp(c.Timestamp, now, sign.DefaultSkew)
		v.Timestamp, v.SkewSeconds = check.Freshness.String(), check.SkewSeconds
		if check.Milliseconds {
			v.Slips = append(v.Slips, slipMilliseconds)
		}
		v.matches = v.Valid
		v.Valid = v.Valid && check.Freshness != sign.Malformed && !check.Milliseconds
	} else {
		v.Valid = sign.VerifyLegacy(t.key, []byte(t.value("body")), c.Signature)
	}
	if !v.Valid && !v.matches {
		v.Slips = append(v.Slips, recognise(t, c.credentials, c.Signature, given)...)
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
	if right := join(t.Parts); len(all) == 0 && given != right { // empty parts at the end, without their line feeds
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

func (v verdict) print(s *streams) {
	v.text.print(s.out)
	if v.Valid {
		fmt.Fprintf(s.out, "The signature is right: %s made it over this text.\n", v.Key)
	} else if v.matches {
		fmt.Fprintln(s.out, "The signature is that of this text, but no server takes its timestamp.")
	} else {
		fmt.Fprintf(s.out, "The signature is not right. With %s it would be\n  %s\n", v.Key, v.Expected)
	}
	for _, d := range v.Differences {
		fmt.Fprintf(s.out, "\nPart %d, %s, differs from its character %d on:\n  should be  %s\n  was        %s\n", d.Part, d.Name, d.At, visible(d.Expected), visible(d.Given))
	}
	if len(v.Slips) > 0 {
		fmt.Fprintln(s.out, "\nThis explains it:")
		for _, found := range v.Slips {
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
