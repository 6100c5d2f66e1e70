#!/usr/bin/env bash
# Fails and names the files whose generated code differs from what make gen writes. It generates in
# a temporary directory, so that a check changes no file of the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# All Go files, because the generator keeps only what they use.
git ls-files --cached --others --exclude-standard -- \
  Makefile go.mod go.sum sdk/go/go.mod '*.go' internal/api web/package.json web/package-lock.json '*.gen.ts' \
  sdk/typescript/package.json sdk/typescript/package-lock.json sdk/python/src sdk/php/src |
  grep -vxF -f <(git ls-files --deleted) | tar -c -T - | tar -x -C "$copy"
ln -s "$repository/web/node_modules" "$copy/web/node_modules"
ln -s "$repository/sdk/typescript/node_modules" "$copy/sdk/typescript/node_modules"

cd "$copy"
# Never installs packages through the links.
make --no-print-directory -o web/node_modules/.installed -o sdk/typescript/node_modules/.installed gen
status=0
for file in $(find internal web sdk/python sdk/php sdk/typescript/src -name gen.go -o -name '*.gen.ts' -o -name openapi.json \
  -o -name _generated.py -o -path 'sdk/php/src/Types/*' | sort); do
  cmp -s "$file" "$repository/$file" && continue
  echo "$file differs from what make gen writes: run make gen"
  status=1
done
exit "$status"
