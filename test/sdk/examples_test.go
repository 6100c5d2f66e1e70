package sdk

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/media/mediatest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// unsafeName shows whether a page writes names as HTML.
const unsafeName = `Zoë <b>&"'`

// invisible is a character that the server does not accept in names, and the forms of the examples do.
const invisible = "\u200b"

// examples are the programs in the directory examples. prepare makes packages available to a directory that may be
// out of reach otherwise, and returns additional variables.
var examples = []struct {
	name    string
	port    string // in the README
	prepare func(t *testing.T, dir string) (environment []string)
	check   func(t *testing.T, e *example)
}{
	{"shop", "8091", func(*testing.T, string) []string { return nil }, checkShop},
	{"timetable", "8092", func(*testing.T, string) []string {
		return []string{"PATH=" + filepath.Dir(python) + ":" + os.Getenv("PATH"), "PIP_NO_INDEX=1"}
	}, checkTimetable},
	{"conference", "8093", func(t *testing.T, _ string) []string {
		return phpEnvironment(t, t.TempDir())
	}, checkConference},
	{"desk", "8094", func(_ *testing.T, dir string) []string {
		return []string{"GOMODCACHE=" + filepath.Join(dir, "modules"), "GOFLAGS=-modcacherw"}
	}, checkReception},
}

// TestExamples runs each example with the commands of its README, and uses its pages as people do.
func TestExamples(t *testing.T) {
	service := startService(t)
	for _, test := range examples {
		t.Run(test.name, func(t *testing.T) {
			e := newExample(t, service, test.name)
			e.environment = append(e.environment, test.prepare(t, e.dir)...)
			e.readCommands(t, test.port)
			run(t, e.dir, e.environment, "bash", "-e", "-c", e.install)
			test.check(t, e)
		})
	}
}

// example is a copy of a directory of examples.
type example struct {
	service
	parley         *client.Client
	dir            string
	url            string
	environment    []string
	install, start string // the commands of the README
	browser        *http.Client
	stop           func()
}

// newExample copies an example, and puts the command parley where its README expects it.
func newExample(t *testing.T, s service, name string) *example {
	t.Helper()
	root := t.TempDir()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", ".")
	list.Dir = absolute(t, "examples")
	files, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		if dir := filepath.Dir(file); dir == name || dir == "." {
			copyFile(t, absolute(t, "examples/"+file), filepath.Join(root, "examples", file))
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(root, "bin/parley")); err != nil {
		t.Fatal(err)
	}
	parley, err := client.New(s.url, client.Credentials{ProjectID: s.project.ProjectID, APIKey: s.project.APIKey,
		ProjectSecret: s.project.ProjectSecret, GatewaySecret: s.project.GatewaySecret}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &example{
		service:     s,
		parley:      parley,
		dir:         filepath.Join(root, "examples", name),
		environment: append(parleytest.Command(nil).Env, "PARLEY_DATA_DIR="+s.dataDir),
		browser:     newBrowser(t),
	}
	return e.onPort(testkit.FreeTCPPort(t))
}

// onPort returns a copy that uses another port.
func (e *example) onPort(port int) *example {
	other := *e
	other.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	other.environment = append(slices.Clip(other.environment), fmt.Sprintf("PORT=%d", port))
	return &other
}

// newBrowser returns a client that keeps cookies.
func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: time.Minute}
}

// readCommands reads the README: its first block ends with the start of the program, and all other commands come
// before it.
func (e *example) readCommands(t *testing.T, port string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(e.dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, block := range codeBlock.FindAllStringSubmatch(string(readme), -1) {
		if block[1] == "sh" {
			blocks = append(blocks, strings.ReplaceAll(block[3], "127.0.0.1:"+port, strings.TrimPrefix(e.url, "http://")))
		}
	}
	if len(blocks) == 0 {
		t.Fatal("README.md has no commands")
	}
	lines := strings.Split(strings.TrimSpace(blocks[0]), "\n")
	last := len(lines) - 1
	e.start = lines[0] + "\nexec " + lines[last]
	e.install = strings.Join(append(lines[:last:last], blocks[1:]...), "\n")
}

// run starts the program and returns when it responds. It runs until the test ends or stop is called.
func (e *example) run(t *testing.T) {
	t.Helper()
	cmd := exec.Command("bash", "-e", "-c", e.start)
	cmd.Dir, cmd.Env = e.dir, append(os.Environ(), e.environment...)
	output := &testkit.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go run starts another process
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	e.stop = sync.OnceFunc(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		e.checkSecrets(t, "the output", output.String())
	})
	t.Cleanup(func() {
		e.stop()
		if t.Failed() {
			t.Logf("output of the example:\n%s", output)
		}
	})
	testkit.EventuallyWithin(t, 2*time.Minute, "the example responds", func() bool {
		select {
		case <-ended:
			t.Fatalf("the example ended:\n%s", output)
		default:
		}
		response, err := http.Get(e.url)
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil
	})
}

// checkSecrets fails the test if a text contains a secret of the project.
func (e *example) checkSecrets(t *testing.T, name, text string) {
	t.Helper()
	for _, secret := range []string{e.project.APIKey, e.project.GatewaySecret, e.project.ProjectSecret} {
		if strings.Contains(text, secret) || strings.Contains(text, secret[8:]) {
			t.Errorf("%s contains a secret:\n%s", name, text)
		}
	}
}

// get returns a page, which must have the status 200.
func (e *example) get(t *testing.T, path string) string {
	t.Helper()
	return e.request(t, http.MethodGet, path, nil, http.StatusOK)
}

// request sends a request with a form, follows redirects, and returns the page, whose form it checks.
func (e *example) request(t *testing.T, method, path string, form url.Values, status int) string {
	t.Helper()
	request, err := http.NewRequest(method, e.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := e.browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	page := string(body)
	if response.StatusCode != status {
		t.Fatalf("%s %s: got status %d, want %d:\n%s", method, path, response.StatusCode, status, page)
	}
	policy := response.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("%s %s: got the policy %q, want a strict one", method, path, policy)
	}
	e.checkSecrets(t, path, page)
	checkPage(t, page)
	return page
}

// field matches what people fill in, and its attributes.
var field = regexp.MustCompile(`<(?:input|select|textarea)\b([^>]*)>`)

// checkPage checks what every page needs: a language, a title, a size for phones, and labels.
func checkPage(t *testing.T, page string) {
	t.Helper()
	for _, part := range []string{"<!doctype html>", `<html lang="en">`, "<title>", `name="viewport"`, "<h1>",
		"/style.css"} {
		if !strings.Contains(page, part) {
			t.Errorf("got a page without %s:\n%s", part, page)
		}
	}
	if strings.Contains(page, "<b>") || strings.Contains(page, "style=") || strings.Contains(page, "{{") {
		t.Errorf("got a page with a name as HTML, an inline style or a placeholder:\n%s", page)
	}
	for _, found := range field.FindAllStringSubmatch(page, -1) {
		id := regexp.MustCompile(` id="(\w+)"`).FindStringSubmatch(found[1])
		isLabeled := id != nil && strings.Contains(page, `<label for="`+id[1]+`">`)
		if !isLabeled && !strings.Contains(found[1], `type="hidden"`) {
			t.Errorf("the field %s has no label", found[0])
		}
	}
}

// find returns what the first group of a pattern matches in a page, without escapes of HTML, each text once.
func find(t *testing.T, page, pattern string) (all []string) {
	t.Helper()
	for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(page, -1) {
		if text := html.UnescapeString(found[1]); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		t.Fatalf("got no match of %s in the page:\n%s", pattern, page)
	}
	return all
}

// links returns the links to rooms of the server with a token in a page.
func (e *example) links(t *testing.T, page string) []string {
	t.Helper()
	return find(t, page, `(?:href|link|value)="(`+regexp.QuoteMeta(e.service.url)+`/r/[^"/]+)"`)
}

// visitor is what the room page shows to the holder of a link.
type visitor struct {
	roomID, token string
	Role          string
	Name          string
	Link          string // ok, or why the server does not accept it
}

// preview asks what the room page asks when somebody opens a link.
func (s service) preview(t *testing.T, link string) visitor {
	t.Helper()
	address, token, _ := strings.Cut(link, "#")
	id, isRoom := strings.CutPrefix(address, s.url+"/r/")
	if !isRoom || len(token) < 22 {
		t.Fatalf("got the link %s, want one of %s with a token", link, s.url)
	}
	v := visitor{roomID: id, token: token[2:]} // behind t= or j=
	var preview struct{ You *visitor }
	s.callRoom(t, v, "preview", map[string]any{"link": v.token}, &preview)
	v.Role, v.Name, v.Link = preview.You.Role, preview.You.Name, preview.You.Link
	return v
}

// callRoom makes a call of the room page.
func (s service) callRoom(t *testing.T, v visitor, path string, fields map[string]any, into any) {
	t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	address := s.url + "/api/join/rooms/" + v.roomID + "/" + path
	response, err := http.Post(address, "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: got status %d with %s, error %v, want 200", address, response.StatusCode, text, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// join enters a room with a link, as a browser does.
func (e *example) join(t *testing.T, link, name string) *mediatest.Participant {
	t.Helper()
	v := e.service.preview(t, link)
	var seat struct {
		Token string `json:"media_token"`
	}
	key := fmt.Sprintf("seat-key-of-the-browser-%d", time.Now().UnixNano())
	e.service.callRoom(t, v, "seats", map[string]any{"name": name, "seat_key": key, "link": v.token}, &seat)
	p, err := mediatest.Join(t.Context(), e.service.url, seat.Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Abort)
	return p
}

func checkShop(t *testing.T, e *example) {
	e.run(t)
	key := find(t, e.get(t, "/"), `name="key" value="([^"]+)"`)[0]
	form := url.Values{"key": {key}, "name": {unsafeName}}
	var pages [2]string
	var clicks sync.WaitGroup
	for i := range pages { // a double click
		clicks.Go(func() { pages[i] = e.request(t, http.MethodPost, "/talk", form, http.StatusOK) })
	}
	clicks.Wait()
	link := e.links(t, pages[0])[0]
	if customer := e.service.preview(t, link); customer.Role != "guest" || customer.Name != unsafeName {
		t.Errorf("the link of the customer: got %+v, want the guest %s", customer, unsafeName)
	}
	if pages[0] != pages[1] || !strings.Contains(pages[0], `<script src="`+e.service.url+`/embed.js"`) ||
		!strings.Contains(pages[0], "<parley-room link=") {
		t.Errorf("a double click: got the pages\n%s\n%s\nwant the same room in the component twice", pages[0], pages[1])
	}
	e.checkFrame(t, link)

	waiting := e.links(t, e.get(t, "/desk"))
	roomID := e.service.preview(t, link).roomID
	if staff := e.service.preview(t, waiting[0]); len(waiting) != 1 || staff.Role != "host" || staff.roomID != roomID {
		t.Errorf("the desk: got the links %v, want one for the host of the room %s", waiting, roomID)
	}
	if err := e.parley.EndRoom(t.Context(), roomID); err != nil {
		t.Fatal(err)
	}
	if page := e.get(t, "/desk"); strings.Contains(page, roomID) || !strings.Contains(page, "No customer is waiting.") {
		t.Errorf("the desk after the end: got\n%s\nwant nobody on it", page)
	}
	e.request(t, http.MethodGet, "/talk/"+key, nil, http.StatusNotFound)
	e.request(t, http.MethodPost, "/talk", url.Values{"key": {key}, "name": {" "}}, http.StatusBadRequest)
	e.request(t, http.MethodPost, "/talk", url.Values{"key": {"../desk"}, "name": {"Ada"}}, http.StatusBadRequest)
	form.Set("key", find(t, e.get(t, "/"), `name="key" value="([^"]+)"`)[0])
	form.Set("name", "Ada"+invisible)
	page := e.request(t, http.MethodPost, "/talk", form, http.StatusBadRequest)
	if !strings.Contains(page, "must not contain the invisible character U+200B") {
		t.Errorf("a name with an invisible character: got\n%s\nwant the reason of the server", page)
	}
}

// checkFrame checks that the pages of the example may load the component, and show the room of a link in a frame.
func (e *example) checkFrame(t *testing.T, link string) {
	t.Helper()
	for address, want := range map[string]string{
		e.url:                   "frame-src " + e.service.url + ";",
		e.url + "/desk":         "script-src 'self' " + e.service.url + ";",
		link:                    "frame-ancestors " + e.url,
		e.service.url + "/r/no": "frame-ancestors 'none'",
	} {
		response, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if policy := response.Header.Get("Content-Security-Policy"); !strings.Contains(policy, want) {
			t.Errorf("%s: got the policy %q, want it with %q", address, policy, want)
		}
	}
}

// moveClock returns a function that moves the clock of an example in Python.
func (e *example) moveClock(t *testing.T) (move func(time.Duration)) {
	t.Helper()
	path, ahead := filepath.Join(e.dir, "app.py"), filepath.Join(t.TempDir(), "ahead")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	moved := fmt.Sprintf("(datetime.now() + timedelta(seconds=float(Path(%q).read_text())))", ahead)
	writeFile(t, path, strings.ReplaceAll(string(text), "datetime.now()", moved))
	move = func(d time.Duration) { writeFile(t, ahead, fmt.Sprint(d.Seconds())) }
	move(0)
	return move
}

func checkTimetable(t *testing.T, e *example) {
	move := e.moveClock(t)
	e.run(t)
	if page := e.get(t, "/"); strings.Contains(page, "/r/") {
		t.Errorf("before a person is chosen: got\n%s\nwant no links", page)
	}
	rooms := map[string][]string{}
	for person, want := range map[string]visitor{
		"t1": {Role: "host", Name: "Ms Okafor"},
		"p1": {Role: "guest", Name: "Ana"},
	} {
		page := e.get(t, "/?person="+person)
		for _, link := range e.links(t, page) {
			got := e.service.preview(t, link)
			rooms[person] = append(rooms[person], got.roomID)
			if got.Role != want.Role || got.Name != want.Name {
				t.Errorf("a link of %s: got %+v, want the %s %s", person, got, want.Role, want.Name)
			}
		}
		for _, address := range find(t, page, `href="([^"]+/calendar.ics)"`) {
			response, err := http.Get(address)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/calendar") {
				t.Errorf("%s: got the Content-Type %q, want a calendar", address, kind)
			}
		}
	}
	if len(rooms["t1"]) < 5 || !slices.Equal(rooms["t1"], rooms["p1"]) {
		t.Errorf("got the rooms %v, want the same rooms for a teacher and a pupil", rooms)
	}

	e.stop()
	e.run(t)
	if again := e.links(t, e.get(t, "/?person=p1")); len(again) != len(rooms["p1"]) {
		t.Errorf("after a restart: got %d links, want %d", len(again), len(rooms["p1"]))
	}
	times := map[string]bool{}
	for r, err := range e.parley.Rooms(t.Context(), "scheduled") {
		if err != nil {
			t.Fatal(err)
		}
		key := r.Title + r.StartAt.String()
		if times[key] && slices.Contains(rooms["p1"], r.RoomID) {
			t.Errorf("after a restart: got two rooms for %s", key)
		}
		times[key] = true
	}

	first, err := time.Parse(time.RFC3339, find(t, e.get(t, "/?person=t1"), `datetime="([^"]+)"`)[0])
	if err != nil {
		t.Fatal(err)
	}
	move(time.Until(first) + 30*time.Minute) // the first lesson is running
	e.stop()
	e.run(t)
	if page := e.get(t, "/?person=t1"); !strings.Contains(page, rooms["t1"][0]) {
		t.Errorf("after a restart during a lesson: got\n%s\nwant the room %s of the lesson", page, rooms["t1"][0])
	}
	move(8 * 24 * time.Hour)
	for _, link := range e.links(t, e.get(t, "/?person=t1")) {
		if v := e.service.preview(t, link); slices.Contains(rooms["t1"], v.roomID) || v.Link != "ok" {
			t.Errorf("after a week: got %+v, want a room of the next week", v)
		}
	}
}

func checkConference(t *testing.T, e *example) {
	e.run(t)
	call := find(t, e.get(t, "/"), `name="call" value="([^"]+)"`)[0]
	form := url.Values{"call": {call}, "name": {unsafeName}, "people": {"Bela\r\n\r\n Chiara <b>\r\n"}}
	page := e.request(t, http.MethodPost, "/", form, http.StatusOK)
	links := e.links(t, page)
	var got []visitor
	for _, link := range links {
		v := e.service.preview(t, link)
		got = append(got, visitor{Role: v.Role, Name: v.Name})
	}
	want := []visitor{{Role: "host", Name: unsafeName}, {Role: "guest", Name: "Bela"},
		{Role: "guest", Name: "Chiara <b>"}}
	if !slices.Equal(got, want) {
		t.Errorf("got links for %+v, want %+v", got, want)
	}
	if again := e.request(t, http.MethodPost, "/", form, http.StatusOK); !slices.Equal(e.links(t, again), links) {
		t.Errorf("the form again: got\n%s\nwant the call that has started", again)
	}
	e.join(t, links[1], "Bela").Leave()

	other := *e
	other.browser = newBrowser(t)
	if page := other.request(t, http.MethodGet, "/?call="+call, nil, http.StatusNotFound); strings.Contains(page, "/r/") {
		t.Errorf("another browser: got\n%s\nwant no links", page)
	}
	page = e.request(t, http.MethodPost, "/", url.Values{"call": {call}, "end": {"1"}}, http.StatusOK)
	if !strings.Contains(page, "Attendance") || !strings.Contains(page, ">Bela</th><td>guest</td>") {
		t.Errorf("after the end: got\n%s\nwant the attendance of Bela", page)
	}
	invalid := url.Values{"call": {strings.Repeat("a", 32)}, "name": {strings.Repeat("ä", 101)}}
	e.request(t, http.MethodPost, "/", invalid, http.StatusBadRequest)
	invalid.Set("name", "Ada")
	invalid.Set("people", unsafeName+"\nBela"+invisible)
	page = e.request(t, http.MethodPost, "/", invalid, http.StatusBadRequest)
	if !strings.Contains(page, "must not contain the invisible character U+200B") || strings.Contains(page, "again") ||
		!strings.Contains(page, html.EscapeString("Zoë <b>")) {
		t.Errorf("a name with an invisible character: got\n%s\nwant the reason of the server and the names", page)
	}
}

func checkReception(t *testing.T, e *example) {
	run(t, e.dir, e.environment, "go", "vet", ".")
	// The program runs before the room exists: Parley would send an event that it missed again only after a while.
	e.run(t)
	e.get(t, "/")
	created, err := e.parley.CreateQuickAudioRoom(t.Context(), client.QuickRoomRequest{Name: "Ada", MaxParticipants: 10,
		EmptyTimeout: 300, Metadata: client.Metadata{RoomTitle: "Standup <b>"}})
	if err != nil {
		t.Fatal(err)
	}
	ada := e.join(t, created.FinalLink, "Ada")
	shown := e.readStream(t)
	e.awaitPeople(t, shown, created.RoomID, "Ada")
	late := e.onPort(testkit.FreeTCPPort(t)) // gets no webhooks
	late.run(t)
	late.awaitPeople(t, late.readStream(t), created.RoomID, "Ada")
	late.stop()

	guest, _, _ := strings.Cut(created.FinalLink, "#")
	link, err := e.parley.JoinRoom(t.Context(), client.JoinRoomRequest{RoomID: created.RoomID,
		Person: client.Person{Name: unsafeName}})
	if err != nil {
		t.Fatal(err)
	}
	e.join(t, link, unsafeName)
	for _, r := range e.awaitPeople(t, shown, created.RoomID, "Ada", unsafeName) {
		if r.Title == "Standup <b>" && r.Address != guest {
			t.Errorf("got the room %+v, want the address %s", r, guest)
		}
	}
	ada.Leave()
	e.awaitPeople(t, shown, created.RoomID, unsafeName)
	if err := e.parley.EndRoom(t.Context(), created.RoomID); err != nil {
		t.Fatal(err)
	}
	e.awaitPeople(t, shown, created.RoomID)

	genuine := e.newWebhook(t)
	if status := sendWebhook(e.url+"/webhooks", genuine); status != http.StatusNoContent {
		t.Errorf("a webhook: got status %d, want 204", status)
	}
	changed := webhook{genuine.headers, genuine.body + " "}
	if status := sendWebhook(e.url+"/webhooks", changed); status != http.StatusUnauthorized {
		t.Errorf("a changed webhook: got status %d, want 401", status)
	}
}

// shownRoom is a room in the list of the reception.
type shownRoom struct {
	Address, Title string
	People         []string
}

// readStream returns the lists that the reception gets as server-sent events.
func (e *example) readStream(t *testing.T) <-chan map[string]shownRoom {
	t.Helper()
	response, err := http.Get(e.url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	lists := make(chan map[string]shownRoom, 100)
	go func() {
		defer close(lists)
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			data, isData := strings.CutPrefix(lines.Text(), "data: ")
			var list map[string]shownRoom
			if isData && json.Unmarshal([]byte(data), &list) == nil {
				lists <- list
			}
		}
	}()
	return lists
}

// awaitPeople waits until the reception sees these people in a room, and returns the list.
func (e *example) awaitPeople(t *testing.T, lists <-chan map[string]shownRoom, id string, want ...string,
) map[string]shownRoom {
	t.Helper()
	timeout := time.After(testkit.Timeout)
	for last := map[string]shownRoom{}; ; {
		select {
		case list, isOpen := <-lists:
			if !isOpen {
				t.Fatalf("the stream ended, the last list is %v, want %v in %s", last, want, id)
			}
			last = list
			if people := slices.Sorted(slices.Values(list[id].People)); slices.Equal(people, want) {
				return list
			}
		case <-timeout:
			t.Fatalf("got the list %v, want %v in %s", last, want, id)
		}
	}
}

// TestExamples_FormOfFiles checks the length of lines and of programs, and that the links of the READMEs exist.
func TestExamples_FormOfFiles(t *testing.T) {
	programs := []string{"server.mjs", "app.py", "index.php", "main.go"}
	names, err := filepath.Glob(filepath.Join(repository, "examples/*/*"))
	if err != nil || len(names) < 4*len(programs) {
		t.Fatalf("got the files %v, error %v, want at least %d", names, err, 4*len(programs))
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a directory of installed packages
		}
		lines := strings.Split(string(text), "\n")
		if len(lines) > 130 && slices.Contains(programs, filepath.Base(name)) {
			t.Errorf("%s has %d lines, want at most 130", name, len(lines))
		}
		for i, line := range lines {
			if len([]rune(line)) > 120 && filepath.Ext(name) != ".lock" && filepath.Ext(name) != ".json" {
				t.Errorf("%s:%d has more than 120 characters", name, i+1)
			}
		}
		if extension := filepath.Ext(name); extension == ".js" || extension == ".mjs" {
			run(t, ".", nil, "node", "--check", name)
		}
		if filepath.Ext(name) != ".md" {
			continue
		}
		for _, link := range regexp.MustCompile(`\]\((\.\.[^)#]+)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), link[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, link[1])
			}
		}
	}
}
