package certificate

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/testkit"
)

// emptyStore is a store without files.
type emptyStore struct{ Store }

func (emptyStore) ACMEFile(context.Context, string) ([]byte, time.Time, error) {
	return nil, time.Time{}, fault.New(fault.NotFound, "not_found", "there is no such file")
}

// A domain without a certificate does not hide those of the others.
func TestACME_Leaf(t *testing.T) {
	t.Parallel()
	a := NewACME(ACMEConfig{
		Domains: []string{"www.example.test", "localhost"},
		Store:   emptyStore{},
		Now:     time.Now,
		Log:     slog.Default(),
	})
	defer a.cache.Stop()
	if first, missing := a.Leaf(); first != nil || !slices.Equal(missing, a.domains) {
		t.Errorf("without a certificate: got %v and the missing names %q, want none and %q", first, missing, a.domains)
	}
	for _, serial := range []int64{1, 2} { // the second replaces the first, which ends a day earlier
		c := testkit.NewCertificate(t, serial)
		if _, err := a.magic.CacheUnmanagedTLSCertificate(t.Context(), c.Pair, nil); err != nil {
			t.Fatal(err)
		}
		first, missing := a.Leaf()
		if first == nil || first.SerialNumber.Int64() != serial || !slices.Equal(missing, []string{"www.example.test"}) {
			t.Errorf("got the certificate %v and the missing names %q, want number %d and www.example.test", first, missing,
				serial)
		}
	}
}
