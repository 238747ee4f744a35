// The longer texts of `mcpbx --help`: what stands below the options.
#pragma once
#include <string_view>

namespace mcpbx::cli::help {

inline constexpr std::string_view program =
    R"(Without a daemon at the default socket one is started; it ends after 15 minutes without use (idleExitMs).
`mcpbx help VERB` tells more about a verb. The options above may stand before or after it.

Examples:
  mcpbx ask -m demo "What time is it in Lisbon?"    no model needed: demo matches words, and says so
  mcpbx tools                                       the tools of all servers
  mcpbx call toolbox__calculate expression="2^10"   one tool, no model
  mcpbx servers                                     how the servers are, and why one is not well

Places:
  socket         --socket, $MCPBX_SOCKET, $XDG_RUNTIME_DIR/mcpbx/mcpbx.sock, ~/.local/state/mcpbx/mcpbx.sock
  configuration  $MCPBX_CONFIG, $XDG_CONFIG_HOME/mcpbx/config.json (~/.config), /etc/mcpbx/config.json
  log            $XDG_STATE_HOME/mcpbx/mcpbxd.log (~/.local/state), of a daemon that this program started

Exit status:
  0    done
  1    the run ended without an answer, the tool returned an error, or the output could not be written
  2    usage or configuration
  3    no daemon
  4    the model's provider failed
  5    no such tool, server, session or run
  130  interrupted

Later versions: add, answer, auth, chat, completion, doctor, import, logs, prompts, reload, remove, resources.

Colours and the live status line appear on a terminal only; NO_COLOR turns colours off.)";

inline constexpr std::string_view ask =
    R"(The answer goes to standard output, status and tool lines to standard error; at a terminal the text appears as it comes.
Ctrl-C cancels the run. With --json every event is one line.

With --detach the run goes on when this command has ended: its name is printed, `attach` follows it, also after its end,
and `cancel` ends it. --run gives it a name of your own; the same question with the same name again finds the same run.
With --schema only the JSON of the answer is printed. A run that calls tools of --client-tools prints each call as a line of
JSON with "run", "id", "name" and "arguments", and waits; --run NAME --results FILE goes on, where FILE has
{"ID": RESULT, …}, each RESULT a text or an object as tools give it ({"content": […], "isError": true}).

Examples:
  mcpbx ask "Which of my notes mention the lighthouse?"
  mcpbx ask -p reader "What changed in the notes?"
  mcpbx ask -m gpt --tools 'files__*,toolbox__*' "Summarize notes.txt"
  mcpbx ask -c "And which of them is the oldest?"
  mcpbx ask --file plan.pdf --file photo.jpg "Does the photo show what the plan says?"
  git diff | mcpbx ask --system "Review this change." -
  mcpbx ask --schema '{"type":"object","properties":{"total":{"type":"number"}}}' --file bill.pdf "What is the total?"
  mcpbx ask --detach --run nightly "Sort the inbox."
  mcpbx ask --client-tools tools.json --run talk "Dim the lights."
  echo '{"call_1": "done"}' | mcpbx ask --run talk --results -)";

inline constexpr std::string_view attach =
    R"(Shows a run as `ask` does, from its beginning or, with --after, from behind an event; what is no more kept is told in short.
At a terminal its questions are asked. The exit status is that of the run. Ctrl-C leaves it: a detached run goes on, another
one if somebody else follows it.

Examples:
  mcpbx attach nightly
  mcpbx --json attach nightly --after 120)";

inline constexpr std::string_view sessions =
    R"(Every question belongs to a session; -c or -s ID of `ask` goes on with one, with its model unless -m names another, and,
unless -p names another profile, with its profile and with the tools and limits that its latest question asked for.

  list          your latest sessions; with --all also those that programs on the HTTP port and tool servers began;
                with --json one array
  show ID       all that was said, as Markdown or JSON lines; with --json one object
  resume ID     lets the model answer what a crash or an interruption left without an answer; with TEXT, says that;
                takes the options of `ask`
  rm ID         deletes it

Examples:
  mcpbx sessions
  mcpbx sessions show ses_0f3a52c1b7d94e68 > talk.md
  mcpbx sessions show ses_0f3a52c1b7d94e68 --format jsonl > talk.jsonl
  mcpbx sessions resume ses_0f3a52c1b7d94e68)";

inline constexpr std::string_view tools =
    R"(Without --format: a table of names and first lines. With it, or with --json: the definitions as one JSON array, complete.

Examples:
  mcpbx tools 'files__*'
  mcpbx tools --format openai-chat > tools.json)";

inline constexpr std::string_view call =
    R"(A key=value argument takes the type that the tool's schema gives the key. With --json the result object is printed as the
server sent it. The status is 1 when the tool returned an error, 5 when there is no such tool.

Examples:
  mcpbx call toolbox__current_time timeZone=Europe/Lisbon
  mcpbx call files__write --args '{"path":"a.txt","text":"hello"}'
  mcpbx call files__write --args - < arguments.json)";

inline constexpr std::string_view models =
    R"(The entries under "models" in the configuration: what speaks which API where, and why one cannot be used now. With --remote
every endpoint is asked (30 s at most) for what `model` of an entry may name; the status is 4 when one gave no list.

Examples:
  mcpbx models
  mcpbx models local --remote
  mcpbx --json models --remote)";

inline constexpr std::string_view servers =
    R"(States: disabled, starting, ready, lazy (starts at its first call), restarting, crash_loop (ended five times within
10 s; it is tried again, ever more rarely), failed (could not be started; tried again likewise), stopped. What a server
that is not well wrote last stands below the table.)";

inline constexpr std::string_view pins =
    R"(The tools of a server are pinned when it is first seen: their definitions and where the server comes from, as a hash. States:
ok, changed, new (its server has pins, it has none), gone, unseen (its server has not listed its tools yet). With "pin": "warn"
in the entry of a server (the default) tools that are changed or new are offered with a warning; with "block" (the default of
servers with a url) they are not until they are approved; "off" looks at nothing.

Examples:
  mcpbx pins
  mcpbx pins show git__log       or a server: all of its tools that are not ok
  mcpbx pins accept git          shows what it approves; at a terminal it asks)";

inline constexpr std::string_view wait =
    R"(Keeps trying the socket. The status is 0 when every enabled server is ready (lazy ones count as ready), 1 when one cannot
start, is in a crash loop or took too long (named on standard error), 3 only if the socket never answered.)";

inline constexpr std::string_view stop =
    R"(Running work has 3 s to end, then tool servers are told to end and, where they do not, ended. Returns when all is gone.
Detached runs, and those that wait for their caller's own tools, go on at the next start.)";

inline constexpr std::string_view shim =
    R"(For MCP hosts that only spawn programs: command `mcpbx`, argument `mcp`. The host sees the tools of all servers as those of
one; several hosts share one daemon.)";

}  // namespace mcpbx::cli::help
