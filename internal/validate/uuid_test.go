package validate

import "testing"

func TestParseUUID(t *testing.T) {
	t.Parallel()
	const canonical = "01a1fd50-e127-70bb-989c-e1b3e2c83cd9"
	for text, want := range map[string]bool{
		canonical:                              true,
		"01A1FD50-E127-70BB-989C-E1B3E2C83CD9": true,
		"01a1fd50-E127-70bb-989C-e1b3e2c83cd9": true,
		"01a1fd50e12770bb989ce1b3e2c83cd9":     false,
		"{" + canonical + "}":                  false,
		"g1a1fd50-e127-70bb-989c-e1b3e2c83cd9": false,
	} {
		got, ok := ParseUUID(text)
		if ok != want || ok && got != canonical {
			t.Errorf("%s: got %s, %t, want %s, %t", text, got, ok, canonical, want)
		}
	}
}
