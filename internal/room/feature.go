package room

import (
	"slices"
	"strings"
)

// Features says what participants may publish in a room, as plan, project and
// request allow. It does not change after the room was created.
type Features struct {
	Camera, ScreenShare, Chat bool
}

// Locks says what guests may not do in a room until a host unlocks it.
type Locks struct {
	Microphone  bool `json:"microphone"`
	Camera      bool `json:"camera"`
	ScreenShare bool `json:"screen_share"`
	Chat        bool `json:"chat"`
	WaitingRoom bool `json:"waiting_room"` // guests wait until a host lets them in
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

// ParseFeatures parses the result of Features.String.
func ParseFeatures(text string) Features {
	has := parseNames(text)
	return Features{Camera: has(nameCamera), ScreenShare: has(nameScreenShare), Chat: has(nameChat)}
}

// String returns the names of the locks that are set, separated by spaces.
func (l Locks) String() string {
	return joinNames(l.Microphone, l.Camera, l.ScreenShare, l.Chat, l.WaitingRoom)
}

// ParseLocks parses the result of Locks.String.
func ParseLocks(text string) Locks {
	has := parseNames(text)
	return Locks{
		Microphone:  has(nameMicrophone),
		Camera:      has(nameCamera),
		ScreenShare: has(nameScreenShare),
		Chat:        has(nameChat),
		WaitingRoom: has(nameWaitingRoom),
	}
}

func joinNames(microphone, camera, screenShare, chat, waitingRoom bool) string {
	set := 0
	for i, included := range [...]bool{microphone, camera, screenShare, chat, waitingRoom} {
		if included {
			set |= 1 << i
		}
	}
	return joinedNames[set]
}

// joinedNames contains the names of every possible set, joined by spaces. Bit n of
// the index stands for the n-th name. It is computed in advance because two such
// texts are written with each room.
var joinedNames = func() (all [32]string) {
	for set := range all {
		var names []string
		for i, name := range [...]string{nameMicrophone, nameCamera, nameScreenShare, nameChat, nameWaitingRoom} {
			if set>>i&1 == 1 {
				names = append(names, name)
			}
		}
		all[set] = strings.Join(names, " ")
	}
	return all
}()

func parseNames(text string) func(name string) bool {
	list := strings.Fields(text)
	return func(name string) bool { return slices.Contains(list, name) }
}

// grants returns what a participant with that role may publish: the features of the
// room, for guests without what is locked.
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
