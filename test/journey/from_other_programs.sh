#!/usr/bin/env bash
# Outcome 1: the servers of two desktop programs answer a question, and the files of those programs stay as they are.
. "$(dirname "$0")/steps.bash"
install_package

note "Ada has tool servers already, in two desktop programs"
install -D -m 755 /journey/files/notes_server /usr/local/bin/notes-server
install -D -m 755 /journey/files/tides_server /usr/local/bin/tides-server
as_person mkdir -p /home/ada/notes /home/ada/.config/Claude /home/ada/.cursor
as_person bash -c 'echo "The boat is called Albatros." >~/notes/boat.txt'
as_person bash -c 'cat >~/.config/Claude/claude_desktop_config.json <<"END"
{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "notes": { "command": "/usr/local/bin/notes-server", "args": ["/home/ada/notes"] }
  }
}
END'
as_person bash -c 'cat >~/.cursor/mcp.json <<"END"
{ "mcpServers": {
  "notes": { "command": "/usr/local/bin/notes-server", "args": ["/home/ada/notes"] },
  "tides": { "command": "/usr/local/bin/tides-server", "env": { "TIDES_KEY": "sea-4711-weed" } }
} }
END'
before=$(sha256sum /home/ada/.config/Claude/claude_desktop_config.json /home/ada/.cursor/mcp.json)

note "what would be taken over"
as_person mcpbx import --dry-run
expect notes
expect tides
expect_not sea-4711-weed

note "and so it is"
as_person mcpbx import --yes
as_person mcpbx servers
expect notes
expect tides

note "is everything well?"
as_person mcpbx doctor
expect notes
expect tides

note "own servers answer own questions"
as_person mcpbx ask -m demo "search my notes for boat"
expect Albatros
as_person mcpbx ask -m demo "When is the next high tide?"
expect 17:42

note "the files of the other programs are as they were, and the secret is in no file that others can read"
after=$(sha256sum /home/ada/.config/Claude/claude_desktop_config.json /home/ada/.cursor/mcp.json)
[ "$before" = "$after" ] || { echo "!!! a file of another program was changed"; exit 1; }
echo unchanged
step bash -c 'grep -rl sea-4711-weed /home/ada --include=* | xargs stat -c "%a %n"'
expect_not "644 /home/ada/.config/mcpbx"
expect_not "644 /home/ada/.local/state/mcpbx"
as_person mcpbx stop
