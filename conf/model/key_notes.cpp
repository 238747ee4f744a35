// The notes, in the order of the key table. A note whose key is gone fails a test.
#include "conf/model/key_notes.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::conf::model {

// clang-format off: one note, one line
std::span<const key_note> key_notes() {
  static constexpr auto notes = std::to_array<key_note>({
    {.section = "configuration", .key = "$schema", .example = R"("$schema": "./mcpbx.schema.json")"},
    {.section = "configuration", .key = "defaultModel", .example = R"("defaultModel": "profile:work")"},
    {.section = "configuration", .key = "toolNames", .more = "A plain name stays with the server that had it first ([pins-and-audit.md](pins-and-audit.md))."},
    {.section = "configuration", .key = "audit", .more = "A relative path is below `$HOME` ([pins-and-audit.md](pins-and-audit.md)).", .example = R"("audit": true)"},

    {.section = "server", .key = "command", .example = R"("command": "npx")"},
    {.section = "server", .key = "args", .example = R"("args": ["-y", "some-server"])"},
    {.section = "server", .key = "env", .more = "That set is PATH, HOME, USER, LOGNAME, SHELL, TERM, LANG and TZ.", .example = R"("env": {"API_TOKEN": "${file:~/.secrets/token}"})"},
    {.section = "server", .key = "cwd", .usual = "`$HOME`"},
    {.section = "server", .key = "url", .more = "[More about it](#servers-at-an-address).", .example = R"("url": "https://tools.example/mcp")"},
    {.section = "server", .key = "headers", .more = "A reference is resolved for every connection. Headers that MCP itself sets are left out.", .example = R"("headers": {"Authorization": "Bearer ${env:TOOLS_TOKEN}"})"},
    {.section = "server", .key = "transport", .more = "The other one is tried as well."},
    {.section = "server", .key = "caFile", .usual = "the system's"},
    {.section = "server", .key = "toolNames", .usual = "that at the top"},
    {.section = "server", .key = "idleStopMs", .more = "For a server that is not shared 0 means five minutes."},
    {.section = "server", .key = "sharing", .more = "[What that means](#one-process-for-each-caller-or-run)."},
    {.section = "server", .key = "callHardTimeoutMs", .more = "Not less than `callTimeoutMs`."},
    {.section = "server", .key = "approve", .example = R"("approve": ["delete_*"])"},
    {.section = "server", .key = "sampling", .more = "Requests are audited, and need a yes where `approve` matches `sampling/createMessage`: in a run its callers are asked, other callers cannot be and the answer is no.", .example = R"("sampling": {"model": "demo", "perMinute": 5})"},
    {.section = "server", .key = "roots", .more = "`~` and paths below `$HOME` work as in `cwd`.", .example = R"("roots": ["~/Documents", {"uri": "/srv/data", "name": "Data"}])"},
    {.section = "server", .key = "extensions", .more = "[What that means](#methods-of-extensions).", .example = R"("extensions": {"com.example/search": {"methods": ["search/*"]}})"},
    {.section = "server", .key = "mayCall", .more = "This holds for the port of HTTP, too."},
    {.section = "server", .key = "orphans", .more = "`end`: they are ended with it; `keep`: they are left alone."},
    {.section = "server", .key = "pin", .usual = "`warn`; `block` with `url`", .more = "A definition is pinned when it is first seen. `mcpbx pins accept` approves another one ([pins-and-audit.md](pins-and-audit.md))."},
    {.section = "serverTools", .key = "allow", .usual = "all tools", .more = "An empty list means all in some programs and none in others, so it is an error."},
    {.section = "serverTools", .key = "deny", .example = R"("deny": ["*"])"},
    {.section = "serverTools", .key = "rename", .example = R"("rename": {"echo": "say"})"},
    {.section = "serverPrompts", .key = "allow", .usual = "all prompts", .more = "`tools` does not narrow prompts."},
    {.section = "serverPrompts", .key = "deny", .example = R"("deny": ["*"])"},
    {.section = "serverPrompts", .key = "rename", .example = R"("rename": {"summarize": "sum_up"})"},
    {.section = "resourceFilter", .key = "allow", .usual = "all resources", .more = "[How URIs are matched](#which-resources-are-offered). `tools` does not narrow resources.", .example = R"("allow": ["file:///home/me/notes/*"])"},
    {.section = "resourceFilter", .key = "deny", .example = R"("deny": ["*/.ssh/*"])"},
    {.section = "serverTools", .key = "serial", .more = "They are made in the model's order; all others run beside them."},
    {.section = "serverTools", .key = "retry", .more = "Their hints do not matter for that."},
    {.section = "serverTools", .key = "callTimeoutMs", .more = "It takes the place of the server's `callTimeoutMs`.", .example = R"("callTimeoutMs": {"build_*": 300000})"},
    {.section = "serverTools", .key = "callHardTimeoutMs", .more = "It takes the place of the server's `callHardTimeoutMs`, and is never less than the tool's `callTimeoutMs`."},

    {.section = "model", .key = "model", .example = R"("model": "gpt-4.1")"},
    {.section = "model", .key = "baseUrl", .usual = "the provider's", .example = R"("baseUrl": "http://127.0.0.1:8080/v1")"},
    {.section = "model", .key = "apiKey", .example = R"("apiKey": "${env:OPENAI_API_KEY}")"},
    {.section = "model", .key = "apiVersion", .usual = "`2024-10-21` for `azure` and `dial`, `2026-10-21` for `anthropic`", .more = "Anthropic's takes no `temperature` and `topP` from `2026-10-21` on, and they are not sent then."},
    {.section = "model", .key = "caFile", .usual = "the system's", .more = "`SSL_CERT_FILE` and `SSL_CERT_DIR` change the system's for all."},
    {.section = "model", .key = "headers", .more = "With an `Authorization` for `azure` or `dial` the key is not sent, because they refuse both."},
    {.section = "model", .key = "fallbackModel", .more = "It is asked only if nothing of an answer was shown; for a minute it is then asked first."},
    {.section = "model", .key = "toolFormat", .more = "It changes once, when the server takes no tools or the model writes its calls as text ([text-tools.md](text-tools.md)). `tagged-json` is an older word for `hermes`."},
    {.section = "model", .key = "maxTools", .usual = "128 for `openai-chat`, `openai-responses`, `azure` and `dial` with native tools, else 0", .more = "One place is kept for mcpbx's own tool. A `status` event, the log and `mcpbx tools --format` tell the others. Tools that a caller brings itself are never left out."},
    {.section = "model", .key = "maxTokens", .usual = "the provider's; 16384 for `anthropic`"},
    {.section = "model", .key = "temperature", .usual = "the provider's"},
    {.section = "model", .key = "topP", .usual = "the provider's"},
    {.section = "model", .key = "record", .more = "[providers/replay](../providers/replay/README.md) tells how recordings are made."},
    {.section = "model", .key = "dialect", .usual = "as is known of the address"},
    {.section = "model", .key = "body", .more = "Of objects the members are merged. References do not work in it, and the conversation and its tools cannot be replaced.", .example = R"("body": {"reasoning_effort": "low"})"},
    {.section = "dialect", .key = "maxTokensField", .usual = "`max_tokens`"},
    {.section = "dialect", .key = "emptyContent", .usual = "`text`"},
    {.section = "dialect", .key = "systemRole", .usual = "`system`"},
    {.section = "dialect", .key = "callIds", .usual = "`any`", .more = "`short` is for Mistral and its templates."},
    {.section = "dialect", .key = "userAfterTool", .usual = "true; false with `callIds` `short`", .more = "False is for Mistral and its templates."},
    {.section = "dialect", .key = "streamOptions", .usual = "true"},
    {.section = "dialect", .key = "answerSchema", .usual = "false"},
    {.section = "dialect", .key = "echoReasoning", .usual = "`auto`"},
    {.section = "dialect", .key = "parallelToolCalls", .usual = "not sent"},
    {.section = "dialect", .key = "strict", .usual = "not sent", .more = "With true a tool is sent so if its schema fulfils the demands of strict mode as it stands, in each value and keyword: one that is refused fails the whole request. Where the key is given, or at OpenAI and Anthropic themselves, a caller's own tool with `\"strict\": true` is sent so, too."},

    {.section = "loop", .key = "tokenBudget", .usual = "none"},
    {.section = "loop", .key = "roundPrompts", .more = "`progressive`: the model is told at the end of each request which round it is; that text never stays in the conversation."},
    {.section = "loop", .key = "approveDestructive", .usual = "false"},
    {.section = "loop", .key = "markResults", .usual = "false"},
    {.section = "loop", .key = "serverInstructions", .usual = "false", .more = "They stand at the end of the system prompt, by server, between marks that they cannot contain, and take 8 KiB at most. Pins do not cover them: a server may change them at any start."},
    {.section = "loop", .key = "roundPromptTexts", .usual = "our words"},
    {.section = "roundPromptTexts", .key = "first", .more = "`{round}` is the number of the model call, `{remaining}` how many rounds with tools are left, this one included."},
    {.section = "loop", .key = "status", .more = "`model`: a short model call (at most 20 tokens, 2 s) writes the one about a tool at work, and its tokens count; the name stands in where none comes."},
    {.section = "loop", .key = "statusModel", .usual = "the run's model", .more = "It is shown the tool's name and the first 400 bytes of the arguments."},
    {.section = "loop", .key = "approveAfterOutput", .usual = "false", .more = "This covers results in this run or before in its session: whoever wrote them may have written an order into them."},
    {.section = "loop", .key = "resumeDetached", .more = "The same holds after a stop of the daemon. Sessions of runs that were closed can be gone on with."},
    {.section = "loop", .key = "max", .more = "A run that goes on after a restart cannot exceed it either.", .example = R"("max": {"maxRounds": 20, "timeoutMs": 600000})"},

    {.section = "profile", .key = "approve", .more = "They are matched with the names before `rename`."},

    {.section = "store", .key = "url", .usual = "`sqlite:`", .more = "A relative PATH is below `$HOME`; one daemon may use a file, any number of them a database ([journal.md](journal.md)). The URL of a database is resolved for each connection; one that a file or a program gives as a whole must be there at the start too.", .example = R"("url": "postgresql://me@localhost/mcpbx")"},
    {.section = "store", .key = "sync", .more = "`turn` keeps the end of a run, answers and the start of a detached run. With `call` a call that may have taken effect is never forgotten; it costs one wait for the disk per batch of calls."},
    {.section = "http", .key = "address", .usual = "no port", .more = "127.0.0.1, [::1] and localhost only; port 0 takes a free one, which `mcpbx status` tells. A daemon with a port does not end by itself when it is idle, and `mcpbx --standalone` opens none.", .example = R"("address": "127.0.0.1:8765")"},
    {.section = "http", .key = "tokenFile", .usual = "`token` beside the configuration", .more = "Its mode is 0600. It is made at the first start, with 64 hexadecimal digits. Yours may hold 16 to 4096 printable bytes without blanks."},
    {.section = "http", .key = "auth", .more = "With `none` every program of this machine may ask, and a warning says so at each start. `Host` and `Origin` are checked all the same."},
  });
  return notes;
}
// clang-format on

const key_note* find_key_note(std::string_view section, std::string_view key) {
  const auto all = key_notes();
  const auto found = std::ranges::find_if(all, [&](const key_note& n) { return n.section == section && n.key == key; });
  return found != all.end() ? &*found : nullptr;
}

}  // namespace mcpbx::conf::model
