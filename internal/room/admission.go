package room

import (
	"cmp"
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
)

const (
	// accessTokenTTL is how long a media token can be used to connect. A connection
	// outlives its token.
	accessTokenTTL = 10 * time.Minute
	// maxHiddenParticipants is the number of hidden participants that a room admits
	// in addition to its seats.
	maxHiddenParticipants = 16
)

// Admission is a reserved seat with the token for the media connection. If the
// visitor has to wait until a host lets them in, it has only RetryAfter, HostPresent and
// LinkStatus.
type Admission struct {
	RetryAfter          time.Duration // when a waiting visitor must ask again; zero if admitted
	HostPresent         bool          // a host or co-host is in the room; only for a waiting visitor
	Seat                Seat
	Room                *Room
	SessionID           string
	Breakout            Breakout // the seat's breakout room; zero for the room itself
	Token               string
	LinkStatus          LinkStatus
	LogoutURL           string
	InvitationsRequired bool // the project admits only visitors with a link
	Test                bool // the room belongs to a test project

	displaced       displacedGuest // the guest who lost the seat to this visitor
	sessionsToLeave []string       // sessions from which the participant must be disconnected first
}

// completeAdmission disconnects the participant from the sessions to leave, opens
// the admission's session in the engine and creates the access token.
func (s *Joining) completeAdmission(ctx context.Context, a *Admission) error {
	for _, session := range a.sessionsToLeave {
		if err := s.media.Remove(ctx, session, a.Seat.ID); err != nil {
			return mediaUnavailable(err)
		}
	}
	hands, err := s.store.RaisedHands(ctx, a.Room.ID)
	if err != nil {
		return err
	}
	waiting, err := s.waitingKnocks(ctx, a.Room)
	if err != nil {
		return err
	}
	var all []Breakout
	if a.Room.LastSession > a.Room.Session { // the room has or had breakout rooms
		if all, err = s.store.Breakouts(ctx, a.Room.ID); err != nil {
			return err
		}
	}
	session := MediaSession{Name: a.SessionID, Type: a.Room.Type,
		MaxParticipants: a.Room.MaxParticipants + maxHiddenParticipants,
		Metadata:        newMetadata(a.Room, a.Breakout, all, hands, len(waiting))}
	if err := s.media.Open(ctx, session); err != nil {
		return mediaUnavailable(err)
	}
	token, err := s.media.AccessToken(AccessTokenSpec{Session: a.SessionID, Identity: a.Seat.ID, TTL: accessTokenTTL})
	a.Token = token
	return err
}

func mediaUnavailable(err error) error {
	return &fault.Error{
		Kind:       fault.Unavailable,
		Code:       "unavailable",
		Message:    "the media engine does not respond, try again in a moment",
		RetryAfter: time.Second,
		Err:        err,
	}
}

// checkJoinable returns an error unless the room is open, its project allows joins
// and the room's end is not due.
func (r *Room) checkJoinable(p project.Project, o Occupancy, now time.Time) error {
	if err := checkOpen(r); err != nil {
		return err
	}
	if err := p.AllowsJoins(); err != nil {
		return err
	}
	if state, reason, over := r.finalState(now, o); over {
		ended := *r
		ended.State, ended.EndReason = state, reason
		return checkOpen(&ended)
	}
	return nil
}

// checkProject returns the room's project, and Forbidden if it allows no joins.
func (s *core) checkProject(ctx context.Context, r *Room) (project.Project, error) {
	p, err := s.store.Project(ctx, r.ProjectID)
	if err != nil {
		return p, err
	}
	return p, p.AllowsJoins()
}

// checkInvitation returns Forbidden if the project requires a link and the visitor
// has neither a valid link nor a seat.
func checkInvitation(p project.Project, status LinkStatus, returning bool) error {
	if p.Settings.InvitationsRequired && status != LinkOK && !returning {
		message := "this room requires an invitation: open the link you were sent"
		switch status {
		case LinkTaken:
			message = "this room requires an invitation, and yours was already used in another browser: ask for a new one"
		case LinkExpired:
			message = "this room requires an invitation, and yours has expired: ask for a new one"
		}
		return &fault.Error{Kind: fault.Forbidden, Code: "invitation_required", Message: message}
	}
	return nil
}

func logoutURL(r *Room, p project.Project) string {
	return cmp.Or(r.LogoutURL, p.Settings.DefaultLogoutURL)
}
