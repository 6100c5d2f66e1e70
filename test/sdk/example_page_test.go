package sdk

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unsafeName shows whether a page writes names as HTML.
const unsafeName = `Zoë <b>&"'`

// invisible is a character that the server does not accept in names, and the forms of the examples do.
const invisible = "\u200b"

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
