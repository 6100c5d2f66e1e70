package cli

import (
	"context"
	"io"
)

// interruptibleReader reads from a reader that may block for ever, such as a terminal, until its context is done.
type interruptibleReader struct {
	ctx  context.Context
	from io.Reader
}

// Read returns the error of the context if that is done before there is anything to read. What arrives later is lost,
// so nothing else may read afterwards.
func (r interruptibleReader) Read(p []byte) (int, error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text := make([]byte, len(p)) // not p, which the caller may use again after an interruption
		n, err := r.from.Read(text)
		read <- result{text[:n], err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case got := <-read:
		return copy(p, got.text), got.err
	}
}
