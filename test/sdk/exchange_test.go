package sdk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley.example/client/sign"
)

// credentials are those of one project; an empty one is not given to the client.
type credentials struct {
	ProjectID     string `json:"project_id,omitempty"`
	ProjectSecret string `json:"project_secret,omitempty"`
	APIKey        string `json:"api_key,omitempty"`
	GatewaySecret string `json:"gateway_secret,omitempty"`
}

// exchange is one case of exchanges.json, which explains the fields.
type exchange struct {
	Name        string
	Operation   string
	Arguments   json.RawMessage
	Options     json.RawMessage
	BaseURL     string `json:"base_url"`
	Credentials *credentials
	ClockOffset int `json:"clock_offset"`
	Responses   []scriptedResponse
	Requests    []expectedRequest
	Result      map[string]any
	Error       map[string]any
}

type scriptedResponse struct {
	Status  int
	Headers map[string]string
	JSON    json.RawMessage
	Text    string
	Repeat  []any // a text, and how often it is repeated
	Drop    bool
	Cut     bool
	Foreign bool
}

func (r scriptedResponse) body() []byte {
	switch {
	case r.JSON != nil:
		return r.JSON
	case r.Repeat != nil:
		return bytes.Repeat([]byte(r.Repeat[0].(string)), int(r.Repeat[1].(float64)))
	}
	return []byte(r.Text)
}

type expectedRequest struct {
	Method          string
	Target          string
	QueryInAnyOrder bool `json:"query_in_any_order"`
	Signature       string
	IdempotencyKey  string `json:"idempotency_key"`
	JSON            any
	Timestamp       *int
}

// readExchanges returns the cases, and the credentials of those that have no others.
func readExchanges(t *testing.T) (credentials, []exchange) {
	t.Helper()
	text, err := os.ReadFile("../../sdk/testdata/exchanges.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Credentials credentials
		Cases       []exchange
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 100 {
		t.Fatalf("exchanges.json: got %d cases, want at least 100", len(file.Cases))
	}
	return file.Credentials, file.Cases
}

// receivedRequest is a request as the scripted server received it.
type receivedRequest struct {
	method, target string
	header         http.Header
	body           []byte
	at             time.Time
}

// scriptedServer sends the responses of an exchange and keeps the requests.
type scriptedServer struct {
	exchange exchange
	mu       sync.Mutex
	requests []receivedRequest
}

func (s *scriptedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, receivedRequest{r.Method, r.RequestURI, r.Header, body, time.Now()})
	number := len(s.requests)
	s.mu.Unlock()
	if number > len(s.exchange.Responses) {
		http.Error(w, "one request too many", http.StatusTeapot)
		return
	}
	response := s.exchange.Responses[number-1]
	if response.Drop {
		panic(http.ErrAbortHandler)
	}
	ahead := time.Duration(s.exchange.ClockOffset) * time.Second
	w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	name := "X-Request-ID"
	if strings.HasPrefix(r.URL.Path, "/api/v5/") {
		name = "X-Gateway-Request-ID"
	}
	if !response.Foreign {
		w.Header().Set(name, fmt.Sprintf("req_%d", number))
	}
	for name, value := range response.Headers {
		w.Header().Set(name, value)
	}
	content := response.body()
	if response.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(content)+100))
	}
	w.WriteHeader(response.Status)
	_, _ = w.Write(content)
}

// run makes the call of an exchange with a driver, and compares the requests and the outcome.
func (d *driver) run(t *testing.T, e exchange, published credentials) {
	script := &scriptedServer{exchange: e}
	server := httptest.NewServer(script)
	defer server.Close()
	known := published
	if e.Credentials != nil {
		known = *e.Credentials
	}
	baseURL := server.URL
	if e.BaseURL != "" {
		baseURL = strings.ReplaceAll(e.BaseURL, "{server}", server.URL)
	}
	options := e.Options
	if options == nil {
		options = json.RawMessage("{}")
	}
	outcome := d.ask(t, map[string]any{"do": "call", "base_url": baseURL, "credentials": known, "options": options,
		"operation": e.Operation, "arguments": e.Arguments})

	script.mu.Lock()
	defer script.mu.Unlock()
	if len(script.requests) != len(e.Requests) {
		t.Errorf("got %d requests, want %d; the outcome is %v", len(script.requests), len(e.Requests), outcome)
	}
	for i, got := range script.requests[:min(len(script.requests), len(e.Requests))] {
		compareRequest(t, i+1, got, e.Requests[i], known)
	}
	failure, _ := outcome["error"].(map[string]any)
	result, _ := outcome["result"].(map[string]any)
	switch {
	case e.Error != nil && failure == nil:
		t.Errorf("got %v, want the error %v", outcome, e.Error)
	case e.Error != nil:
		for name, want := range e.Error {
			if d.lacks(name, e.Error) {
				continue
			}
			if got := failure[name]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s of the error: got %q, want %q; the error is %v", name, got, want, failure)
			}
		}
	case result == nil:
		t.Errorf("got %v, want the result %v", outcome, e.Result)
	default:
		compareSubset(t, "", result, e.Result)
	}
}

// compareRequest compares a request and checks who signed it.
func compareRequest(t *testing.T, number int, got receivedRequest, want expectedRequest, known credentials) {
	t.Helper()
	isSame := got.target == want.Target
	if want.QueryInAnyOrder {
		isSame = sortQuery(got.target) == sortQuery(want.Target)
	}
	if got.method != want.Method || !isSame {
		t.Errorf("request %d: got %s %s, want %s %s", number, got.method, got.target, want.Method, want.Target)
	}
	var body any
	if len(got.body) > 0 {
		if err := json.Unmarshal(got.body, &body); err != nil {
			t.Errorf("request %d: got the body %q, want JSON", number, got.body)
		}
		if kind := got.header.Get("Content-Type"); kind != "application/json" {
			t.Errorf("request %d: got Content-Type %q, want application/json", number, kind)
		}
	}
	if object, ok := body.(map[string]any); ok && object["from"] == 0.0 {
		delete(object, "from") // from 0 is the default
	}
	if !reflect.DeepEqual(body, want.JSON) {
		t.Errorf("request %d: got the body %s, want %v", number, got.body, want.JSON)
	}
	if bytes.ContainsAny(got.body, "\\") && bytes.Contains(got.body, []byte(`\u00`)) {
		t.Errorf("request %d: got the body %s, want characters instead of escapes", number, got.body)
	}
	if key := got.header.Get("Idempotency-Key"); key != want.IdempotencyKey {
		t.Errorf("request %d: got the Idempotency-Key %q, want %q", number, key, want.IdempotencyKey)
	}
	if agent := got.header.Get("User-Agent"); !strings.HasPrefix(agent, "parley-") {
		t.Errorf("request %d: got the User-Agent %q, want one that begins with parley-", number, agent)
	}
	for _, name := range []string{"key", "secret-key"} {
		if got.header.Get(name) != "" {
			t.Errorf("request %d: got the header %s, want none", number, name)
		}
	}
	compareSignature(t, number, got, want, known)
}

func compareSignature(t *testing.T, number int, got receivedRequest, want expectedRequest, known credentials) {
	t.Helper()
	signature, timestamp := got.header.Get("hash-signature"), got.header.Get("timestamp")
	var isValid bool
	switch want.Signature {
	case "none":
		isValid = signature == "" && timestamp == "" && got.header.Get("api-key") == ""
	case "project_secret":
		isValid = sign.VerifyLegacy(known.ProjectSecret, got.body, signature) && timestamp == ""
	case "api_key":
		isValid = sign.VerifyLegacy(known.APIKey, got.body, signature) && timestamp == ""
	case "gateway":
		isValid = got.header.Get("api-key") == known.APIKey &&
			sign.VerifyV5(known.GatewaySecret, got.method, got.target, timestamp, got.header.Get("Idempotency-Key"),
				got.body, signature)
	default:
		t.Fatalf("request %d: unknown signature %q in exchanges.json", number, want.Signature)
	}
	if !isValid {
		t.Errorf("request %d: got the headers %v, want a valid signature of the kind %s", number, got.header, want.Signature)
	}
	if want.Timestamp == nil {
		return
	}
	// A corrected clock is off by the second to which Date is rounded and by the time of the call.
	const tolerance = 120
	seconds, err := sign.ParseTimestamp(timestamp)
	if off := float64(seconds - got.at.Unix() - int64(*want.Timestamp)); err != nil || math.Abs(off) > tolerance {
		t.Errorf("request %d: got the timestamp %s, %.0f seconds off", number, timestamp, off)
	}
}

// sortQuery returns a target with its query in one order, and otherwise as it is.
func sortQuery(target string) string {
	path, query, found := strings.Cut(target, "?")
	if !found {
		return target
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return target
	}
	return path + "?" + values.Encode()
}

// compareSubset checks that got has everything that want has. Times are compared as instants.
func compareSubset(t *testing.T, path string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			t.Errorf("result%s: got %v, want %v", path, got, want)
			return
		}
		for name, value := range want {
			compareSubset(t, path+"."+name, object[name], value)
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			t.Errorf("result%s: got %v, want %v", path, got, want)
			return
		}
		for i, value := range want {
			compareSubset(t, fmt.Sprintf("%s[%d]", path, i), list[i], value)
		}
	default:
		if !reflect.DeepEqual(got, want) && !isSameInstant(got, want) {
			t.Errorf("result%s: got %v, want %v", path, got, want)
		}
	}
}

func isSameInstant(a, b any) bool {
	first, isText := a.(string)
	second, isTextToo := b.(string)
	if !isText || !isTextToo {
		return false
	}
	x, err := time.Parse(time.RFC3339Nano, first)
	y, errToo := time.Parse(time.RFC3339Nano, second)
	return err == nil && errToo == nil && x.Equal(y)
}
