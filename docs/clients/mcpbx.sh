#!/bin/sh
# A client of mcpbx in one file, for a POSIX shell with socat (or an nc that has -U). Copy it, or source it:
#
#     . ./mcpbx.sh
#     on_event() { [ "$1" = tool_call ] && echo "calls a tool: $2" >&2; }     # the type, and the event as JSON
#     on_question() { echo '"approve":true'; }                               # members of the answer
#     mcpbx_ask "What is 6 * 7?"                                             # prints the result as JSON
#
# From a shell: mcpbx.sh ask TEXT | tools [PATTERN]. docs/protocol.md describes methods and events.

# Prints the place where a daemon listens: $MCPBX_SOCKET, or the usual ones.
mcpbx_socket() {
  if [ -n "${MCPBX_SOCKET:-}" ]; then echo "$MCPBX_SOCKET"
  elif [ -n "${XDG_RUNTIME_DIR:-}" ]; then echo "$XDG_RUNTIME_DIR/mcpbx/mcpbx.sock"
  else echo "$HOME/.local/state/mcpbx/mcpbx.sock"; fi
}

# Joins standard input and output with the daemon, until either ends.
mcpbx_connect() {
  if command -v socat >/dev/null; then socat -t 60 - "UNIX-CONNECT:$(mcpbx_socket)"
  elif nc -h 2>&1 | grep -q -e ' -U\|-[A-Za-z]*U'; then nc -U "$(mcpbx_socket)"
  else echo "mcpbx.sh: neither socat nor an nc with -U is installed" >&2; return 1; fi
}

# Prints its argument as a JSON string.
mcpbx_json() {
  printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g; s/	/\\t/g' |
    awk 'BEGIN { printf "\"" } NR > 1 { printf "\\n" } { gsub(/[\001-\037]/, " "); printf "%s", $0 } END { printf "\"" }'
}

# mcpbx_call METHOD [PARAMS]: calls a method and prints its result. Its events go to on_event TYPE JSON, and questions
# to on_question JSON, which prints the members of the answer. Fails with the error on standard error.
mcpbx_call() (
  folder=$(mktemp -d) || exit 1
  mkfifo "$folder/in" "$folder/out" || exit 1
  mcpbx_connect <"$folder/in" >"$folder/out" &
  talker=$!
  trap '' PIPE # a daemon that is gone is told of below
  trap 'exec 3>&- 4<&-; kill "$talker" 2>/dev/null; rm -rf "$folder"' EXIT
  exec 3>"$folder/in" 4<"$folder/out"
  id=1
  printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$1" "${2:-{\}}" >&3 2>/dev/null
  while IFS= read -r line <&4; do
    case $line in
      '{"jsonrpc":"2.0","method":"mcpbx/event",'*)
        rest=${line#*\"seq\":}
        rest=${rest#*\"type\":\"}
        type=${rest%%\"*}
        on_event "$type" "${line#*\"params\":}"
        [ "$type" = question ] || continue
        run=${line#*\"run\":}
        question=${line#*\"question\":}
        answer=$(on_question "$line") || continue
        id=$((id + 1))
        printf '{"jsonrpc":"2.0","id":%s,"method":"mcpbx/answer","params":{"run":%s,"question":%s,%s}}\n' \
          "$id" "${run%%,*}" "${question%%,*}" "$answer" >&3 ;;
      '{"jsonrpc":"2.0","id":1,"result":'*)
        line=${line#*\"result\":}
        printf '%s\n' "${line%\}}"
        exit 0 ;;
      '{"jsonrpc":"2.0","id":1,"error":'*)
        printf 'mcpbx.sh: %s\n' "${line#*\"error\":}" >&2
        exit 1 ;;
    esac
  done
  echo "mcpbx.sh: the daemon at $(mcpbx_socket) does not answer" >&2
  exit 1
)

# mcpbx_ask TEXT [MEMBERS]: asks the model and prints the run's result; MEMBERS are more of mcpbx/chat, as '"model":"m"'.
mcpbx_ask() { mcpbx_call mcpbx/chat "{\"input\":$(mcpbx_json "$1"),\"answers\":true${2:+,$2}}"; }

# mcpbx_tools [PATTERN]: prints the definitions of the tools whose names match.
mcpbx_tools() { mcpbx_call mcpbx/tools "${1:+{\"pattern\":$(mcpbx_json "$1")\}}"; }

# Without functions of the program that sources this: shows nothing, refuses everything.
command -v on_event >/dev/null || on_event() { :; }
command -v on_question >/dev/null || on_question() {
  case $1 in *'"kind":"approval"'*) echo '"approve":false' ;; *) echo '"action":"decline"' ;; esac
}

case ${0##*/}:${1:-} in
  mcpbx.sh:ask) mcpbx_ask "$2" ;;
  mcpbx.sh:tools) mcpbx_tools "${2:-}" ;;
  mcpbx.sh:*) echo "usage: mcpbx.sh ask TEXT | tools [PATTERN]" >&2; exit 2 ;;
esac
