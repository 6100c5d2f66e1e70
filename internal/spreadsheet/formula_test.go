package spreadsheet

import "testing"

func TestEscapeFormulas(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"": "", "Ben": "Ben", "4712": "4712", "-42": "-42", "+1.5": "+1.5",
		"=1+1": "'=1+1", "-1+1": "'-1+1", "+cmd": "'+cmd", "@SUM(A1)": "'@SUM(A1)", "-": "'-",
		"x;=cmd|'/c calc'!A0;y": "x;'=cmd|'/c calc'!A0;y", "a\t@b": "a\t'@b", "a; +1": "a; '+1", " =1": " '=1",
		"＝1+1": "'＝1+1", "a=b": "a=b", "a-b;c": "a-b;c", "-1;-2": "'-1;'-2",
		`x;"=1+1;y`: `x;"'=1+1;y`, `x; ""@b`: `x; ""'@b`, `say "=1"`: `say "=1"`,
	} {
		if got := EscapeFormulas(cell); got != want {
			t.Errorf("%q: got %q, want %q", cell, got, want)
		}
	}
}
