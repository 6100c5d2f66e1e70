package storetest

import (
	"context"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
)

func (s *suite) testLinks(t *testing.T) {
	ctx := patient()
	r, elsewhere := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	for i, text := range trickyTexts {
		l := room.Link{
			ID:        NewID(),
			RoomID:    r.ID,
			TokenHash: NewID(),
			Role:      room.CoHost,
			SingleUse: i%2 == 0,
			Name:      text,
			UserID:    text,
			Hidden:    i%2 == 1,
			CreatedAt: testTime(i),
		}
		if i > 2 {
			l.ExpiresAt, l.CreatedBy = testTime(i+60), NewID()
		}
		s.write(t, func(ctx context.Context) error { return s.db.InsertLink(ctx, l) })
		got, err := s.db.LinkByHash(ctx, r.ID, l.TokenHash)
		requireEqual(t, got, err, l)
		_, err = s.db.LinkByHash(ctx, elsewhere.ID, l.TokenHash)
		requireFault(t, err, fault.NotFound, "link_not_found")

		l.RedeemedBy = "first"
		s.write(t, func(ctx context.Context) error { return s.db.RedeemLink(ctx, l.ID, l.RedeemedBy) })
		got, err = s.db.LinkByHash(ctx, r.ID, l.TokenHash)
		requireEqual(t, got, err, l)
		// A link can be redeemed once.
		err = s.db.Write(ctx, func(ctx context.Context) error { return s.db.RedeemLink(ctx, l.ID, "second") })
		requireFault(t, err, fault.NotFound, "link_not_found")
		if l.CreatedBy != "" {
			redeemed, err := s.db.RedeemedLinks(ctx, r.ID, l.CreatedBy)
			requireEqual(t, redeemed, err, []string{"first"})
		}
		none, err := s.db.RedeemedLinks(ctx, elsewhere.ID, l.CreatedBy)
		requireEqual(t, none, err, nil)

		twin := l
		twin.ID = NewID()
		requireConstraintError(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertLink(ctx, twin) }))
	}
}

func (s *suite) testBreakouts(t *testing.T) {
	ctx := patient()
	r, elsewhere := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	breakout := func(roomID string, n int) room.Breakout {
		return room.Breakout{
			RoomID:   roomID,
			N:        n,
			Name:     trickyTexts[n],
			Session:  n + 1,
			OpenedAt: testTime(n),
		}
	}
	first, second, other := breakout(r.ID, 1), breakout(r.ID, 2), breakout(elsewhere.ID, 1)
	s.write(t, func(ctx context.Context) error {
		for _, b := range []room.Breakout{second, first, other} {
			if err := s.db.InsertBreakout(ctx, b); err != nil {
				return err
			}
			session := room.Session{RoomID: b.RoomID, N: b.Session, Breakout: b.N, State: room.SessionLive}
			if err := s.db.InsertSession(ctx, session, b.OpenedAt); err != nil {
				return err
			}
		}
		main := room.Session{RoomID: r.ID, N: 1, State: room.SessionLive}
		return s.db.InsertSession(ctx, main, testTime(1))
	})
	breakouts := func(roomID string, want ...room.Breakout) {
		t.Helper()
		got, err := s.db.Breakouts(ctx, roomID)
		requireEqual(t, got, err, want)
	}
	breakouts(r.ID, first, second)
	requireConstraintError(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertBreakout(ctx, first) }))

	live := func(want ...room.Session) {
		t.Helper()
		all, err := s.db.Sessions(ctx, room.SessionLive)
		var got []room.Session
		for n := range 4 { // other tests use the same database
			for _, session := range all {
				if session.RoomID == r.ID && session.N == n {
					got = append(got, session)
				}
			}
		}
		requireEqual(t, got, err, want)
	}
	own := room.Session{RoomID: r.ID, N: 1, State: room.SessionLive}
	live(own, room.Session{RoomID: r.ID, N: 2, Breakout: 1, State: room.SessionLive},
		room.Session{RoomID: r.ID, N: 3, Breakout: 2, State: room.SessionLive})
	s.write(t, func(ctx context.Context) error { return s.db.CloseSessions(ctx, r.ID, true, testTime(7)) })
	live(own)
	s.write(t, func(ctx context.Context) error { return s.db.CloseSessions(ctx, r.ID, false, testTime(8)) })
	live()
	first.ClosedAt, second.ClosedAt = testTime(7), testTime(7)
	breakouts(r.ID, first, second)
	breakouts(elsewhere.ID, other)
}

func (s *suite) testSeatByUser(t *testing.T) {
	ctx := patient()
	r, elsewhere := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	ada := newSeat(r.ID, room.Joined, 1)
	withoutUser, free := newSeat(r.ID, room.Joined, 2), newSeat(r.ID, room.Free, 3)
	ada.UserID, ada.Hidden, ada.Breakout = "7", true, 3
	s.insertSeats(t, ada, withoutUser, free)
	got, err := s.db.SeatByUser(ctx, r.ID, "7")
	requireEqual(t, got, err, ada)
	for roomID, user := range map[string]string{r.ID: "8", elsewhere.ID: "7"} {
		_, err = s.db.SeatByUser(ctx, roomID, user)
		requireFault(t, err, fault.NotFound, "seat_not_found")
	}
	_, err = s.db.SeatByUser(ctx, r.ID, "")
	requireFault(t, err, fault.NotFound, "seat_not_found")
	twin := newSeat(r.ID, room.Free, 4)
	twin.UserID = "7"
	requireConstraintError(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertSeat(ctx, twin) }))

	// A hidden seat counts only as hidden.
	o, err := s.db.Occupancy(ctx, r.ID)
	requireEqual(t, o, err, room.Occupancy{Taken: 1, Joined: 1, Hidden: 1})
	ada.KeyHash, ada.UserID, ada.Hidden, ada.Breakout = NewID(), "9", false, 0
	s.write(t, func(ctx context.Context) error { return s.db.UpdateSeat(ctx, ada) })
	got, err = s.db.SeatByUser(ctx, r.ID, "9")
	requireEqual(t, got, err, ada)
}

func (s *suite) testUpdateRoomSpec(t *testing.T) {
	r := Room(s.project.ID)
	r.State, r.StartAt = room.Scheduled, testTime(100)
	s.insertRoom(t, r)
	r.Title, r.WelcomeMessage, r.CreatorName, r.MaxParticipants = "New", "Hello", "Bob", 3
	r.EmptyTimeout, r.Duration, r.StartAt = 20*time.Second, 2*time.Hour, testTime(200)
	r.ExternalUserID, r.BreakoutRooms = "8", 4
	r.LogoutURL, r.WebhookURL = "https://example.org", "https://example.org/hook"
	s.write(t, func(ctx context.Context) error { return s.db.UpdateRoomSpec(ctx, r) })
	got, err := s.db.Room(patient(), r.ID)
	requireEqual(t, got, err, r)
}
