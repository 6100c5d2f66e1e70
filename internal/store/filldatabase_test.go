package store_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/conncheck"
	"parley/internal/counter"
	"parley/internal/key"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/usage"
	"parley/internal/webhook"
)

// fillDatabase stores a value in every text column of every table, through the
// services, and returns every secret that they issued or received.
func fillDatabase(t *testing.T, db *store.DB) (projectID string, secrets []string) {
	t.Helper()
	ctx := audit.WithOrigin(context.Background(), audit.Origin{
		Kind:      audit.KindToken,
		ActorID:   "token",
		ActorName: "Ada",
		RequestID: "req_1",
		Address:   "192.0.2.1",
		Node:      "node",
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	addSecrets := func(s ...seal.Secret) {
		for _, s := range s {
			secrets = append(secrets, s.Reveal())
		}
	}
	media, err := db.MediaSecret(ctx)
	must(err)
	addSecrets(media)

	projects := project.NewService(db, time.Now, storetest.NewID, func(string) {})
	hooks := webhook.NewService(db, time.Now, storetest.NewID)
	keys := key.NewService(db, projects, time.Now, storetest.NewID, key.WithEventRecorder(hooks.ProjectChanged))
	o, err := projects.CreateOrganization(ctx, "Example", project.Payg)
	must(err)
	text := func(s string) *string { return &s }
	_, err = projects.SetOrganization(ctx, o.ID, project.OrganizationChanges{
		Plan: text("team"), Currency: text("EUR"), UnitPrice: text("0.004"),
	})
	must(err)
	must(audit.NewService(db, time.Now).Prune(ctx, time.Now().Add(time.Hour)))
	p, issued, err := keys.CreateProject(ctx, project.Draft{OrganizationID: o.ID, Name: "Example"})
	must(err)
	p.Settings.Locks.Camera = true
	must(db.Write(ctx, func(ctx context.Context) error {
		return db.SaveLogo(ctx, p.ID, project.Logo{Hash: "hash", Format: "png", Width: 16, Height: 16}, []byte("image"))
	}))
	must(db.Write(ctx, func(ctx context.Context) error {
		day := counter.Key{Subject: o.ID, Period: "2026-11-21"}
		_, err := db.AddCounts(ctx, counter.Batch{Process: "p", Number: 1, Keys: []counter.Key{day},
			Add: []counter.Count{{N: 1}}})
		_, quotaErr := db.UseQuota(ctx, p.ID, room.QuotaRooms, time.Now())
		call := requestlog.NumberedCall{N: 1, Call: requestlog.Call{Method: "GET", Path: "/api/v5/keys"}}
		block := requestlog.Block{ProjectID: p.ID, API: "v5", Calls: []requestlog.NumberedCall{call}}
		rejected := requestlog.RejectionCount{
			Day:     time.Now(),
			API:     "v3",
			Cause:   "unknown_project",
			Address: "192.0.2.1",
			Calls:   1,
			LastAt:  time.Now(),
		}
		return errors.Join(err, quotaErr, db.InsertCalls(ctx, []requestlog.Block{block}),
			db.AddRejections(ctx, []requestlog.RejectionCount{rejected}),
			db.AddCallTotals(ctx, []requestlog.CallTotal{{ProjectID: p.ID, At: time.Now(), Accepted: 1}}))
	}))
	must(db.Write(ctx, func(ctx context.Context) error {
		_, err := db.LockACME(ctx, "certificate", "holder", time.Now(), time.Now().Add(time.Minute))
		return errors.Join(err, db.SaveACMEFile(ctx, "certificates/example.org.key", []byte("acme private key"), time.Now()))
	}))
	secrets = append(secrets, "acme private key")
	must(db.Write(ctx, func(ctx context.Context) error {
		c := conncheck.Check{
			ID:         storetest.NewID(),
			CodeHash:   storetest.NewID(),
			KeyHash:    storetest.NewID(),
			CreatedAt:  time.Now(),
			ExpiresAt:  time.Now(),
			StartedAt:  time.Now(),
			FinishedAt: time.Now(),
			Paths:      conncheck.Paths{{Name: "udp"}},
		}
		return db.InsertConnectionCheck(ctx, c, time.Time{})
	}))
	must(db.SetKeyCallers(ctx, []requestlog.KeyCaller{{ProjectID: p.ID, KeySlot: "current", At: time.Now(),
		Address: "192.0.2.1", UserAgent: "curl/8"}}))
	must(db.Write(ctx, func(ctx context.Context) error { // as an earlier release writes it
		return db.Exec(ctx, `INSERT INTO key_callers (project_id, slot, at, address, user_agent)
			SELECT project_id, slot, at, address, user_agent FROM recent_key_callers
			WHERE true ON CONFLICT DO NOTHING`)
	}))
	addSecrets(issued.APIKey, issued.GatewaySecret, issued.ProjectSecret)
	rotated, err := keys.RotateKey(ctx, p.ID, key.Rotation{Overlap: time.Hour})
	must(err)
	addSecrets(rotated.APIKey, rotated.GatewaySecret)
	secret, err := keys.RotateSecret(ctx, p.ID, key.Rotation{Overlap: time.Hour})
	must(err)
	addSecrets(secret.ProjectSecret)

	operators := operator.NewService(db, time.Now, storetest.NewID)
	_, token, err := operators.Create(ctx,
		operator.NewToken{Name: "console", Role: operator.Integrator, ProjectIDs: operator.ProjectIDs{p.ID}})
	must(err)
	addSecrets(token)
	email := storetest.NewID() + "@example.org" // unique, because a test fills a database twice
	_, err = operators.CreateUser(ctx, operator.NewUser{Email: email, Name: "Ada", Role: operator.Integrator,
		ProjectIDs: operator.ProjectIDs{p.ID}})
	must(err)
	_, ofUser, err := operators.SignInWithOpenID(ctx, operator.OpenIDAccount{Issuer: "https://login.example.org",
		Subject: email, Email: email, EmailVerified: true}, audit.Origin{})
	must(err)
	_, ofToken, err := operators.SignInWithToken(ctx, token.Reveal(), audit.Origin{})
	must(err)
	_, code, err := operators.CreateLink(ctx, operator.NewLink{Name: "Ada", Role: operator.Integrator,
		ProjectIDs: operator.ProjectIDs{p.ID}})
	must(err)
	addSecrets(ofUser, ofToken, code)

	rooms := room.NewService(db, fakeMedia{}, func() string { return "https://example.com" }, time.Now,
		storetest.NewID, slog.New(slog.DiscardHandler), room.Options{Webhooks: hooks})
	created, err := rooms.CreateQuick(ctx, p, room.Spec{
		Type:            room.Video,
		CreatorName:     "Ada",
		MaxParticipants: 5,
		ClientRoomID:    "mine",
		Title:           "Title",
		WelcomeMessage:  "Welcome",
		ExternalUserID:  "7",
		LogoutURL:       "https://example.com/bye",
		WebhookURL:      "https://example.com/hook",
	}, &room.IdempotencyKey{ProjectID: p.ID, Route: "route", Key: "key"})
	must(err)
	link := created.FinalLink[strings.Index(created.FinalLink, "#t=")+3:]
	seatKey := strings.Repeat("seat-key", 4)
	secrets = append(secrets, link, seatKey)
	admission, err := rooms.ReserveSeat(ctx, created.ID, room.JoinRequest{
		LinkToken: link, SeatKey: seatKey, Name: "Ada", ExpectedRole: room.Host,
	})
	must(err)
	rooms.ParticipantJoined(admission.SessionID, admission.Seat.ID, "PA_1", time.Now())
	must(rooms.GiveFeedback(ctx, created.ID, seatKey, room.RatedGood))
	_, err = rooms.OpenBreakouts(ctx, created.ID, seatKey, room.OpenBreakoutsRequest{Names: []string{"One"}})
	must(err)
	ended, err := rooms.CreateQuick(ctx, p, room.Spec{Type: room.Video, CreatorName: "Ada", MaxParticipants: 5,
		Title: "Over"}, nil)
	must(err)
	_, err = rooms.End(ctx, ended.ID, room.EndedAPI)
	must(err)
	personal, err := rooms.Invite(ctx, p, created.ID, room.Invitation{
		Role: room.Guest, SingleUse: true, Name: "Bob", UserID: "8",
	})
	must(err)
	personal = personal[strings.Index(personal, "#t=")+3:]
	secrets = append(secrets, personal, seatKey+"2")
	bob, err := rooms.ReserveSeat(ctx, created.ID, room.JoinRequest{
		LinkToken: personal, SeatKey: seatKey + "2", Name: "Bob",
	})
	must(err)
	_, err = rooms.RemoveBySeat(ctx, created.ID, bob.Seat.ID)
	must(err)
	made, err := rooms.CreateInvitation(ctx, created.ID, seatKey, room.CoHost)
	must(err)
	secrets = append(secrets, made[strings.Index(made, "#t=")+3:], seatKey+"3")
	secrets = append(secrets, seatKey+"4")
	_, err = rooms.ReserveSeat(ctx, created.ID, room.JoinRequest{SeatKey: seatKey + "4", Name: "Dan",
		ClientAddr: netip.MustParseAddr("192.0.2.1")})
	must(err)
	on := true
	must(rooms.UpdateLocks(ctx, created.ID, seatKey, room.LockChange{WaitingRoom: &on}))
	_, err = rooms.ReserveSeat(ctx, created.ID, room.JoinRequest{SeatKey: seatKey + "3", Name: "Chen"})
	must(err)
	rooms.ParticipantLeft(admission.SessionID, admission.Seat.ID, "PA_1", time.Now(), room.LeftByChoice)
	must(db.Write(ctx, func(ctx context.Context) error {
		ended, err := db.LockRoom(ctx, created.ID)
		if err != nil {
			return err
		}
		ended.State, ended.EndReason, ended.EndedAt = room.Ended, room.EndedEmpty, time.Now()
		return errors.Join(db.UpdateRoom(ctx, ended), db.RecordHeartbeat(ctx, room.Node{
			ID:        rooms.NodeID(),
			Version:   "v1.2.3",
			LastAlive: time.Now(),
			Redis:     room.RedisNone,
			Findings:  "[]",
		}))
	}))
	promoted, err := db.Seat(ctx, created.ID, admission.Seat.ID)
	must(err)
	promoted.PromotedBy = admission.Seat.ID
	must(db.Write(ctx, func(ctx context.Context) error { return db.UpdateSeat(ctx, promoted) }))
	must(db.Write(ctx, func(ctx context.Context) error { return insertFailedDelivery(ctx, db, p.ID, created.ID) }))
	later := func() time.Time { return time.Now().Add(26 * time.Hour) } // today is folded
	must(usage.NewService(db, usage.NoProvider{}, later).RollUp(ctx))
	late := room.Attendance{
		ID:         storetest.NewID(),
		RoomID:     created.ID,
		Session:    1,
		SeatID:     admission.Seat.ID,
		Connection: "PA_2",
		JoinedAt:   time.Now(),
		LeftAt:     time.Now(),
		Quality:    room.QualityGood,
	}
	must(db.Write(ctx, func(ctx context.Context) error {
		_, err := db.InsertAttendance(ctx, late, later())
		return err
	}))
	storetest.Pack(t, db, later())
	return p.ID, secrets
}

// insertFailedDelivery stores the rows that a failed delivery leaves.
func insertFailedDelivery(ctx context.Context, db *store.DB, projectID, roomID string) error {
	streams, err := db.Streams(ctx, projectID, roomID)
	if err != nil {
		return err
	}
	now, replay := time.Now(), streams[0]
	d, _, err := db.NextDelivery(ctx, streams[0].ID)
	if err != nil {
		return err
	}
	t, err := db.RecordTargetFailure(ctx, projectID, d.URL, now)
	if err != nil {
		return err
	}
	replay.ID, replay.Replay, t.Notice = storetest.NewID(), storetest.NewID(), "it is paused"
	_, err = db.LeaseStreams(ctx, streams[0].Bucket, 1, "lease", now.Add(time.Second), now.Add(time.Minute))
	return errors.Join(err, db.PauseTarget(ctx, t), db.InsertStream(ctx, replay, now),
		db.RecordAttempt(ctx, d, webhook.Attempt{N: 1, At: now, Error: "no response"}),
		db.RecordAttempt(ctx, d, webhook.Attempt{N: 2, At: now, ResponseBody: "no"}))
}

// fakeMedia is a media engine that does nothing.
type fakeMedia struct{ room.Media }

func (fakeMedia) Open(context.Context, room.MediaSession) error { return nil }
func (fakeMedia) UpdatePermissions(context.Context, string, string, room.Role, room.Grants) error {
	return nil
}
func (fakeMedia) UpdateMetadata(context.Context, string, room.Metadata) error      { return nil }
func (fakeMedia) Quality(string, string) room.ConnectionQuality                    { return room.QualityUnknown }
func (fakeMedia) ConnectionType(string, string) room.ConnectionType                { return room.ConnectionUDP }
func (fakeMedia) Admit(string)                                                     {}
func (fakeMedia) Remove(context.Context, string, string) error                     { return nil }
func (fakeMedia) CloseConnection(string, string, string)                           {}
func (fakeMedia) Connection(string, string) string                                 { return "" }
func (fakeMedia) Participants(context.Context, string) ([]room.Participant, error) { return nil, nil }
func (fakeMedia) AccessToken(room.AccessTokenSpec) (string, error)                 { return "token", nil }
