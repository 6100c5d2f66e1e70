package key

import "time"

// Verify returns the id of the live credential for which check returns true. It
// tries the credential that matched last first, because clients always sign with
// the same one. With secretsOnly it skips API keys.
func (r *Keyring) Verify(now time.Time, secretsOnly bool, check func(credential string) bool) (id string, found bool) {
	n := len(r.keys) + len(r.secrets)
	first := int(r.verified.Load())
	for i := range n {
		index := (first + i) % n
		id, credential, live := r.credentialAt(index, now, secretsOnly)
		if live && check(credential) {
			if index != first {
				r.verified.Store(int32(index))
			}
			return id, true
		}
	}
	return "", false
}

// credentialAt returns the credential at an index that counts API keys first and
// then project secrets.
func (r *Keyring) credentialAt(i int, now time.Time, secretsOnly bool) (id, credential string, live bool) {
	if i < len(r.keys) {
		k := &r.keys[i]
		return k.ID, k.Key.Reveal(), !secretsOnly && k.Live(now)
	}
	s := &r.secrets[i-len(r.keys)]
	return s.ID, s.Secret.Reveal(), s.Slot == Current || now.Before(s.OverlapEndsAt)
}
