#!/usr/bin/env bash
# Runs one test of this folder with the Node that package.json pins; status 77 (skipped) when it is not installed.
#
# usage: test/npm/run.sh FILE.mjs [ARGUMENT…]      MCPBX_BIN: the folder of the built programs
cd "$(dirname "$0")" || exit 1
node=node_modules/node/bin/node
if [ ! -x "$node" ]; then
  echo "skipped: $1 needs the npm packages of test/npm; scripts/test --npm installs them"
  exit 77
fi
exec "$node" "$@"
