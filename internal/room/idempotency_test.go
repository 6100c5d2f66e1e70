package room_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp" // readable differences between values

	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// Two services on one database, as two nodes are: the same key at once makes
// one room, and whoever comes after reads the first answer.
func TestIdempotencyKey_ConcurrentOnTwoNodes(t *testing.T) {
	t.Parallel()
	for name, open := range storetest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t)
			p := storetest.Project(t, db)
			nodes := []*room.Service{newNodeService(db, time.Now), newNodeService(db, time.Now)}
			once := func() *room.IdempotencyKey {
				return &room.IdempotencyKey{ProjectID: p.ID, Route: "/route", Key: "key", Body: []byte("{}")}
			}
			request := room.Spec{Type: room.Audio, CreatorName: "A", Title: "T", MaxParticipants: 2}
			create := func(node *room.Service) (room.Created, error) {
				key := once()
				end, err := node.BeginIdempotent(context.Background(), key)
				if err != nil {
					return room.Created{}, err
				}
				defer end()
				return node.CreateQuick(context.Background(), p, request, key)
			}
			var links sync.Map
			var work sync.WaitGroup
			for i := range 32 {
				work.Go(func() {
					created, err := create(nodes[i%2])
					if err == nil {
						links.Store(created.FinalLink, true)
					} else if fault.From(err).Code != "request_in_flight" {
						t.Errorf("concurrent create: got error %v, want none or request_in_flight", err)
					}
				})
			}
			work.Wait()
			var first room.Created
			for i, node := range nodes {
				created, err := create(node)
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					first = created
				}
				if diff := cmp.Diff(first, created); diff != "" {
					t.Errorf("result on the other node (-want +got):\n%s", diff)
				}
			}
			links.Range(func(link, _ any) bool {
				if link != first.FinalLink {
					t.Errorf("got the link %q too, want only %q", link, first.FinalLink)
				}
				return true
			})
			other := once()
			other.Body = []byte("{ }")
			if _, err := nodes[0].BeginIdempotent(t.Context(), other); !fault.Is(err, fault.Mismatch) {
				t.Errorf("same key with another body: got error %v, want Mismatch", err)
			}
			tomorrow := newNodeService(db, func() time.Time { return time.Now().Add(24 * time.Hour) })
			if _, err := tomorrow.BeginIdempotent(t.Context(), other); err != nil {
				t.Errorf("same key with another body, one day later: got error %v, want none", err)
			}
			if err := tomorrow.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := nodes[1].BeginIdempotent(t.Context(), other); err != nil {
				t.Errorf("same key with another body, after the purge: got error %v, want none", err)
			}
		})
	}
}

// A room that cannot be made leaves no answer behind.
func TestIdempotencyKey_NotSavedWhenCreationFails(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	p := storetest.Project(t, db)
	n := newNodeService(db, time.Now)
	q := room.Spec{
		Type:            room.Audio,
		CreatorName:     "A",
		Title:           "T",
		MaxParticipants: 2,
		ClientRoomID:    "mine",
	}
	if _, err := n.CreateQuick(t.Context(), p, q, nil); err != nil {
		t.Fatal(err)
	}
	key := &room.IdempotencyKey{ProjectID: p.ID, Route: "/route", Key: "key"}
	for range 2 {
		end, err := n.BeginIdempotent(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.CreateQuick(t.Context(), p, q, key); !fault.Is(err, fault.Conflict) {
			t.Fatalf("create with a client_room_id that exists: got error %v, want Conflict", err)
		}
		end()
	}
}

func newNodeService(db *store.DB, now func() time.Time) *room.Service {
	return room.NewService(db, stubMedia{}, func() string { return "https://meet.example.org" }, now, storetest.NewID,
		discardLogger, room.Options{})
}

// Earlier releases saved the response of the API. A request that is repeated
// after an upgrade still gets it.
func TestIdempotencyKey_ResultOfEarlierRelease(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	p := storetest.Project(t, db)
	n := newNodeService(db, time.Now)
	start := time.Date(2026, 12, 1, 10, 0, 0, 0, time.FixedZone("", 3600))
	for name, c := range map[string]struct {
		saved string
		want  room.Created
	}{
		"a quick room": {`{"body":{"status":true,"final_link":"https://m/r/1#t=x","room_id":"1"}}`,
			room.Created{ID: "1", FinalLink: "https://m/r/1#t=x"}},
		"a scheduled room": {`{"adjusted":"room_duration, breakout_rooms","ignored":"name","body":{"status":true,"message":"m","room_type":"video",` +
			`"start_time":"2026-12-01T10:00:00+01:00","room_id":"2","final_link":"https://m/r/2#t=x","client_room_id":"mine"}}`,
			room.Created{
				ID:           "2",
				Type:         room.Video,
				StartAt:      start,
				FinalLink:    "https://m/r/2#t=x",
				ClientRoomID: "mine",
				Adjusted:     []string{"room_duration", "breakout_rooms"},
			}},
		"a link": {`{"body":{"status":true,"invitation_link":"https://m/r/3#t=x","invitation_url":"https://m/r/3#t=x"}}`,
			room.Created{FinalLink: "https://m/r/3#t=x"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &room.IdempotencyKey{ProjectID: p.ID, Route: "/route", Key: name, Body: []byte("{}")}
			err := db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
				_, err := db.InsertIdempotencyRecord(ctx,
					room.IdempotencyRecord{ID: seal.Hash(p.ID + "\n/route\n" + name), BodyHash: seal.Hash("{}"),
						SavedResult: seal.Secret(c.saved), ExpiresAt: time.Now().Add(time.Hour)}, time.Now())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			end, err := n.BeginIdempotent(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			got, err := n.CreateQuick(t.Context(), p, room.Spec{}, k)
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("error %v, result (-want +got):\n%s", err, diff)
			}
		})
	}
}
