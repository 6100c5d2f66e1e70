// Command parley is the room conferencing service and its command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"parley/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly stop; the next one gets its way.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
