package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/internal/cluster"
	"parley/internal/db"
	"parley/internal/testkit"
)

// ofCommand are the findings that a running server never has, because only parley doctor makes their checks.
var ofCommand = []string{"unknown_variable", "certificate_file", "certificate_name", "database_unavailable",
	"database_standby", "master_key_missing", "master_key_mode", "master_key_invalid", "master_key_wrong",
	"master_key_in_backups", "database_damaged", "database_log", "proc_stat", "disk_slow", "backup_dir",
	"quickstart_secrets", "proxy_idle", "server_unavailable", "public_unreachable", "media_unreachable", "server_clock"}

// Every finding is documented, and a test has its ID.
func TestFindings_AreDocumentedAndTested(t *testing.T) {
	t.Parallel()
	report := Report{}
	for _, c := range checks {
		report.Checks = append(report.Checks, Result{Check: c.name})
	}
	code, docs := testkit.ReadFiles(t, "*.go"), testkit.ReadFiles(t, "../../docs/operating/doctor.md")
	tests := testkit.ReadFiles(t, "*_test.go", "../app/doctor_test.go") // with real proxies
	found := regexp.MustCompile(`(?:found|add)\("([a-z_]+)"`).FindAllStringSubmatch(code, -1)
	for _, text := range []string{
		fmt.Sprintf("PostgreSQL %d or newer", db.MinPostgres), fmt.Sprintf("Redis %d or newer", cluster.MinRedis),
	} {
		if !strings.Contains(docs, text) {
			t.Errorf("docs/operating/doctor.md does not have %q", text)
		}
	}
	if len(found) < 30 {
		t.Fatalf("got %d findings, want at least 30", len(found))
	}
	for _, match := range found {
		id := match[1]
		if !strings.Contains(docs, "`"+id+"`") {
			t.Errorf("%s is not in docs/operating/doctor.md", id)
		}
		if !strings.Contains(tests, `"`+id+`"`) {
			t.Errorf("%s is in no test", id)
		}
		if i, _ := report.checkOf(id); report.Checks[i].Check == ServerCheck && !slices.Contains(ofCommand, id) {
			t.Errorf("%s is in no list serverFindings, so AddFromServer would add it twice", id)
		}
	}
}
