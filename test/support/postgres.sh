#!/usr/bin/env bash
# Runs a program with a PostgreSQL server of its own, and ends the server with it, whatever happens. Status 77 (skipped),
# and the reason, when PostgreSQL is not installed.
#
# usage: test/support/postgres.sh PROGRAM [ARGUMENT…]
# The program gets MCPBX_TEST_POSTGRES, a URL of a superuser without password: the server is reached by its private
# socket only. It also gets MCPBX_TEST_POSTGRES_DATA, the server's folder (postmaster.pid is there).
set -euo pipefail

bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1 || true)
if [ -z "$bin" ] || [ ! -x "$bin/initdb" ] || [ ! -x "$bin/postgres" ]; then
  echo "skipped: $1 needs PostgreSQL; apt-get install postgresql (scripts/deps --checks) installs it"
  exit 77
fi

# A short path: with the name of the socket it may have 107 bytes.
folder=$(mktemp -d /tmp/mcpbx-pg-XXXXXX)
server=
finish() {
  local status=$?
  # SIGQUIT: at once, nothing of it is kept.
  if [ -n "$server" ] && kill -QUIT "$server" 2>/dev/null; then wait "$server" || true; fi
  rm -rf "$folder"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# PostgreSQL refuses to run as root. The server gets SIGQUIT too when this script is killed.
as=(setpriv --pdeathsig QUIT)
if [ "$(id -u)" = 0 ]; then
  as+=(--reuid=65534 --regid=65534 --clear-groups)
  chown 65534:65534 "$folder"
fi
cd "$folder"
if ! "${as[@]}" -- "$bin/initdb" -D "$folder/data" -U mcpbx -A trust -E UTF8 --locale=C -N >"$folder/init" 2>&1; then
  echo "initdb failed:"
  cat "$folder/init"
  exit 1
fi
# Without fsync: the tests kill processes and never the machine.
"${as[@]}" -- "$bin/postgres" -D "$folder/data" -c listen_addresses= -c unix_socket_directories="$folder" -c fsync=off \
  -c max_connections=60 -c shared_buffers=16MB >"$folder/log" 2>&1 &
server=$!
until "$bin/pg_isready" -q -h "$folder" -U mcpbx -d postgres; do
  if ! kill -0 "$server" 2>/dev/null; then
    echo "the PostgreSQL server did not start:"
    cat "$folder/log"
    exit 1
  fi
  sleep 0.05
done
cd - >/dev/null
status=0
MCPBX_TEST_POSTGRES="postgresql://mcpbx@/postgres?host=$folder" MCPBX_TEST_POSTGRES_DATA="$folder/data" "$@" || status=$?
if [ "$status" != 0 ]; then
  echo "the server's log, its starts and stops:"
  grep -E 'ready to accept|shut down|shutting down|recovery|by signal|crash|PANIC|not yet accepting' "$folder/log" | head -n 40
  echo "and its end:"
  tail -n 20 "$folder/log"
fi
exit "$status"
