#!/usr/bin/env bash
# Outcome 2: another program uses mcpbx from its next start, and afterwards has its own file back, byte for byte.
. "$(dirname "$0")/steps.bash"
install_package

note "Ada uses Claude Code, with a server of her own"
install -D -m 755 /journey/files/notes_server /usr/local/bin/notes-server
as_person mkdir -p /home/ada/notes
as_person bash -c 'echo "The boat is called Albatros." >~/notes/boat.txt'
as_person bash -c 'printf "%s\n" "{" "  \"numStartups\": 7," "  \"mcpServers\": {" \
  "    \"notes\": { \"type\": \"stdio\", \"command\": \"/usr/local/bin/notes-server\", \"args\": [\"/home/ada/notes\"] }" \
  "  }," "  \"tipsHistory\": {\"a\":1}" "}" >~/.claude.json'
as_person cp /home/ada/.claude.json /tmp/before.json

note "mcpbx takes her servers over and stands in their place"
as_person mcpbx import --yes
as_person mcpbx install claude-code --yes
as_person cat /home/ada/.claude.json
expect mcpbx
expect numStartups

note "what Claude Code will start: the command of its file, as it would call it"
as_person bash -c '{ printf "%s\n" \
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"journey\",\"version\":\"1\"}}}" \
  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}" \
  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"notes__search_notes\",\"arguments\":{\"query\":\"boat\"}}}"; sleep 3; } |
  mcpbx mcp'
expect Albatros

note "and back"
as_person mcpbx uninstall claude-code --yes
as_person cmp /home/ada/.claude.json /tmp/before.json
echo "the file is as it was, byte for byte"
as_person mcpbx stop
