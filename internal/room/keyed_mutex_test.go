package room_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"parley/internal/room"
)

// The mutex of a room has one holder at a time, and does not block other rooms.
func TestKeyedMutex(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var turns room.KeyedMutex
		var mu sync.Mutex
		var got []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, what)
		}
		give := turns.Lock("a")
		go func() {
			defer turns.Lock("a")()
			note("second")
		}()
		go func() {
			defer turns.Lock("b")()
			note("other")
		}()
		synctest.Wait()
		note("first")
		give()
		synctest.Wait()
		if want := "[other first second]"; fmt.Sprint(got) != want || turns.Len() != 0 {
			t.Errorf("order: got %v, %d keys kept, want %s, none kept", got, turns.Len(), want)
		}
	})
}
