#!/usr/bin/env bash
# Serves the room page from its sources on port 5173, which passes calls on to a server on port
# 8080. Builds and restarts that server when one of its files changes.
set -euo pipefail
cd "$(dirname "$0")/.."
trap 'kill $(jobs -p); wait' EXIT
(cd web && exec node_modules/.bin/vite --host 127.0.0.1 --strictPort --clearScreen false) &
demo=--demo # only once, because rooms outlive a restart
while true; do
  touch bin/built
  if go build -o bin/parley ./cmd/parley; then
    bin/parley serve --listen 127.0.0.1:8080 --public-url http://127.0.0.1:5173 $demo &
    server=$! demo=
  fi
  while [ -z "$(find cmd client internal -name '*_test.go' -prune -o -type f -newer bin/built -print -quit)" ]; do sleep 1; done
  [ -z "${server:-}" ] || { kill "$server" && wait "$server"; server=; } || true
done
