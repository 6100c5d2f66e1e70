package client

import (
	"net/http"
	"sync/atomic"
	"time"
)

// clock estimates the server's time from its responses.
type clock struct{ offset atomic.Int64 } // nanoseconds that the server is ahead

func (c *clock) currentOffset() time.Duration { return time.Duration(c.offset.Load()) }

// observe updates the offset from the Date of a response. sent and received are
// times of our clock. A Date is truncated to the second and was written between
// the two, so it only bounds the offset. An offset within the bounds is kept, so
// that it does not fluctuate.
func (c *clock) observe(sent, received time.Time, header http.Header) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil || requestID(header) == "" || header.Get("Age") != "" {
		return // the Date of a proxy, or an old one of a cache
	}
	lower := date.Sub(received)
	upper := date.Add(time.Second).Sub(sent)
	if offset := c.currentOffset(); offset < lower || offset > upper {
		c.offset.Store(int64(lower + (upper-lower)/2))
	}
}
