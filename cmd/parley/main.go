// Command parley is the room conferencing service and its command line.
package main

import (
	"os"

	"parley/internal/cli"
)

func main() { os.Exit(cli.Run()) }
