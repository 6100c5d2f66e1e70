package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goEvents = `{"Action":"start","Package":"parley/internal/room"}
{"Action":"run","Package":"parley/internal/room","Test":"TestJoin"}
{"Action":"run","Package":"parley/internal/room","Test":"TestJoin/full"}
{"Action":"output","Package":"parley/internal/room","Test":"TestJoin/full","Output":"    join_test.go:12: got 3, want 2\n"}
{"Action":"fail","Package":"parley/internal/room","Test":"TestJoin/full","Elapsed":1}
{"Action":"run","Package":"parley/internal/room","Test":"TestJoin/empty"}
{"Action":"pass","Package":"parley/internal/room","Test":"TestJoin/empty","Elapsed":0.1}
{"Action":"fail","Package":"parley/internal/room","Test":"TestJoin","Elapsed":1.5}
{"Action":"run","Package":"parley/internal/room","Test":"TestLeave"}
{"Action":"output","Package":"parley/internal/room","Test":"TestLeave","Output":"    leave_test.go:40: still there\n"}
{"Action":"fail","Package":"parley/internal/room","Test":"TestLeave","Elapsed":2}
{"Action":"skip","Package":"parley/internal/room","Test":"TestRoot","Elapsed":0}
{"Action":"fail","Package":"parley/internal/room","Elapsed":4}
{"Action":"run","Package":"parley/internal/room","Test":"TestJoin/full"}
{"Action":"pass","Package":"parley/internal/room","Test":"TestJoin/full","Elapsed":1}
{"Action":"run","Package":"parley/internal/room","Test":"TestLeave"}
{"Action":"output","Package":"parley/internal/room","Test":"TestLeave","Output":"    leave_test.go:41: still there\n"}
{"Action":"fail","Package":"parley/internal/room","Test":"TestLeave","Elapsed":2}
{"Action":"fail","Package":"parley/internal/room","Elapsed":4}
{"Action":"run","Package":"parley/internal/cli","Test":"TestScripts/keys"}
{"Action":"output","Package":"parley/internal/cli","Test":"TestScripts/keys","Output":"    testscript.go:600: WORK=$WORK\n"}
{"Action":"output","Package":"parley/internal/cli","Test":"TestScripts/keys","Output":"        FAIL: testdata/script/keys.txtar:7: unexpected command success\n"}
{"Action":"fail","Package":"parley/internal/cli","Test":"TestScripts/keys","Elapsed":1}
{"Action":"run","Package":"parley/internal/db","Test":"TestHangs"}
{"Action":"output","Package":"parley/internal/db","Test":"TestHangs","Output":"panic: test timed out after 10m0s\n"}
{"Action":"fail","Package":"parley/internal/db","Elapsed":600}
{"ImportPath":"parley/client [parley/client.test]","Action":"build-output","Output":"client/rooms_test.go:7:2: undefined: x\n"}
{"Action":"start","Package":"parley/client"}
{"Action":"fail","Package":"parley/client","Elapsed":0,"FailedBuild":"parley/client [parley/client.test]"}
{"Action":"pass","Package":"parley/web","Elapsed":1}
`

const vitestReport = `{"testResults": [
 {"name": "%s/test/browser/journeys/talk.test.ts", "status": "failed", "message": "", "assertionResults": [
  {"fullName": "two people talk", "status": "passed", "duration": 9000, "failureMessages": []},
  {"fullName": "a third waits", "status": "passed", "duration": 5000, "failureMessages": ["Error: not yet\n    at talk.test.ts:3"]},
  {"fullName": "all leave", "status": "failed", "duration": 1000, "failureMessages": ["Error: one stayed"]},
  {"fullName": "not here", "status": "skipped", "failureMessages": []}]},
 {"name": "%[1]s/test/browser/journeys/chat.test.ts", "status": "failed", "message": "Error: no server", "assertionResults": []}]}`

func TestReport_OfBothRunners(t *testing.T) {
	t.Parallel()
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	for name, text := range map[string]string{"go.jsonl": goEvents, "browser.json": fmt.Sprintf(vitestReport, top)} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	results, err := read(directory)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if summarize(&out, results) {
		t.Error("got green, want red: tests failed")
	}
	const want = `
The slowest tests:
    9.0 s  test/browser/journeys/talk.test.ts: two people talk
    5.0 s  test/browser/journeys/talk.test.ts: a third waits
    2.0 s  internal/room/leave_test.go: TestLeave
    1.0 s  test/browser/journeys/talk.test.ts: all leave
    0.0 s  internal/room/join_test.go: TestJoin/full
    0.0 s  internal/room: TestJoin/empty
    0.0 s  internal/room: TestRoot
    0.0 s  internal/cli/testdata/script/keys.txtar: TestScripts/keys
    0.0 s  internal/db: TestHangs
    0.0 s  client/rooms_test.go: the package

Tests that passed only when they were repeated (CONTRIBUTING.md says what to do):
  internal/room/join_test.go: TestJoin/full
      got 3, want 2
  test/browser/journeys/talk.test.ts: a third waits
      Error: not yet

Failed tests:
  internal/room/leave_test.go: TestLeave
      still there
  internal/cli/testdata/script/keys.txtar: TestScripts/keys
      unexpected command success
  internal/db: TestHangs
      did not end: panic: test timed out after 10m0s
  client/rooms_test.go: the package
      undefined: x
  test/browser/journeys/talk.test.ts: all leave
      Error: one stayed
  test/browser/journeys/chat.test.ts: the file
      Error: no server

4 passed, 6 failed, 2 skipped
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestSummarize_RepeatedTests(t *testing.T) {
	t.Parallel()
	for n := range maxRepeated + 2 {
		results := make([]result, 5)
		for i := range n {
			results[i].Status = repeated
		}
		var out bytes.Buffer
		green := summarize(&out, results)
		if want := n <= maxRepeated; green != want || strings.Contains(out.String(), "make the run red") == want {
			t.Errorf("%d repeated: got %v, want %v:\n%s", n, green, want, out.String())
		}
	}
}

func TestRead_ResultsThatAreCutOff(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"go.jsonl": `{"Action":"pa`, "page.json": `{"testResults": [`} {
		directory := t.TempDir()
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if results, err := read(directory); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, %v, want an error that names the file", name, results, err)
		}
	}
}
