// Command serve serves an OpenID Connect provider for the browser tests of the console, until it receives a signal.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/zitadel/oidc/v3/example/server/storage"

	"parley/test/openid/provider"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9998", "address to listen on")
	clientID := flag.String("client-id", "parley", "ID of the client")
	redirect := flag.String("redirect", "", "URL of the client to which people are sent back")
	flag.Parse()
	if err := serve(*listen, *clientID, *redirect); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func serve(listen, clientID, redirect string) error {
	clients := map[string]*storage.Client{clientID: provider.NewClient(clientID, redirect)}
	server := &http.Server{
		Addr:              listen,
		Handler:           provider.NewHandler("http://"+listen, clients),
		ReadHeaderTimeout: time.Minute,
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
