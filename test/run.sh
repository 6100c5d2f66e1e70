#!/usr/bin/env bash
# Runs targets of the Makefile one after the other until one fails, then lists the slowest, the
# repeated and the failed tests. Usage: test/run.sh TARGET...
set -uo pipefail
cd "$(dirname "$0")/.."
results=test/artefacts/results
rm -rf "$results"
mkdir -p "$results"

status=0
took=
for target; do
  begin=$SECONDS
  make --no-print-directory "$target"
  status=$?
  took="$took $target $((SECONDS - begin)) s,"
  [ "$status" -eq 0 ] || break
done

go run ./test/report "$results"
trusted=$?
echo "Time:$took in all $SECONDS s"
if [ "$status" -ne 0 ]; then
  echo "make $target failed. If no failed test is listed above, run it alone to see why."
  exit 1
fi
exit "$trusted"
