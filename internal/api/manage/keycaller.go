package manage

import (
	"slices"
	"time"

	"parley/internal/key"
	"parley/internal/requestlog"
)

// keyCallers are the recent callers with the credentials of a project by slot, the latest first.
type keyCallers map[string][]requestlog.KeyCaller

// addTo adds the callers with a key to how it is shown.
func (c keyCallers) addTo(shown *Key, k key.APIKey) {
	current, old := string(key.Current), string(key.Overlap)
	if k.Slot == key.Current {
		shown.RecentCallers = new(newKeyCallers(c.between(current, k.CreatedAt, time.Time{})))
	} else {
		shown.RecentCallers = new(c.withOld(current, old, k.CreatedAt, k.RetiringSince))
	}
	if all := *shown.RecentCallers; len(all) > 0 && !all[0].At.Before(k.RetiringSince) {
		shown.LastUsedBy = &all[0]
	}
}

// withOld returns the callers with an old credential: those since the rotation, and those that used it when it was
// the current one and have not used the new one since.
func (c keyCallers) withOld(current, old string, created, rotated time.Time) []KeyCaller {
	all := c.between(old, rotated, time.Time{})
	for _, earlier := range c.between(current, created, rotated) {
		known := slices.ContainsFunc(all, func(o requestlog.KeyCaller) bool {
			return o.Address == earlier.Address && o.UserAgent == earlier.UserAgent
		})
		if !known {
			all = append(all, earlier)
		}
	}
	return newKeyCallers(all)
}

// between returns the callers in a slot whose last call was at or after since and before until, which is zero for no
// bound. Calls at other times used another credential, which was in the slot then.
func (c keyCallers) between(slot string, since, until time.Time) []requestlog.KeyCaller {
	return slices.DeleteFunc(slices.Clone(c[slot]), func(caller requestlog.KeyCaller) bool {
		return caller.At.Before(since) || !until.IsZero() && !caller.At.Before(until)
	})
}

func newKeyCallers(callers []requestlog.KeyCaller) []KeyCaller {
	out := make([]KeyCaller, len(callers))
	for i, c := range callers {
		out[i] = KeyCaller{Address: c.Address, UserAgent: c.UserAgent, At: NewTime(c.At)}
	}
	return out
}
