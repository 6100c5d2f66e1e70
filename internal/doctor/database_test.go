package doctor

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"parley/internal/db"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// A PostgreSQL server that is set up badly, or does not respond, is found, and not found after the line of
// the finding was applied.
func TestCheckDatabase(t *testing.T) {
	server := storetest.NewPostgresServer(t)
	database := server.NewDatabase(t)
	cfg := newConfig(t)
	cfg.DatabaseURL = seal.Secret(database)
	run := check(checkDatabase)
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Fatalf("got the findings %v, want none", found)
	}
	const off = `ALTER SYSTEM SET synchronous_commit = off; SELECT pg_reload_conf();`
	execute(t, database, off)
	testkit.Eventually(t, "a finding about what can be lost", func() bool {
		f := run.findings(t, cfg)["database_durability"]
		return f.Level == Warning && f.Change == "In psql as superuser: "+strings.Replace(off, "off", "on", 1)
	})
	execute(t, database, strings.TrimPrefix(run.findings(t, cfg)["database_durability"].Change, "In psql as superuser: "))
	testkit.Eventually(t, "no finding after the change", func() bool { return len(run.findings(t, cfg)) == 0 })

	cfg.DatabaseURL = seal.Secret(strings.Replace(database, "/test_", "/missing_", 1))
	found := run.findings(t, cfg)
	if f := found["database_unavailable"]; f.Level != Error || !strings.Contains(f.Text, "does not exist") {
		t.Errorf("another database: got the findings %v, want database_unavailable with the cause", found)
	}
}

// A standby is found, and not found after it became the primary or the URL is that of the primary.
func TestCheckDatabase_Standby(t *testing.T) {
	primary := storetest.NewPostgresServer(t)
	database := primary.NewDatabase(t)
	standby := primary.NewStandby(t).Corresponding(t, database)
	cfg, run := newConfig(t), check(checkDatabase)
	cfg.DatabaseURL = seal.Secret(standby)
	if f := run.findings(t, cfg)["database_standby"]; f.Level != Error {
		t.Errorf("the standby: got the finding %+v, want database_standby", f)
	}
	cfg.DatabaseURL = seal.Secret(database)
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Errorf("the primary: got the findings %v, want none", found)
	}
	execute(t, standby, "SELECT pg_promote()")
	cfg.DatabaseURL = seal.Secret(standby)
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Errorf("the promoted standby: got the findings %v, want none", found)
	}
}

// PgBouncer that assigns a connection for each transaction is found.
func TestCheckDatabase_Pooler(t *testing.T) {
	testkit.Slow(t)
	database, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	password, _ := database.User.Password()
	port, file := testkit.FreeTCPPort(t), filepath.Join(t.TempDir(), "pgbouncer.ini")
	if err := os.WriteFile(file, fmt.Appendf(nil, `[databases]
* = host=127.0.0.1 port=%s user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
`, database.Port(), database.User.Username(), password, port), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &testkit.Buffer{}
	pooler := exec.Command("pgbouncer", file)
	if os.Geteuid() == 0 {
		pooler.Args = append(pooler.Args, "-u", "postgres") // it does not run as root
	}
	pooler.Stdout, pooler.Stderr = log, log
	if err := pooler.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = pooler.Process.Kill()
		_ = pooler.Wait()
	})
	direct := database.Host
	cfg, run := newConfig(t), check(checkDatabase)
	database.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	cfg.DatabaseURL = seal.Secret(database.String())
	testkit.Eventually(t, "the pooler is found", func() bool {
		return run.findings(t, cfg)["database_pooler"].Level == Error
	})
	database.Host = direct
	cfg.DatabaseURL = seal.Secret(database.String())
	if found := run.findings(t, cfg); len(found) > 0 {
		t.Errorf("without the pooler: got the findings %v, want none", found)
	}
}

// execute executes the statements of a finding, which PostgreSQL does not accept in one transaction.
func execute(t *testing.T, url, statements string) {
	t.Helper()
	for statement := range strings.SplitSeq(strings.TrimSuffix(statements, ";"), "; ") {
		if err := db.ExecPostgres(t.Context(), url, statement); err != nil {
			t.Fatal(err)
		}
	}
}
