package client

import (
	"net/http"
	"sync/atomic"
	"time"
)

// A clock tells the server's time, as far as its answers have told it.
type clock struct{ offset atomic.Int64 } // nanoseconds that the server is ahead

func (c *clock) currentOffset() time.Duration { return time.Duration(c.offset.Load()) }

// observe learns from the Date of an answer to a request that was sent and
// received at these times of our own clock. A Date is cut to the second and
// was written some time between the two, so it only bounds the offset; one
// within the bounds is kept, so that it does not tremble.
func (c *clock) observe(sent, received time.Time, header http.Header) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil || requestID(header) == "" || header.Get("Age") != "" {
		return // not the server's Date, or an old one out of a cache
	}
	least := date.Sub(received)
	most := date.Add(time.Second).Sub(sent)
	if now := c.currentOffset(); now < least || now > most {
		c.offset.Store(int64(least + (most-least)/2))
	}
}
