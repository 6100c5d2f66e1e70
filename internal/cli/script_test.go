package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"parley/internal/api/manage"
	"parley/internal/media/mediatest"
	"parley/internal/quickstart"
	"parley/internal/testkit"
)

// scriptCommands are the commands of our scripts in addition to those of
// testscript.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"healthy":    healthy,
	"join":       joinRoom,
	"readme":     extractReadmeExample,
	"examples":   examples,
	"shape":      shape,
	"field":      field,
	"quickstart": quickstartField,
	"revoke-all": revokeAll,
	"free-port":  freePort,
	"receive":    receive,
	"until":      retryUntilSuccess,
	"lists":      printLists,
}

// shape compares the last standard output with the names of a JSON object, or of
// each object in an array that is not empty: all named ones and, in arrays,
// others that only some objects have.
func shape(ts *testscript.TestScript, _ bool, args []string) {
	out := ts.ReadFile("stdout")
	var objects []map[string]any
	if args[0] == "array" {
		ts.Check(json.Unmarshal([]byte(out), &objects))
	} else {
		objects = make([]map[string]any, 1)
		ts.Check(json.Unmarshal([]byte(out), &objects[0]))
	}
	if len(objects) == 0 {
		ts.Fatalf("got an empty array, want objects")
	}
	for _, o := range objects {
		for _, name := range args[1:] {
			if _, ok := o[name]; !ok {
				ts.Fatalf("%s is missing in %v", name, slices.Sorted(maps.Keys(o)))
			}
		}
		if args[0] == "object" && len(o) != len(args)-1 {
			ts.Fatalf("got the names %v, want %v", slices.Sorted(maps.Keys(o)), args[1:])
		}
	}
}

// field stores a value of the last standard output, a JSON object or the first
// one of a list, in a variable.
func field(ts *testscript.TestScript, _ bool, args []string) {
	var o map[string]any
	printed := []byte(ts.ReadFile("stdout"))
	if list := []json.RawMessage{}; json.Unmarshal(printed, &list) == nil && len(list) > 0 {
		printed = list[0]
	}
	ts.Check(json.Unmarshal(printed, &o))
	text, ok := o[args[1]].(string)
	if !ok {
		ts.Fatalf("got %v for %s, want a string", o[args[1]], args[1])
	}
	ts.Setenv(args[0], text)
}

// joinRoom joins a room with a link and a name, over loopback, and stays until the end of the script.
func joinRoom(ts *testscript.TestScript, _ bool, args []string) {
	link, err := url.Parse(args[0])
	ts.Check(err)
	token, _ := strings.CutPrefix(link.Fragment, "t=")
	seatKey := strings.Repeat(args[1], 30)[:30]
	body, err := json.Marshal(map[string]string{"name": args[1], "link": token, "seat_key": seatKey})
	ts.Check(err)
	base := link.Scheme + "://" + link.Host
	seats := base + "/api/join/rooms/" + path.Base(link.Path) + "/seats"
	response, err := http.Post(seats, "application/json", bytes.NewReader(body))
	ts.Check(err)
	defer func() { _ = response.Body.Close() }()
	var seat struct {
		Token string `json:"media_token"`
	}
	ts.Check(json.NewDecoder(response.Body).Decode(&seat))
	if response.StatusCode != http.StatusOK {
		ts.Fatalf("take a seat: got status %d, want 200", response.StatusCode)
	}
	participant, err := mediatest.Join(context.Background(), base, seat.Token)
	ts.Check(err)
	ts.Defer(participant.Leave)
}

// receiverVar is the variable with the URL of the receiver of webhooks.
const receiverVar = "RECEIVER"

// receiver is the receiver of webhooks of a script.
type receiver struct {
	*httptest.Server
	status atomic.Int32
}

// receivers are the receivers by their URLs.
var receivers sync.Map

// receive lets a receiver of webhooks respond with a status. The first call starts it.
func receive(ts *testscript.TestScript, _ bool, args []string) {
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	known, ok := receivers.Load(ts.Getenv(receiverVar))
	if !ok {
		r := &receiver{}
		r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(int(r.status.Load()))
		}))
		ts.Defer(r.Close)
		ts.Setenv(receiverVar, r.URL)
		receivers.Store(r.URL, r)
		known = r
	}
	known.(*receiver).status.Store(int32(status))
}

// freePort stores a free TCP port in a variable.
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	port, err := testkit.PickTCPPort()
	ts.Check(err)
	ts.Setenv(args[0], strconv.Itoa(port))
}

// retryUntilSuccess runs a program repeatedly until it succeeds.
func retryUntilSuccess(ts *testscript.TestScript, _ bool, args []string) {
	if !eventually(func() bool { return ts.Exec(args[0], args[1:]...) == nil }) {
		ts.Fatalf("%q did not succeed within %s", args, testkit.Timeout)
	}
}

// quickstartField stores a field of data/quickstart.json in a variable.
func quickstartField(ts *testscript.TestScript, _ bool, args []string) {
	raw, err := os.ReadFile(filepath.Join(ts.MkAbs("data"), quickstart.FileName))
	ts.Check(err)
	var o map[string]string
	ts.Check(json.Unmarshal(raw, &o))
	ts.Setenv(args[0], o[args[1]])
}

// revokeAll revokes every management token of the server of a data directory,
// its own token last.
func revokeAll(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	run := func(words ...string) string {
		var out, errs strings.Builder
		if status := Main(context.Background(), append(words, "--data-dir", dir), nil, &out, &errs); status != 0 {
			ts.Fatalf("parley %v: %s", words, errs.String())
		}
		return out.String()
	}
	var tokens []manage.Token
	ts.Check(json.Unmarshal([]byte(run("token", "list", "--json")), &tokens))
	slices.SortFunc(tokens, func(a, b manage.Token) int {
		return strings.Compare(fmt.Sprint(a.InUse), fmt.Sprint(b.InUse))
	})
	for _, t := range tokens {
		_, _ = io.WriteString(ts.Stdout(), run("token", "revoke", t.TokenId))
	}
}
