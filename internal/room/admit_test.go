package room

import (
	"net/netip"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/seal"
)

// TestAdmit decides about one visitor at a time: what is known, what is asked, and the decision.
func TestAdmit(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	key := "seat-key-of-the-visitor-1"
	own := func(change func(*Seat)) Seat {
		seat := Seat{
			ID:         "own",
			KeyHash:    seal.Hash(key),
			Name:       "Ana",
			Role:       Guest,
			State:      Reserved,
			Connection: "PA_1",
			CreatedAt:  now.Add(-time.Minute),
			HeldUntil:  now.Add(time.Minute),
		}
		if change != nil {
			change(&seat)
		}
		return seat
	}
	unused := func(id, network string, age time.Duration) Seat {
		return Seat{
			ID:        id,
			Role:      Guest,
			State:     Reserved,
			Network:   network,
			CreatedAt: now.Add(-age),
			HeldUntil: now.Add(time.Minute),
		}
	}
	link := func(l Link) func(*facts, *JoinRequest) {
		return func(f *facts, v *JoinRequest) { f.link, f.linkFound, v.LinkToken = l, true, "token" }
	}
	full := func(taken ...Seat) func(*facts, *JoinRequest) {
		return func(f *facts, _ *JoinRequest) {
			f.room.MaxParticipants, f.occupancy.Taken, f.taken = len(taken), len(taken), taken
		}
	}
	known := func(change func(*Seat)) func(*facts, *JoinRequest) {
		return func(f *facts, _ *JoinRequest) { f.browserSeat = own(change) }
	}
	waitingRoom := func(f *facts, _ *JoinRequest) { f.room.Locks.WaitingRoom = true }
	limited := func(f *facts, _ *JoinRequest) { f.limited = true }
	together := func(all ...func(*facts, *JoinRequest)) func(*facts, *JoinRequest) {
		return func(f *facts, v *JoinRequest) {
			for _, change := range all {
				change(f, v)
			}
		}
	}
	type result struct {
		code                string // of the error
		role                Role
		seat, displaced     string // ids
		token               tokenUse
		mustWait, reconnect bool
		heldFor             time.Duration
	}
	cases := map[string]struct {
		change func(*facts, *JoinRequest)
		want   result
	}{
		"a stranger gets a new seat": {nil, result{role: Guest, heldFor: connectTimeout}},
		"a stranger takes a token":   {limited, result{role: Guest, token: tokenRequired, heldFor: connectTimeout}},
		"a token is taken once": {together(limited, func(f *facts, _ *JoinRequest) { f.token = tokenTaken }),
			result{role: Guest, heldFor: connectTimeout}},
		"a refused stranger takes a token": {together(limited, link(Link{Role: Host, SingleUse: true, RedeemedBy: "other"}),
			func(_ *facts, v *JoinRequest) { v.ExpectedRole = Host }),
			result{code: "link_taken", role: Guest, token: tokenRequired}},
		"a guest returns": {together(limited, known(nil)), result{role: Guest, seat: "own", heldFor: rejoinTimeout}},
		"an unused reservation is not renewed early": {together(limited, known(func(s *Seat) {
			s.Connection, s.HeldUntil = "", now.Add(renewalWindow+time.Second)
		})), result{role: Guest, seat: "own", heldFor: renewalWindow + time.Second}},
		"an unused reservation needs a token": {together(limited, known(func(s *Seat) {
			s.Connection, s.HeldUntil = "", now.Add(time.Second)
		})), result{role: Guest, seat: "own", token: tokenOptional, heldFor: time.Second}},
		"a taken token renews": {together(limited, known(func(s *Seat) { s.Connection, s.HeldUntil = "", now.Add(time.Second) }),
			func(f *facts, _ *JoinRequest) { f.token = tokenTaken }),
			result{role: Guest, seat: "own", heldFor: connectTimeout}},
		"a refused token does not": {together(limited, known(func(s *Seat) { s.Connection, s.HeldUntil = "", now.Add(time.Second) }),
			func(f *facts, _ *JoinRequest) { f.token = tokenRefused }),
			result{role: Guest, seat: "own", heldFor: time.Second}},
		"a removed guest": {known(func(s *Seat) { s.RemovedAt = now }), result{code: "removed", role: Guest}},
		"a link gives its role": {link(Link{ID: "l", Role: CoHost, SingleUse: true}),
			result{role: CoHost, heldFor: connectTimeout}},
		"a demoted co-host stays a guest": {together(known(func(s *Seat) { s.Demoted = true }),
			link(Link{ID: "l", Role: CoHost, SingleUse: true})), result{role: Guest, seat: "own", heldFor: rejoinTimeout}},
		"the link of a former co-host": {together(link(Link{ID: "l", Role: CoHost, SingleUse: true, CreatedBy: "x"}),
			func(f *facts, v *JoinRequest) { f.linkRevoked, v.ExpectedRole = true, CoHost }),
			result{code: "link_taken", role: Guest}},
		"a person has one seat": {together(known(func(s *Seat) { s.UserID = "bo" }), link(Link{ID: "l", Role: Guest,
			UserID: "ana"}), func(f *facts, _ *JoinRequest) { f.personSeat = Seat{ID: "ana's", Role: CoHost, State: Joined} }),
			result{role: CoHost, seat: "ana's", heldFor: rejoinTimeout}},
		"a participant who becomes hidden reconnects": {together(known(func(s *Seat) { s.State = Joined }),
			link(Link{ID: "l", Role: Guest, Hidden: true}),
			func(f *facts, _ *JoinRequest) { f.project.Settings.HiddenParticipants = true }),
			result{role: Guest, seat: "own", reconnect: true, heldFor: rejoinTimeout}},
		"hidden participants are off": {link(Link{ID: "l", Role: Guest, Hidden: true}),
			result{code: "hidden_participants_off", role: Guest}},
		"an invitation is required": {func(f *facts, _ *JoinRequest) { f.project.Settings.InvitationsRequired = true },
			result{code: "invitation_required", role: Guest}},
		"a suspended project": {func(f *facts, _ *JoinRequest) { f.project.Status = project.Inactive },
			result{code: "project_inactive", role: Guest}},
		"a guest comes early": {func(f *facts, _ *JoinRequest) {
			f.room.State, f.room.StartAt = Scheduled, now.Add(time.Minute)
		}, result{code: "room_not_open", role: Guest}},
		"a host opens the room": {together(link(Link{Role: Host, SingleUse: true}), func(f *facts, _ *JoinRequest) {
			f.room.State, f.room.StartAt = Scheduled, now.Add(time.Minute)
		}), result{role: Host, heldFor: connectTimeout}},
		"a stranger waits": {waitingRoom, result{role: Guest, mustWait: true}},
		"a waiting guest takes no token": {together(waitingRoom, limited, func(f *facts, _ *JoinRequest) {
			f.knocks = []Knock{{ID: "k", KeyHash: seal.Hash(key), ExpiresAt: now.Add(time.Minute)}}
		}), result{role: Guest, mustWait: true}},
		"a denied guest": {together(waitingRoom, func(f *facts, _ *JoinRequest) {
			f.knocks = []Knock{{ID: "k", KeyHash: seal.Hash(key), Denied: true, ExpiresAt: now.Add(time.Minute)}}
		}), result{code: "turned_away", role: Guest, mustWait: true}},
		"who was in the room does not wait": {together(waitingRoom, known(nil)),
			result{role: Guest, seat: "own", heldFor: rejoinTimeout}},
		"who only reserved waits": {together(waitingRoom, known(func(s *Seat) { s.Connection = "" })),
			result{role: Guest, mustWait: true}},
		"a person in the full room opens their link": {together(known(func(s *Seat) { s.State = Joined }),
			link(Link{ID: "l", Role: Guest, UserID: "ana"}), full(Seat{ID: "own", Role: Guest, State: Joined},
				Seat{ID: "b", Role: Guest, State: Joined})),
			result{role: Guest, displaced: "own", heldFor: connectTimeout}},
		"a host in the full room opens their link": {together(known(func(s *Seat) { s.State = Joined }),
			link(Link{ID: "l", Role: Host, UserID: "ana"}), full(Seat{ID: "own", Role: Guest, State: Joined},
				Seat{ID: "b", Role: Guest, State: Joined}),
			func(f *facts, _ *JoinRequest) {
				f.personSeat = Seat{ID: "ana's", Role: Host, State: Free, Connection: "PA_0"}
			}),
			result{role: Host, seat: "ana's", displaced: "own", heldFor: rejoinTimeout}},
		"a full room": {full(Seat{ID: "a", Role: Guest, State: Joined}, Seat{ID: "b", Role: Guest, State: Joined}),
			result{code: "room_full", role: Guest}},
		"a host displaces the newest guest": {together(full(Seat{ID: "a", Role: Guest, State: Joined, CreatedAt: now},
			Seat{ID: "b", Role: Guest, State: Joined, CreatedAt: now.Add(-time.Hour)}), link(Link{Role: Host, SingleUse: true})),
			result{role: Host, displaced: "a", heldFor: connectTimeout}},
		"a guest displaces the oldest seat of a hoarder": {full(unused("a", "10.0.0.1/32", 20*time.Second),
			unused("b", "10.0.0.1/32", time.Minute)), result{role: Guest, displaced: "b", heldFor: connectTimeout}},
		"a seat that is given up makes room": {together(full(own(func(s *Seat) { s.UserID = "bo" })),
			known(func(s *Seat) { s.UserID = "bo" }), link(Link{ID: "l", Role: Guest, UserID: "ana"})),
			result{role: Guest, heldFor: connectTimeout}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := facts{room: &Room{ID: "room", State: Open, Spec: Spec{MaxParticipants: 10}, CreatedAt: now},
				project: project.Project{Status: project.Active}}
			v := JoinRequest{Name: "Ana", SeatKey: key, ClientAddr: netip.MustParseAddr("192.0.2.1")}
			if c.change != nil {
				c.change(&f, &v)
			}
			before := *f.room
			d, err := admit(f, v, now)
			got := result{role: d.visitor.role, token: d.token, mustWait: d.mustWait}
			if err != nil {
				got.code = fault.From(err).Code
			} else {
				got.seat, got.displaced, got.reconnect = d.seat.ID, d.displaced.ID, d.reconnects
			}
			if err == nil && !d.mustWait {
				got.heldFor = d.seat.HeldUntil.Sub(now)
				if d.seat.State == Free || d.seat.Name != "Ana" || d.seat.KeyHash != seal.Hash(key) {
					t.Errorf("seat: got %+v, want a taken seat of the visitor", d.seat)
				}
			}
			if got != c.want {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
			if f.room.State != before.State || f.room.EventSequence != before.EventSequence {
				t.Errorf("room: got %+v, want it unchanged", *f.room)
			}
		})
	}
}
