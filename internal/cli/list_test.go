package cli

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// listCommands are the commands that print a list, each with the operation of the management API that returns it, and
// with its other arguments.
var listCommands = map[string]struct {
	operation string
	args      []string
}{
	"audit list":      {operation: "listAudit"},
	"calls":           {operation: "listCalls", args: []string{"--project", "$SHOP"}},
	"key list":        {operation: "listKeys", args: []string{"$SHOP"}},
	"node list":       {operation: "listNodes"},
	"org list":        {operation: "listOrganizations"},
	"project list":    {operation: "listProjects"},
	"rejected-calls":  {operation: "listRejectedCalls"},
	"room list":       {operation: "listRooms"},
	"room people":     {operation: "listRoomPeople", args: []string{"$ROOM"}},
	"room timeline":   {operation: "getRoomTimeline", args: []string{"$ROOM"}},
	"session list":    {operation: "listSessions"},
	"settings":        {operation: "listSettings"},
	"token list":      {operation: "listTokens"},
	"usage show":      {operation: "getUsage", args: []string{"--by", "project"}},
	"user list":       {operation: "listUsers"},
	"webhook list":    {operation: "listWebhooks"},
	"webhook targets": {operation: "listWebhookTargets"},
}

// notOperators are the lists that no operator needs as a command, each with the reason.
var notOperators = map[string]string{"listSignInMethods": "the console shows them before somebody has signed in"}

// Every list of the management API has a command, and every command that prints a list has --json and --csv.
func TestLists_CommandsHaveTheFlags(t *testing.T) {
	t.Parallel()
	eachCommand(t, listCommands, func(name, help string, flags map[string]bool, listed bool) {
		if flags["csv"] != listed || listed && !flags["json"] {
			t.Errorf("%s: got --csv %t and --json %t, want both of a command in listCommands, and no --csv of others", name,
				flags["csv"], flags["json"])
		}
		if !listed && (strings.HasSuffix(name, " list") || strings.HasPrefix(help, "List ")) {
			t.Errorf("%s is not in listCommands, want it there", name)
		}
	})
	raw, err := os.ReadFile("../api/manage/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	operations := regexp.MustCompile(`(?m)^      operationId: (list\w+)$`).FindAllStringSubmatch(string(raw), -1)
	if len(operations) < 15 {
		t.Errorf("got %d operations that list, want at least 15", len(operations))
	}
	for _, match := range operations {
		has := false
		for _, c := range listCommands {
			has = has || c.operation == match[1]
		}
		if has == (notOperators[match[1]] != "") {
			t.Errorf("%s: got a command %t, want one, or a reason in notOperators", match[1], has)
		}
	}
}

// printLists runs every command that prints a list, with --json and with --csv. The variables of the script are in the
// arguments. Both outputs have the same items and names, and the columns are those of testdata/columns.golden, which
// scripts of operators read by name.
func printLists(ts *testscript.TestScript, _ bool, _ []string) {
	golden := map[string]string{}
	raw, err := os.ReadFile(columnsPath)
	ts.Check(err)
	for line := range strings.Lines(string(raw)) {
		name, columns, _ := strings.Cut(strings.TrimSpace(line), ": ")
		golden[name] = columns
	}
	for name, c := range listCommands {
		args := slices.Concat(strings.Fields(name), c.args)
		for i, arg := range args {
			if variable, ok := strings.CutPrefix(arg, "$"); ok {
				args[i] = ts.Getenv(variable)
			}
		}
		run := func(format string) string {
			ts.Check(ts.Exec("parley", slices.Concat(args, []string{format})...))
			return ts.ReadFile("stdout")
		}
		var items []map[string]json.RawMessage
		ts.Check(json.Unmarshal([]byte(run("--json")), &items))
		rows, err := csv.NewReader(strings.NewReader(run("--csv"))).ReadAll()
		ts.Check(err)
		if got := strings.Join(rows[0], ","); golden[name] != got {
			ts.Fatalf("parley %s --csv: got the columns\n%s\nwant those of testdata/columns.golden\n%s", name, got, golden[name])
		}
		// Calls come in meanwhile, and the usage grows.
		if len(items) == 0 || len(rows)-1 < len(items) {
			ts.Fatalf("%v: got %d items with --json and %d lines with --csv, want items and a line for each below the heading",
				args, len(items), len(rows))
		}
		for _, item := range items {
			for field := range item {
				if !slices.Contains(rows[0], field) {
					ts.Fatalf("%v: got the columns %v, want also %s, which --json has", args, rows[0], field)
				}
			}
		}
	}
}
