package cli

import (
	"io"
	"strings"
	"testing"
)

// A flag without an effect is refused before the command does anything.
func TestMain_FlagWithoutEffect(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct{ args, want string }{
		{"token create --name a --local --url http://127.0.0.1:1", "--url has no effect with --local, which creates"},
		{"token create --name a --local --token pt_a", "--token has no effect with --local, which creates"},
		{"token create --name a --database-url postgres://127.0.0.1:1/a", "--database-url has no effect without --local, "},
		{"token create --name a --master-key-file a", "--master-key-file has no effect without --local, because the server"},
		{"calls --by cause --limit 10", "--limit has no effect with --by, which counts all calls"},
		{"drain --cancel --within 5m", "--within and --cancel can't be used together"},
		{"drain --cancel --now", "--now and --cancel can't be used together"},
		{"doctor https://127.0.0.1:1 --url http://127.0.0.1:1", "--url has no effect with the URL of a server, which is"},
		{"doctor https://127.0.0.1:1 --no-turn", "--no-turn has no effect with the URL of a server, which is checked"},
		{"doctor --invite --rtc-udp-port 7000", "--rtc-udp-port has no effect with --invite, which asks the running server"},
		{"doctor --invite --slow", "--slow has no effect with --invite: use it alone, or with the URL"},
	} {
		var errs strings.Builder
		args := append(strings.Fields(tc.args), "--data-dir", dir)
		if got := Main(t.Context(), args, nil, io.Discard, &errs); got != exitUsage ||
			!strings.HasPrefix(errs.String(), "parley: "+tc.want) {
			t.Errorf("parley %s: got exit status %d and %q, want %d and %q", tc.args, got, errs.String(), exitUsage, tc.want)
		}
	}
}

// A shell with the variables of all commands can run each of them.
func TestMain_VariableWithoutEffect(t *testing.T) {
	t.Setenv("PARLEY_URL", "http://127.0.0.1:1")
	t.Setenv("PARLEY_ADMIN_TOKEN", "pt_a")
	environ := []string{"PARLEY_DATABASE_URL=postgres://127.0.0.1:1/a", "PARLEY_MASTER_KEY_FILE=a",
		"PARLEY_RTC_UDP_PORT=7000"}
	for _, args := range []string{"token create --name a --local", "token create --name a", "doctor http://127.0.0.1:1",
		"doctor --invite"} {
		var errs strings.Builder
		args := append(strings.Fields(args), "--data-dir", t.TempDir())
		if got := Main(t.Context(), args, environ, io.Discard, &errs); got == exitUsage ||
			strings.Contains(errs.String(), "no effect") {
			t.Errorf("parley %v: got exit status %d and %q, want an attempt to run", args, got, errs.String())
		}
	}
}
