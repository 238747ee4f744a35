#!/usr/bin/env bash
# Installs the npm packages that a folder's package-lock.json pins, unless they are there already.
#
# usage: test/npm/install.sh [FOLDER]      FOLDER: below test/npm; without it, test/npm itself
set -euo pipefail
cd "$(dirname "$0")/${1:-.}"
mkdir -p node_modules
exec 9>node_modules/.mcpbx-busy
flock 9
cmp -s package-lock.json node_modules/.mcpbx-lock && exit 0
# A registry that does not answer once is asked again; a package whose content is not the pinned one fails each time.
for try in 1 2 3; do
  [ $try = 1 ] || sleep $((try * 5))
  if npm ci --no-audit --no-fund --loglevel=error </dev/null; then
    cp package-lock.json node_modules/.mcpbx-lock
    exit 0
  fi
done
echo "test/npm/install.sh: npm ci failed three times in $PWD" >&2
exit 1
