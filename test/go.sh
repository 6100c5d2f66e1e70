#!/usr/bin/env bash
# Runs Go tests and repeats the failed ones up to twice. Packages whose tests start servers run
# one after the other, because the servers of two packages leave each other without a processor;
# the other packages run in parallel.
# Usage: [MODULE=DIRECTORY] test/go.sh NAME [FLAG OF GO TEST]... [-- PACKAGE...]   (all packages by default)
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1
shift
flags=(-timeout 20m)
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  flags+=("$1")
  shift
done
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- ./...

results=$PWD/test/artefacts/results
mkdir -p "$results"
gotestsum=$(go tool -n gotestsum)
cd "${MODULE:-.}"

# The helpers with which tests start servers.
servers='parley/(internal/testkit|internal/store/storetest|test/parleytest)'
serial=() parallel=()
while read -r package imports; do
  if [[ $imports =~ $servers ]]; then serial+=("$package"); else parallel+=("$package"); fi
done < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.TestImports}} {{.XTestImports}}{{end}}' "$@" | grep .)

status=0
run() { # NAME PACKAGES FLAG...
  local file=$results/$1.jsonl packages=$2
  shift 2
  "$gotestsum" --format pkgname --format-hide-empty-pkg --rerun-fails=2 --jsonfile "$file" --packages "$packages" -- "${flags[@]}" "$@" || status=1
}
[ ${#parallel[@]} -eq 0 ] || run "$name-parallel" "${parallel[*]}"
[ ${#serial[@]} -eq 0 ] || run "$name-serial" "${serial[*]}" -p 1
exit "$status"
