package key

import "time"

// Verify looks for the live credential that check holds for, and returns its
// id. The one that was found last is tried first: clients sign with the same
// one every time. With secretsOnly API keys are left out.
func (r *Keyring) Verify(now time.Time, secretsOnly bool, check func(credential string) bool) (id string, found bool) {
	n := len(r.keys) + len(r.secrets)
	first := int(r.verified.Load())
	for i := range n {
		at := (first + i) % n
		id, credential, live := r.credentialAt(at, now, secretsOnly)
		if live && check(credential) {
			if at != first {
				r.verified.Store(int32(at))
			}
			return id, true
		}
	}
	return "", false
}

// credentialAt returns the credential at an index that counts keys and then secrets.
func (r *Keyring) credentialAt(i int, now time.Time, secretsOnly bool) (id, credential string, live bool) {
	if i < len(r.keys) {
		k := &r.keys[i]
		return k.ID, k.Key.Reveal(), !secretsOnly && k.Live(now)
	}
	s := &r.secrets[i-len(r.keys)]
	return s.ID, s.Secret.Reveal(), s.Slot == Current || now.Before(s.OverlapEndsAt)
}
