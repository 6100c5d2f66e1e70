package sdk

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

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
