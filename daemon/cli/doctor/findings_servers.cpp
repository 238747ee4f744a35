// Findings about tool servers at work, from the words of the daemon, or from a trial of this command.
#include "daemon/cli/doctor/findings.hpp"
#include "daemon/cli/doctor/words.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace mcpbx::cli::doctor {
namespace {

using namespace mcpbx::cli::doctor::checks;
using namespace mcpbx::json;
using namespace mcpbx::redact;
constexpr std::size_t longest_reason = 700;  // bytes of a sentence of the daemon

std::string reason_of(const raw_json& server) {
  return cut_for_people(member_text(server, "lastError"), longest_reason, {.mark = " …"});
}

std::int64_t number_of(const raw_json& object, std::string_view key) {
  return find_member(object, key).as_integer().value_or(0);
}

const program_facts* program_of(const facts& all, std::string_view server) {
  const auto found = std::ranges::find(all.programs, server, &program_facts::server);
  return found == all.programs.end() ? nullptr : &*found;
}

// True if the program itself explains why the server does not start; judge_programs() has said so.
bool explained(const facts& all, std::string_view server) {
  const auto* p = program_of(all, server);
  return p != nullptr && (p->state != program_facts::outcome::found || !p->missing.empty());
}

std::string entry_of(const facts& all, const std::string& name) {
  const auto* p = program_of(all, name);
  return p == nullptr || p->entry_at.empty() ? "its entry" : "its entry, " + p->entry_at;
}

// The kind of a server's trouble by the word or the sentence that the daemon has for it.
struct trouble {
  std::string_view word;  ///< `remote.problem`, or words of `lastError`
  check_code code;
};
constexpr std::array<trouble, 6> remote_troubles{{{"unauthorized", server_unauthorized},
                                                  {"refused", server_refused},
                                                  {"unreachable", server_unreachable},
                                                  {"certificate", server_certificate},
                                                  {"protocol", server_protocol},
                                                  {"slow", server_slow}}};
// In this order: the earlier ones are the reasons of the later ones.
constexpr std::array<trouble, 9> local_troubles{{{"no such program", program_missing},
                                                 {"names the interpreter", interpreter_missing},
                                                 {"is not executable", program_not_executable},
                                                 {"no such directory", directory_missing},
                                                 {"environment variable", reference_missing},
                                                 {"cannot read", reference_missing},
                                                 {"to its stdout that", server_junk},
                                                 {"was not ready within", server_silent},
                                                 {"before it was ready", server_exits}}};

std::optional<check_code> code_of(const raw_json& server) {
  const auto problem = member_text(find_member(server, "remote"), "problem");
  for (const auto& t : remote_troubles)
    if (problem == t.word) return t.code;
  const auto said = member_text(server, "lastError");
  for (const auto& t : local_troubles)
    if (said.contains(t.word)) return t.code;
  return std::nullopt;
}

std::string mend_of(const check_code& code, const facts& all, const std::string& name, const std::string& said) {
  const std::string word = shell_word(name), then = ", then `mcpbx restart " + word + "`";
  if (code == server_unauthorized)
    return said.contains("refuses the Authorization") ? "put a valid token into \"headers\" of its entry" + then
                                                      : "mcpbx auth login " + word;
  if (code == server_certificate) return "name the authority's file as \"caFile\" in " + entry_of(all, name) + then;
  if (code == server_protocol) return "correct \"url\" in " + entry_of(all, name) + then;
  if (code == server_unreachable) return "correct \"url\" in its entry, or start that server" + then;
  if (code == server_junk)
    return "its program must write nothing but MCP to its stdout: correct \"command\" and \"args\" in " +
           entry_of(all, name) + then;
  if (code == server_silent) return "raise \"startTimeoutMs\", or correct \"command\" in " + entry_of(all, name) + then;
  if (code == server_exits || code == server_crash_loop)
    return "correct \"args\" or \"env\" in " + entry_of(all, name) + then;
  if (code == reference_missing) return export_for(said);
  if (code == server_failed && said.contains("cannot be started"))
    return (said.contains("${cmd:") ? "correct that reference in " : "correct \"command\" in ") + entry_of(all, name) +
           then;
  return "mcpbx restart " + word;
}

bool can_restart(const check_code& code) {
  return code == server_failed || code == server_crash_loop || code == server_stopped || code == server_slow ||
         code == server_unreachable;
}

void judge_down(const facts& all, const raw_json& server, const std::string& name, const std::string& state,
                findings& out) {
  if (explained(all, name)) return;
  const auto said = reason_of(server);
  const auto code = code_of(server).value_or(state == "crash_loop" ? server_crash_loop
                                             : state == "stopped"  ? server_stopped
                                                                   : server_failed);
  finding f{code, "server " + name, said.empty() ? "it is in the state " + state : said};
  f.mend = mend_of(code, all, name, said);
  if (can_restart(code)) f.fix = {repair::kind::restart_server, name};
  out.push_back(std::move(f));
}

void judge_up(const raw_json& server, const std::string& name, findings& out) {
  const std::string subject = "server " + name, word = shell_word(name);
  const auto tools = number_of(server, "tools");
  std::string text = "it is ready, speaks MCP " + member_text(server, "revision");
  out.push_back({server_ok, subject, text + " and has " + counted(tools, "tool")});
  if (const auto noise = number_of(server, "noiseLines"); noise > 0)
    out.push_back({server_noise, subject,
                   "it wrote " + counted(noise, "line") +
                       " that are no MCP to its stdout; they "
                       "were skipped"});
  if (const auto said = reason_of(server); !said.empty())
    out.push_back({server_recovered, subject, "it is ready again, after: " + said});
  if (tools == 0 && number_of(server, "prompts") == 0 && number_of(server, "resources") == 0)
    out.push_back({server_no_tools, subject, "it lists no tools, prompts or resources", "mcpbx servers " + word});
}

void judge_server(const facts& all, const raw_json& server, findings& out) {
  const auto name = member_text(server, "name"), state = member_text(server, "state");
  const std::string subject = "server " + name;
  if (state == "disabled") {
    out.push_back({server_disabled, subject, "it is disabled in the configuration"});
    return;
  }
  if (state == "ready") {
    judge_up(server, name, out);
  } else if (state == "lazy" && member_text(server, "lastError").empty()) {
    out.push_back({server_lazy, subject, "it starts at its first call"});
  } else if (state == "starting" && !find_member(server, "startFailed").is_true()) {
    out.push_back({server_starting, subject, "it is still starting", "mcpbx wait"});
  } else {
    judge_down(all, server, name, state, out);
  }
  if (const auto pins = member_text(server, "pins"); !pins.empty())
    out.push_back({server_pins, subject, cut_for_people(pins, longest_reason, {.mark = " …"}),
                   "mcpbx pins show " + shell_word(name)});
}

void judge_trial(const facts& all, const trial_facts& t, findings& out) {
  const std::string subject = "server " + t.server;
  if (t.ready) {
    out.push_back({server_ok, subject,
                   "started for this check, it was ready after " + std::to_string(t.ready_ms) + " ms and has " +
                       counted(t.tools, "tool")});
    return;
  }
  if (explained(all, t.server)) return;
  check_code code = server_failed;
  for (const auto& row : local_troubles)
    if (t.problem.contains(row.word)) {
      code = row.code;
      break;
    }
  out.push_back({code, subject, cut_for_people(t.problem, longest_reason, {.mark = " …"}),
                 mend_of(code, all, t.server, t.problem)});
}

// A tool server with a `url`, as far as its address alone tells.
void judge_address(const facts& all, const program_facts& p, findings& out) {
  using enum address_facts::outcome;
  const std::string subject = "server " + p.server;
  const auto& a = p.address;
  const std::string why = reason_behind(a.detail);
  if (a.state == answers)
    out.push_back({server_ok, subject, a.shown + " answers"});
  else if (a.state == certificate && speaks_no_tls(a.detail))
    out.push_back(
        {server_unreachable, subject, a.shown + " does not speak TLS",
         mend_without_tls(a.shown, "url", entry_of(all, p.server), "correct \"url\" in " + entry_of(all, p.server))});
  else if (a.state == certificate)
    out.push_back({server_certificate, subject, "the certificate of " + a.shown + " is not accepted" + why,
                   mend_of(server_certificate, all, p.server, "")});
  else if (a.state == slow)
    out.push_back(
        {server_slow, subject, a.shown + " did not answer in time" + why, mend_of(server_slow, all, p.server, "")});
  else if (a.state != unchecked)
    out.push_back({server_unreachable, subject, a.shown + " could not be reached" + why,
                   mend_of(server_unreachable, all, p.server, "")});
}

}  // namespace

void judge_servers(const facts& all, findings& out) {
  for (const auto& t : all.trials) judge_trial(all, t, out);
  if (all.daemon && all.daemon->servers) {
    for_each_element(all.daemon->servers, [&](const raw_json& server) {
      judge_server(all, server, out);
      return true;
    });
    return;
  }
  for (const auto& p : all.programs)
    if (p.disabled)
      out.push_back({server_disabled, "server " + p.server, "it is disabled in the configuration"});
    else if (p.is_remote && p.is_lazy && p.server != all.only)
      out.push_back({server_lazy, "server " + p.server, "it is asked at its first use"});
    else if (p.is_remote && p.missing.empty())
      judge_address(all, p, out);
  const auto first = std::ranges::find(all.programs, false, &program_facts::disabled);
  if (all.trials.empty() && first != all.programs.end())
    out.push_back({server_not_tried, "servers", "no tool server was started for this check",
                   "mcpbx doctor " + shell_word(first->server)});
}

}  // namespace mcpbx::cli::doctor
