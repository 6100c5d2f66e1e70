package room

import (
	"slices"
	"strings"
)

// Features is what people may do in a room: what plan, project and request
// together allow. It never changes.
type Features struct {
	Camera, ScreenShare, Chat bool
}

// Locks is what guests may not do in a room until a host lets them. The last
// is to come in.
type Locks struct {
	Microphone  bool `json:"microphone"`
	Camera      bool `json:"camera"`
	ScreenShare bool `json:"screen_share"`
	Chat        bool `json:"chat"`
	WaitingRoom bool `json:"waiting_room"`
}

// The names of features and locks.
const (
	nameMicrophone  = "microphone"
	nameCamera      = "camera"
	nameScreenShare = "screen_share"
	nameChat        = "chat"
	nameWaitingRoom = "waiting_room"
)

// String returns the names of the features, separated by spaces.
func (f Features) String() string {
	return joinNames(false, f.Camera, f.ScreenShare, f.Chat, false)
}

// ParseFeatures reads what String wrote.
func ParseFeatures(text string) Features {
	has := parseNames(text)
	return Features{Camera: has(nameCamera), ScreenShare: has(nameScreenShare), Chat: has(nameChat)}
}

// String returns the names of what is locked, separated by spaces.
func (l Locks) String() string {
	return joinNames(l.Microphone, l.Camera, l.ScreenShare, l.Chat, l.WaitingRoom)
}

// ParseLocks reads what String wrote.
func ParseLocks(text string) Locks {
	has := parseNames(text)
	return Locks{Microphone: has(nameMicrophone), Camera: has(nameCamera), ScreenShare: has(nameScreenShare), Chat: has(nameChat), WaitingRoom: has(nameWaitingRoom)}
}

func joinNames(microphone, camera, screenShare, chat, waitingRoom bool) string {
	list := 0
	for i, there := range [...]bool{microphone, camera, screenShare, chat, waitingRoom} {
		if there {
			list |= 1 << i
		}
	}
	return joinedNames[list]
}

// joinedNames has every list of names there can be, ready-made: one is written with
// each room. Bit n stands for the n-th name.
var joinedNames = func() (all [32]string) {
	for list := range all {
		var names []string
		for i, name := range [...]string{nameMicrophone, nameCamera, nameScreenShare, nameChat, nameWaitingRoom} {
			if list>>i&1 == 1 {
				names = append(names, name)
			}
		}
		all[list] = strings.Join(names, " ")
	}
	return all
}()

func parseNames(text string) func(name string) bool {
	list := strings.Fields(text)
	return func(name string) bool { return slices.Contains(list, name) }
}

// grants is what somebody in that role may send: hosts whatever the room can
// do, guests what is not locked besides.
func (r *Room) grants(role Role) Grants {
	locks := r.Locks
	if role != Guest {
		locks = Locks{}
	}
	return Grants{
		Microphone:  !locks.Microphone,
		Camera:      r.Features.Camera && !locks.Camera,
		ScreenShare: r.Features.ScreenShare && !locks.ScreenShare,
		Chat:        r.Features.Chat && !locks.Chat,
	}
}
