package sdk

import (
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

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
