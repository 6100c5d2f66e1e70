package room

import (
	"cmp"
	"slices"
	"time"

	"parley/internal/fault"
	"parley/internal/network"
	"parley/internal/project"
	"parley/internal/seal"
)

// This file decides about visitors who want to join. Its functions are pure: facts.go reads
// what they need to know, and reserve.go writes what they decide.

// facts is what is known about a room and a visitor. Under the lock of the room it stays true
// until the transaction ends.
type facts struct {
	room        *Room
	link        Link // that the visitor's token names; valid if linkFound
	linkFound   bool
	linkRevoked bool      // the participant who created the link in the room is no longer a host or co-host
	browserSeat Seat      // of the visitor's browser; ID is empty if none
	personSeat  Seat      // of the person whom the link names; ID is empty if none
	leftAt      time.Time // when the guest in browserSeat was in the room last; only while the waiting room is on
	knocks      []Knock   // of all visitors, also expired and denied ones
	limited     bool      // addresses have limits
	token       tokenState

	project   project.Project
	occupancy Occupancy
	taken     []Seat // the taken seats if the room is full, else nil
}

// visitor is who a request is from.
type visitor struct {
	keyHash      string // of the seat key
	link         Link   // empty unless status is LinkOK
	status       LinkStatus
	seat         Seat // the visitor's existing seat; valid if known
	known        bool
	leftRecently bool // the visitor was in the room within the last minute
	role         Role
	previousSeat Seat // seat that this browser has as another person and must give up; ID is empty if none
}

// tokenState says whether a token of the limit of new seats of the visitor's address was asked for.
type tokenState int

const (
	tokenNotAsked tokenState = iota
	tokenTaken
	tokenRefused // there is none left
)

// tokenUse says for what a request needs a token that was not asked for.
type tokenUse int

const (
	noToken       tokenUse = iota
	tokenRequired          // without a token the request is refused
	tokenOptional          // without a token the reservation is not renewed
)

// decision is what happens to a visitor who may enter: their seat, or that they wait.
type decision struct {
	visitor visitor
	token   tokenUse // to be asked for before the decision is carried out; then admit decides again

	mustWait   bool
	knock      Knock // if mustWait; ID is empty for a new one
	storeKnock bool

	seat       Seat // unless mustWait; ID is empty for a new one
	wasFree    bool // the seat is reserved now
	reconnects bool // connections of the seat end first, because the participant becomes hidden or visible
	displaced  Seat // seat of a guest, or visitor.previousSeat, that is freed for the visitor; ID is empty if none
}

// admit decides what happens to a visitor who wants to join. Of a refused visitor, the decision
// has only the visitor and the token, and if the room is full the seat that was not reserved.
func admit(f facts, v JoinRequest, now time.Time) (d decision, err error) {
	if d.visitor, err = f.identify(v, now); err != nil {
		return d, err
	}
	if f.isNewcomer(d.visitor) && f.token != tokenTaken {
		d.token = tokenRequired
	}
	if err := f.checkEntry(d.visitor, v.ExpectedRole, now); err != nil {
		return d, err
	}
	if d.mustWait = f.room.mustWait(d.visitor); d.mustWait {
		return d, f.wait(&d, v, now)
	}
	return d, f.reserve(&d, v, now)
}

// identify finds the seat that a visitor already has: the seat of this browser or, with a
// personal link, the seat of the person, whichever browser it was reserved from. It returns
// errRemoved if a host removed the browser or the person.
func (f facts) identify(v JoinRequest, now time.Time) (visitor, error) {
	out := visitor{keyHash: v.keyHash()}
	out.link, out.status = f.resolveLink(v.LinkToken, out.keyHash, now)
	out.role = cmp.Or(out.link.Role, Guest)
	if out.link.UserID == "" || f.browserSeat.UserID == out.link.UserID {
		out.seat = f.browserSeat
	} else {
		if f.browserSeat.ID != "" && f.browserSeat.UserID == "" {
			out.role = rank(out.role, f.browserSeat.Role) // the link names the same person for the first time
		}
		out.previousSeat, out.seat = f.browserSeat, f.personSeat
	}
	out.known = out.seat.ID != ""
	out.leftRecently = out.known && now.Sub(f.leftAt) < rejoinTimeout
	if !out.seat.RemovedAt.IsZero() || !out.previousSeat.RemovedAt.IsZero() {
		return out, errRemoved
	}
	if out.known {
		out.role = rank(out.role, out.seat.Role)
	}
	if out.role == CoHost && out.seat.Demoted {
		out.role = Guest
	}
	return out, nil
}

// rank returns the higher of two roles, because a link never takes a role away.
func rank(a, b Role) Role {
	for _, r := range []Role{Host, CoHost} {
		if a == r || b == r {
			return r
		}
	}
	return Guest
}

// resolveLink returns the visitor's link and its status. The link is empty unless its status is
// LinkOK.
func (f facts) resolveLink(token, keyHash string, now time.Time) (Link, LinkStatus) {
	l := f.link
	switch {
	case token == "":
		return Link{}, NoLink
	case !f.linkFound:
		return Link{}, LinkUnknown
	case l.SingleUse && l.RedeemedBy != "" && l.RedeemedBy != keyHash:
		return Link{}, LinkTaken
	case !l.ExpiresAt.IsZero() && !now.Before(l.ExpiresAt) && l.RedeemedBy == "":
		return Link{}, LinkExpired // a visitor who redeemed it before may return
	case f.linkRevoked && l.RedeemedBy == "":
		return Link{}, LinkExpired
	}
	return l, LinkOK
}

// isNewcomer reports whether a visitor counts against the limit of their address:
// they have no seat, are not in the waiting room yet, and are not trusted.
func (f facts) isNewcomer(v visitor) bool {
	isWaiting := slices.ContainsFunc(f.knocks, func(k Knock) bool { return k.KeyHash == v.keyHash })
	return f.limited && !v.known && !v.isTrusted() && !isWaiting
}

// isTrusted reports whether a visitor was invited personally: they are a host or
// co-host, or their link is for one person or makes them hidden.
func (v visitor) isTrusted() bool {
	return v.role != Guest || v.link.SingleUse || v.link.UserID != "" || v.link.Hidden
}

// checkEntry returns an error unless the visitor may enter the room or its waiting room. A
// scheduled room is open for a host who comes early.
func (f facts) checkEntry(v visitor, expected Role, now time.Time) error {
	opened := *f.room
	opened.openForRole(v.role, now)
	if err := opened.checkJoinable(f.project, f.occupancy, now); err != nil {
		return err
	}
	if err := checkInvitation(f.project, v.status, v.known); err != nil {
		return err
	}
	if (v.link.Hidden || v.known && v.seat.Hidden && v.status != LinkOK) && !f.project.Settings.HiddenParticipants {
		return fault.New(fault.Forbidden, "hidden_participants_off",
			"the project does not allow hidden participants any more")
	}
	if v.seat.Demoted { // the page of a demoted co-host still shows the earlier role
		return nil
	}
	return checkExpectedRole(expected, v.role, v.status)
}

// checkExpectedRole returns Conflict if the page showed a host's or co-host's role
// and the link no longer grants it.
func checkExpectedRole(role, granted Role, status LinkStatus) error {
	if role == "" || role == Guest || granted != Guest {
		return nil
	}
	switch status {
	case LinkTaken:
		return fault.New(fault.Conflict, "link_taken", "this link was already used in another browser")
	case LinkUnknown:
		return fault.New(fault.Conflict, "link_taken", "this link is not valid any more")
	case LinkExpired:
		return fault.New(fault.Conflict, "link_taken", "this link has expired")
	}
	return nil
}

// mustWait reports whether a visitor has to wait until a host lets them in. A visitor who
// is in the room, lost the connection, left within the last minute, as a page that is
// reloaded does, or was let in, a trusted visitor, who was invited, and a hidden visitor,
// who is never shown to hosts, do not wait. A seat that was reserved before the waiting room
// was on, and never connected, is not enough.
func (r *Room) mustWait(v visitor) bool {
	isIn := !v.seat.unused() && v.seat.State != Free || v.leftRecently
	wasLetIn := v.known && (isIn || !v.seat.anonymous())
	return r.Locks.WaitingRoom && !wasLetIn && !v.isTrusted()
}

// wait decides how a visitor waits: with a new knock, or with a renewed one. It returns
// Forbidden if a host denied the visitor, and Conflict if too many visitors are waiting.
func (f facts) wait(d *decision, v JoinRequest, now time.Time) error {
	knock := Knock{RoomID: f.room.ID, KeyHash: d.visitor.keyHash, Network: network.SitePrefix(v.ClientAddr).String()}
	others, sameNetwork := 0, 0
	for _, k := range f.knocks {
		if k.KeyHash == knock.KeyHash {
			knock = k
		} else if k.isWaiting(now) {
			others++
			if k.Network == knock.Network {
				sameNetwork++
			}
		}
	}
	if err := knock.denial(now); err != nil {
		return err
	}
	if !knock.isWaiting(now) {
		if others >= maxWaiting || f.limited && sameNetwork >= maxWaitingPerNetwork {
			return &fault.Error{Kind: fault.Conflict, Code: "waiting_room_full", RetryAfter: waitingRoomFullRetry,
				Message: "too many people are already waiting for this room, try again in a moment"}
		}
		knock.Denied, knock.CreatedAt = false, now
	}
	if knock.Name != v.Name || knock.ExpiresAt.Sub(now) <= knockTTL-knockRenewal {
		knock.Name, knock.ExpiresAt, d.storeKnock = v.Name, now.Add(knockTTL), true
	}
	d.knock = knock
	return nil
}

// denial returns Forbidden if a host denied the visitor recently.
func (f facts) denial(keyHash string, now time.Time) error {
	for _, k := range f.knocks {
		if k.KeyHash == keyHash {
			return k.denial(now)
		}
	}
	return nil
}

// reserve decides which seat a visitor gets: the one that they have, or a new one. It returns
// Conflict (room_full) if there is none.
func (f facts) reserve(d *decision, v JoinRequest, now time.Time) error {
	from, site := d.visitor, network.SitePrefix(v.ClientAddr).String()
	seat := from.seat
	if !from.known {
		seat = Seat{RoomID: f.room.ID, UserID: from.link.UserID, State: Free, CreatedAt: now}
	}
	seat.KeyHash, seat.Name, seat.Role = from.keyHash, v.Name, from.role
	seat.Invited = seat.Invited || from.link.SingleUse || from.link.UserID != ""
	var freed []Seat
	if from.previousSeat.State == Reserved {
		freed = append(freed, from.previousSeat)
	}
	// A participant who becomes hidden or visible has to reconnect, because the current
	// connection was recorded, and would be counted, the other way.
	if from.status == LinkOK && seat.Hidden != from.link.Hidden {
		if d.reconnects = seat.State != Free; d.reconnects {
			freed = append(freed, seat)
			seat.free()
		}
		seat.Hidden = from.link.Hidden
	}
	d.seat = seat // for room_full
	if d.wasFree = seat.State == Free; d.wasFree {
		var err error
		if d.displaced, err = f.ensureCapacity(seat, from.previousSeat, site, freed, now); err != nil {
			return err
		}
		seat.State = Reserved
	}
	if seat.unused() && seat.anonymous() {
		seat.Network = site
	}
	if f.hold(&seat, now) {
		d.token = tokenOptional
	}
	d.seat = seat
	return nil
}

// hold holds a seat for the connection that the page is about to make. The seat of a connected
// participant is held too, because the page is about to reconnect, possibly to another session,
// and its old connection may end first. A visitor who never connects cannot hold a seat forever
// by asking again, because that renews the reservation only in its last ten seconds, and each
// renewal takes a token. hold reports whether a token has to be asked for.
func (f facts) hold(seat *Seat, now time.Time) (needsToken bool) {
	if !seat.unused() {
		seat.HeldUntil = now.Add(rejoinTimeout)
		return false
	}
	isExpired := !seat.HeldUntil.After(now)
	mayRenew := seat.HeldUntil.Sub(now) < renewalWindow
	if isExpired || mayRenew && (f.token == tokenTaken || !f.limited) {
		seat.HeldUntil = now.Add(connectTimeout)
		return false
	}
	return mayRenew && f.token == tokenNotAsked
}

// ensureCapacity returns Conflict (room_full) if the room has no seat for a visitor. freed are
// the seats that the visitor gives up by joining. If the room is full even without them, one other
// seat may be displaced:
//   - the previous seat of the same browser, if it is connected as another person;
//   - for a host or co-host, if there is no other in the room, the seat of an anonymous guest: the
//     oldest that was never connected to, or else that of the guest who came last;
//   - for a guest with a personal link, or whom a host let in or demoted, a seat that was never
//     connected to, if all visible seats belong to anonymous guests;
//   - for an anonymous guest, the seat that chooseHoarded returns.
func (f facts) ensureCapacity(
	seat, previous Seat, network string, freed []Seat, now time.Time,
) (displaced Seat, err error) {
	o := f.occupancy
	for _, other := range freed {
		o = o.without(other)
	}
	full := f.room.checkCapacity(seat, o)
	if full == nil || seat.Hidden {
		return Seat{}, full
	}
	if previous.State == Joined && !previous.Hidden {
		return previous, nil
	}
	taken := slices.DeleteFunc(slices.Clone(f.taken), func(other Seat) bool {
		return slices.ContainsFunc(freed, func(f Seat) bool { return f.ID == other.ID })
	})
	var found bool
	if seat.anonymous() {
		displaced, found = chooseHoarded(taken, network, now)
	} else {
		displaced, found = seat.chooseDisplaced(taken)
	}
	if !found {
		return Seat{}, full
	}
	return displaced, nil
}

// keyHash returns the hash of the seat key, "" in a preview without one.
func (v JoinRequest) keyHash() string {
	if v.SeatKey == "" {
		return ""
	}
	return seal.Hash(v.SeatKey)
}
