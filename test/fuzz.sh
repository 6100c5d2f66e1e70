#!/usr/bin/env bash
# Runs every fuzz target for a while: TIME (default 10s) each.
set -euo pipefail
cd "$(dirname "$0")/.."
grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do
  package=$(dirname "$file")
  grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | awk '{print $2}' | while read -r target; do
    echo "== $package $target"
    (cd "$package" && go test . -run '^$' -fuzz "^$target\$" -fuzztime "${TIME:-10s}" -fuzzminimizetime 1x)
  done
done
