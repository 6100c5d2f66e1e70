// Command desk shows a reception who is in which room, live. Parley reports each change with a webhook, and the open
// pages get it as a server-sent event.
package main

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"parley.example/client"
)

//go:embed index.html page.js style.css
var files embed.FS

// room is what the page shows of a room.
type room struct {
	Address string   `json:"address"`
	Title   string   `json:"title"`
	People  []string `json:"people"`
}

// board contains the rooms with people in them.
type board struct {
	parley *client.Client

	mu      sync.Mutex
	rooms   map[string]room // by ID
	changed chan struct{}   // closed at the next change
}

// receive reads the room of an event again. It does not use the data of the event, so that an event that arrives
// twice or late does no harm. After an error, Parley sends the event again.
func (b *board) receive(ctx context.Context, event *client.RoomEvent) error {
	id := event.Data.RoomID
	if id == "" {
		return nil // an event of the project
	}
	active, err := b.parley.ActiveRoom(ctx, id)
	if err != nil && !errors.Is(err, client.ErrNotFound) { // a room that is over is not found
		log.Print(err) // it contains no secrets
		return err
	}
	b.set(id, active)
	return nil
}

// set replaces a room; nil stands for a room that is not open.
func (b *board) set(id string, active *client.ActiveRoom) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.rooms, id)
	if active != nil && len(active.Participants) > 0 {
		r := room{Address: strings.TrimRight(os.Getenv("PARLEY_URL"), "/") + "/r/" + id, Title: active.Info.Title}
		for _, p := range active.Participants {
			r.People = append(r.People, p.Name)
		}
		b.rooms[id] = r
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// stream sends the rooms to a page, at once and after each change.
func (b *board) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		b.mu.Lock()
		text, err := json.Marshal(b.rooms)
		changed := b.changed
		b.mu.Unlock()
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		}
		if err == nil {
			err = http.NewResponseController(w).Flush()
		}
		if err != nil {
			return // the page was closed
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func main() {
	parley, err := client.FromEnvironment(client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	b := &board{parley: parley, rooms: map[string]room{}, changed: make(chan struct{})}
	active, err := parley.ActiveRooms(context.Background()) // because webhooks report only what changes
	if err != nil {
		log.Fatal(err)
	}
	for i := range active {
		b.set(active[i].Info.RoomID, &active[i])
	}
	secrets := []string{os.Getenv("PARLEY_PROJECT_SECRET")}
	mux := http.NewServeMux()
	mux.Handle("POST /webhooks", client.WebhookHandler(secrets, b.receive))
	mux.HandleFunc("GET /events", b.stream)
	mux.Handle("GET /", http.FileServerFS(files))
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; "+
			"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		w.Header().Set("Cache-Control", "no-store") // because names are for the reception only
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
	address := "127.0.0.1:" + cmp.Or(os.Getenv("PORT"), "8094")
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	log.Printf("the reception desk runs at http://%s", address)
	log.Fatal(server.ListenAndServe())
}
