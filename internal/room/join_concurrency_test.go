package room_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// stubMedia is a media engine that does nothing. Tests with participants use
// fakeMedia.
type stubMedia struct{ room.Media }

func (stubMedia) Open(context.Context, room.MediaSession) error                    { return nil }
func (stubMedia) Quality(string, string) room.ConnectionQuality                    { return room.QualityUnknown }
func (stubMedia) ConnectionType(string, string) room.ConnectionType                { return room.ConnectionUDP }
func (stubMedia) Admit(string)                                                     {}
func (stubMedia) Participants(context.Context, string) ([]room.Participant, error) { return nil, nil }
func (stubMedia) AccessToken(room.AccessTokenSpec) (string, error)                 { return "token", nil }
func (stubMedia) Remove(context.Context, string, string) error                     { return nil }
func (stubMedia) CloseConnection(string, string, string)                           {}
func (stubMedia) Connection(string, string) string                                 { return "" }
func (stubMedia) Close(_ context.Context, _ string) error                          { return nil }
func (stubMedia) SendMessage(context.Context, string, []string, room.Message) error {
	return nil
}
func (stubMedia) UpdatePermissions(context.Context, string, string, room.Role, room.Grants) error {
	return nil
}
func (stubMedia) UpdateMetadata(context.Context, string, room.Metadata) error { return nil }

// linkToken returns the token of a link.
func linkToken(link string) string {
	_, token, _ := strings.Cut(link, "#t=")
	return token
}

// newServiceWithProject returns a service on a database and a project for its rooms.
func newServiceWithProject(t testing.TB, url string) (*room.Service, project.Project) {
	t.Helper()
	db := storetest.Open(t, url, t.TempDir())
	p := storetest.Project(t, db)
	return room.NewService(db, stubMedia{}, func() string { return "https://meet.example.org" }, time.Now, storetest.NewID,
		discardLogger, room.Options{}), p
}

// Of fifty visitors who ask at once for ten seats, exactly ten get one; the others
// get the reason.
func TestReserveSeat_ConcurrentFillsExactly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, url string
		rounds    int
	}{{"SQLite", "", 40}, {"PostgreSQL", storetest.Postgres(t), 40}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, p := newServiceWithProject(t, tc.url)
			for round := range tc.rounds {
				created, err := s.CreateQuick(storetest.Patient(t.Context()), p,
					room.Spec{Type: room.Audio, CreatorName: "Host", Title: "Full", MaxParticipants: 10}, nil)
				if err != nil {
					t.Fatal(err)
				}
				cohosts, err := s.Invite(storetest.Patient(t.Context()), p, created.ID, room.Invitation{Role: room.CoHost})
				if err != nil {
					t.Fatal(err)
				}
				links := []string{"", linkToken(created.FinalLink), linkToken(cohosts)}
				var mu sync.Mutex
				var people sync.WaitGroup
				admitted, refused, hosts := map[string]bool{}, 0, 0
				for n := range 50 {
					people.Go(func() {
						visit := room.JoinRequest{Name: "Guest", SeatKey: strings.Repeat("k", 30) + fmt.Sprint(n), LinkToken: links[n%3]}
						a, err := s.ReserveSeat(t.Context(), created.ID, visit)
						for fault.Is(err, fault.Unavailable) { // a slow disk: ask again, as the page does
							a, err = s.ReserveSeat(t.Context(), created.ID, visit)
						}
						mu.Lock()
						defer mu.Unlock()
						switch f := fault.From(err); {
						case err == nil:
							admitted[a.Seat.ID] = true
							if a.Seat.Role == room.Host {
								hosts++
							}
						case f.Code == "room_full" && f.Message == "this room is full: all 10 seats are taken":
							refused++
						default:
							t.Errorf("round %d: got error %v, want none or room_full that says that all 10 seats are taken", round, err)
						}
					})
				}
				people.Wait()
				if len(admitted) != 10 || refused != 40 || hosts > 1 {
					t.Fatalf("round %d: got %d admitted, %d of them hosts, and %d refused, "+
						"want 10 admitted, at most one of them host, and 40 refused", round, len(admitted), hosts, refused)
				}
			}
		})
	}
}

// Two hosts who open breakout rooms at once never exceed the room's limit, and a
// participant who moves while they are closed keeps the seat.
func TestOpenBreakouts_ConcurrentWithinLimit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, url string }{{"SQLite", ""}, {"PostgreSQL", storetest.Postgres(t)}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, p := newServiceWithProject(t, tc.url)
			patiently := func(do func() error) error {
				err := do()
				for fault.Is(err, fault.Unavailable) {
					err = do()
				}
				return err
			}
			for round := range 10 {
				created, err := s.CreateQuick(storetest.Patient(t.Context()), p,
					room.Spec{
						Type:            room.Video,
						CreatorName:     "Host",
						Title:           "T",
						MaxParticipants: 4,
						BreakoutRooms:   2,
					}, nil)
				if err != nil {
					t.Fatal(err)
				}
				cohosts, err := s.Invite(storetest.Patient(t.Context()), p, created.ID, room.Invitation{Role: room.CoHost})
				if err != nil {
					t.Fatal(err)
				}
				key := func(n int) string { return strings.Repeat("k", 30) + fmt.Sprint(n) }
				var seats []room.Seat
				for n := range 4 {
					a, err := s.ReserveSeat(storetest.Patient(t.Context()), created.ID,
						room.JoinRequest{Name: "A", SeatKey: key(n), LinkToken: linkToken(cohosts)})
					if err != nil {
						t.Fatal(err)
					}
					s.ParticipantJoined(a.SessionID, a.Seat.ID, "PA_"+a.Seat.ID, time.Now())
					seats = append(seats, a.Seat)
				}
				var mu sync.Mutex
				var all sync.WaitGroup
				opened := 0
				for n := range 4 {
					all.Go(func() {
						var got []room.Breakout
						err := patiently(func() (err error) {
							got, err = s.OpenBreakouts(t.Context(), created.ID, key(n),
								room.OpenBreakoutsRequest{Names: []string{"One", "Two"}[:1+n%2]})
							return err
						})
						if err != nil && fault.From(err).Code != "too_many_breakouts" {
							t.Errorf("round %d: open breakout rooms: got error %v, want none or too_many_breakouts", round, err)
						}
						mu.Lock()
						defer mu.Unlock()
						opened += len(got)
					})
				}
				all.Wait()
				if opened < 1 || opened > 2 {
					t.Fatalf("round %d: open breakout rooms: got %d, want 1 or 2", round, opened)
				}
				for n := range 4 {
					all.Go(func() {
						if n == 0 {
							if err := patiently(func() error { return s.CloseBreakouts(t.Context(), created.ID, key(0)) }); err != nil {
								t.Error(err)
							}
							return
						}
						err := patiently(func() error { return s.Move(t.Context(), created.ID, key(n), "", 1) })
						if err != nil && fault.From(err).Code != "breakout_not_found" {
							t.Errorf("round %d: move: got error %v, want none or breakout_not_found", round, err)
						}
					})
				}
				all.Wait()
				for n, seat := range seats {
					a, err := s.ReserveSeat(storetest.Patient(t.Context()), created.ID, room.JoinRequest{Name: "A", SeatKey: key(n)})
					if err != nil || a.Seat.ID != seat.ID || a.Breakout.N != 0 || a.Seat.Breakout != 0 {
						t.Errorf("round %d: got admission %+v, error %v, want seat %s and no breakout room", round, a, err, seat.ID)
					}
				}
			}
		})
	}
}
