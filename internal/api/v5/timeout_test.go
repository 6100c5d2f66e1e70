package v5

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/internal/fault"
)

func TestTimeout(t *testing.T) {
	t.Parallel()
	t.Run("a context below ends with it", func(t *testing.T) {
		t.Parallel()
		timeout := &timeout{parent: t.Context()}
		child, cancel := context.WithCancel(timeout)
		defer cancel()
		if at, ok := timeout.Deadline(); !ok || time.Until(at) > fault.UnavailableAfter || timeout.Err() != nil {
			t.Errorf("got the deadline %s, %v and error %v, want %s from the first use and no error", at, ok, timeout.Err(),
				fault.UnavailableAfter)
		}
		timeout.stop()
		<-child.Done()
		if !errors.Is(child.Err(), context.Canceled) {
			t.Errorf("got error %v, want %v", child.Err(), context.Canceled)
		}
	})
	t.Run("it ends with its parent", func(t *testing.T) {
		t.Parallel()
		parent, cancel := context.WithCancel(t.Context())
		timeout := &timeout{parent: parent}
		defer timeout.stop()
		cancel()
		<-timeout.Done()
	})
	t.Run("it is stopped before its first use", func(t *testing.T) {
		t.Parallel()
		timeout := &timeout{parent: t.Context()}
		timeout.stop()
		<-timeout.Done()
		if !errors.Is(timeout.Err(), context.Canceled) {
			t.Errorf("got error %v, want %v", timeout.Err(), context.Canceled)
		}
	})
}
