// Command parley is the room conferencing service and its command line.
package main

import (
	"os"

	_ "golang.org/x/crypto/x509roots/fallback" // the authorities of Mozilla, for an image without those of a system

	"parley/internal/cli"
)

func main() { os.Exit(cli.Run()) }
