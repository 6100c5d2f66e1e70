#!/usr/bin/env bash
# Installs what the tests run for real: a browser, PostgreSQL, Redis, openssl, curl, iproute2,
# Python, PHP with Composer and an HTTP client, a C compiler for the race detector, and the packages
# of Go and npm. Debian's packages need root. The argument "all" adds what only make test-all needs.
# What cannot be installed is named before any test runs.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tells what is missing and how to get it, and ends.
missing() {
  printf 'The tests cannot run yet. %s\n' "$@" >&2
  exit 1
}

for tool in go node npm git; do
  command -v "$tool" >/dev/null || missing "Install $tool: the README names the versions."
done
node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' ||
  missing "Node is $(node --version). Install Node 20.19 or later."

packages=()
[ -n "${CHROMIUM:-}" ] || command -v chromium >/dev/null || packages+=(chromium)
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || packages+=(postgresql)
command -v redis-server >/dev/null || packages+=(redis-server)
command -v openssl >/dev/null || packages+=(openssl)
command -v curl >/dev/null || packages+=(curl)
[ "$(uname)" != Linux ] || command -v ip >/dev/null || packages+=(iproute2)
command -v python3 >/dev/null || packages+=(python3)
# The SDKs are installed with Debian's Python and PHP.
/usr/bin/python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3 python3-venv)
command -v php >/dev/null || packages+=(php-cli php-curl php-mbstring)
[ -e /usr/share/php/GuzzleHttp/autoload.php ] || packages+=(php-guzzlehttp-guzzle)
command -v composer >/dev/null || packages+=(composer)
command -v unzip >/dev/null || packages+=(unzip)
if [ "${1:-}" = all ]; then
  command -v firefox-esr >/dev/null || packages+=(firefox-esr)
  command -v nginx >/dev/null || packages+=(nginx)
  command -v caddy >/dev/null || packages+=(caddy)
  command -v pgbouncer >/dev/null || packages+=(pgbouncer)
  command -v systemd-analyze >/dev/null || packages+=(systemd)
  # The frameworks that receive webhooks with the SDKs.
  for module in flask django fastapi httpx; do
    /usr/bin/python3 -c "import $module" 2>/dev/null || packages+=("python3-$module")
  done
  [ -e /usr/share/php/Nyholm/Psr7/autoload.php ] || packages+=(php-nyholm-psr7 php-psr-http-client)
  [ -e /usr/share/php/Illuminate/Routing/autoload.php ] || packages+=(php-illuminate-routing php-illuminate-events)
fi
command -v gcc >/dev/null || packages+=(gcc libc6-dev)
if [ ${#packages[@]} -gt 0 ]; then
  how="Install these packages, on Debian as root: apt-get install ${packages[*]}"
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then missing "$how"; fi
  echo "Installing for the tests: ${packages[*]}"
  export DEBIAN_FRONTEND=noninteractive
  # Debian starts the services that it installs, unless this file says no.
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null ||
    missing "apt-get could not install them; its lines above say why. $how"
fi

unusable="Go could not load the packages or download their modules; its lines above say why. For a download, check that the proxy is reachable: go env GOPROXY"
go list -deps -test ./... tool >/dev/null || missing "$unusable"
if [ "${1:-}" = all ]; then
  for module in release test/acme test/metrics test/openid; do
    (cd "$module" && go list -deps -test ./... >/dev/null) || missing "$unusable"
  done
fi
make --no-print-directory npm-packages ||
  missing "npm could not install its packages. Check that the registry is reachable: npm config get registry"
