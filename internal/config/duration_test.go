package config

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDuration_Forms(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "0d": 0, "90s": 90 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute,
		"1d": day, "7d": 7 * day, "1d12h": 36 * time.Hour, "1d0s": day, "007d": 7 * day, "106751d": 106751 * day, "-5m": -5 * time.Minute,
	} {
		if got, err := ParseDuration(text); err != nil || got.Std() != want {
			t.Errorf("parse %q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "5", "d", "-1d", "+1d", "1.5d", "1d-1h", "1d+1h", "1d1d", "1h1d", "1d5", "1 d", "١d", "106752d", "106751d24h",
		"99999999999999999999d", "1D", "one day",
	} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("parse %q: got %v, want an error", text, got)
		}
	}
}

func TestDuration_String(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 5 * time.Minute: "5m", time.Hour: "1h", 90 * time.Minute: "1h30m", 24 * time.Hour: "1d",
		36 * time.Hour: "1d12h",
		time.Second:    "1s", 61 * time.Second: "1m1s", 10 * time.Second: "10s", 1500 * time.Millisecond: "1.5s",
		20 * time.Hour:             "20h",
		25*time.Hour + time.Second: "1d1h0m1s", -time.Minute: "-1m",
	} {
		if got := Duration(d).String(); got != want {
			t.Errorf("format %d ns: got %s, want %s", d, got, want)
		}
	}
}

func TestDuration_TextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Duration(rapid.Int64().Draw(t, "nanoseconds"))
		if back, err := ParseDuration(d.String()); err != nil || back != d {
			t.Fatalf("parse %s: got %d, %v, want %d", d, back, err, d)
		}
	})
	var d Duration
	if err := json.Unmarshal([]byte(`"2d"`), &d); err != nil || d.Std() != 48*time.Hour {
		t.Errorf("unmarshal \"2d\": got %v, %v, want 2d", d, err)
	}
	if out, err := json.Marshal(d); err != nil || string(out) != `"2d"` {
		t.Errorf("marshal 2d: got %s, %v, want \"2d\"", out, err)
	}
	if err := d.UnmarshalText(nil); err == nil {
		t.Error("unmarshal an empty duration: got no error, want one")
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"1d", "5m", "1d12h", "d", "-1d", "106751d24h", "9223372036854775807ns"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil {
			return
		}
		if back, err := ParseDuration(d.String()); err != nil || back != d {
			t.Fatalf("parse %s, the text of %q: got %d, %v, want %d", d, text, back, err, d)
		}
	})
}
