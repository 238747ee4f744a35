// `mcpbx doctor`: walks the whole way from the files to the answers, and tells what is wrong and how to mend it.
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/direct/direct_server.hpp"
#include "daemon/cli/doctor/findings.hpp"
#include "daemon/cli/doctor/gather.hpp"
#include "daemon/cli/doctor/repairs.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "daemon/cli/terminal/read_line.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

using doctor::severity;

struct doctor_options {
  std::string name;  ///< one tool server or model
  bool fix = false, yes = false, online = false;
};

terminals::look look_of(severity level) {
  return level == severity::ok       ? terminals::look::green
         : level == severity::notice ? terminals::look::yellow
                                     : terminals::look::red;
}

void show_findings(context& c, const doctor::findings& all) {
  terminals::fitted_table rows({{""}, {""}, {""}});
  rows.wrap_last();
  for (const auto& f : all)
    rows.add(
        {{{std::string(doctor::to_string(f.code.level)), look_of(f.code.level)}, f.subject, redact::printable(f.text)},
         f.mend.empty() ? "" : "mend: " + redact::printable(f.mend)});
  terminals::show(*c.screen, rows);
  c.screen->out_line(terminals::terminal::bold(doctor::summary(all)));
}

std::vector<doctor::repair> repairs_in(const doctor::findings& all) {
  std::vector<doctor::repair> repairs;
  for (const auto& f : all) {
    const bool known =
        std::ranges::any_of(repairs, [&](const doctor::repair& r) { return r.does == f.fix.does && r.on == f.fix.on; });
    if (f.fix && !known) repairs.push_back(f.fix);
  }
  return repairs;
}

// Shows the repairs and asks for them. Returns false if they are not wanted.
bool wanted(context& c, const std::vector<doctor::repair>& repairs, const doctor_options& o) {
  c.screen->err_line("mcpbx: " + counted(repairs.size(), "mend") + " can be done now:");
  for (const auto& r : repairs) c.screen->err_line("  " + redact::printable(doctor::shown(r)));
  if (o.yes) return true;
  terminals::drop_typed();
  c.screen->prompt("Do this? [y/N] ");
  const auto answer = terminals::read_line({}, 64);
  return answer && (*answer == "y" || *answer == "yes" || *answer == "Y");
}

void carry_out_all(context& c, const std::vector<doctor::repair>& repairs) {
  for (const auto& r : repairs) {
    const auto done = doctor::carry_out(r, c.place);
    c.screen->err_line(done ? "done: " + redact::printable(doctor::shown(r))
                            : "failed: " + redact::printable(doctor::shown(r)) + ": " +
                                  redact::printable(done.error().message));
  }
}

// Starts a server that no daemon can try, and ends it.
doctor::trial_facts tried(const conf::model::server_entry& entry) {
  constexpr std::chrono::milliseconds longest{30'000};
  doctor::trial_facts t;
  t.server = entry.name;
  const auto begun = std::chrono::steady_clock::now();
  const auto server =
      direct::direct_server::start(entry, std::min<std::chrono::milliseconds>(entry.start_timeout_ms, longest));
  const auto tools = server ? (*server)->count_tools(begun + longest) : std::unexpected(server.error());
  t.ready = tools.has_value();
  t.ready_ms = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun).count();
  if (tools)
    t.tools = *tools;
  else
    t.problem = tools.error().message;
  return t;
}

// Returns the exit status of a name that nobody has, or `done`.
int check_name(context& c, const doctor::facts& all) {
  // Entries behind a mistake in the configuration are not known, so the mistake is reported instead.
  if (all.only.empty() || !all.config.errors.empty()) return terminals::done;
  std::vector<std::string> names;
  for (const auto& p : all.programs) names.push_back(p.server);
  for (const auto& m : all.models) names.push_back(m.name);
  if (all.daemon)
    json::for_each_element(all.daemon->servers, [&](const json::raw_json& s) {
      names.push_back(json::member_text(s, "name"));
      return true;
    });
  if (names.empty() || std::ranges::find(names, all.only) != names.end()) return terminals::done;
  const std::vector<std::string_view> known(names.begin(), names.end());
  c.screen->error("there is no tool server or model \"" + all.only + "\"" + did_you_mean(all.only, known) +
                  "; `mcpbx servers` and `mcpbx models` list them");
  return terminals::no_such;
}

int run_doctor(context& c, const doctor_options& o) {
  if (o.fix && !o.yes && (!terminals::can_ask() || c.json)) {
    c.screen->error(
        "`mcpbx doctor --fix` asks at a terminal before it changes anything; add --yes to agree beforehand");
    return terminals::usage;
  }
  const doctor::wish wish{c.place, o.name, o.online};
  auto facts = doctor::gather(wish, tried);
  if (facts.interrupted) return terminals::interrupted_exit;
  if (const int status = check_name(c, facts); status != terminals::done) return status;
  auto found = doctor::findings_of(facts);
  if (!c.json) show_findings(c, found);
  if (const auto repairs = repairs_in(found); o.fix && !repairs.empty() && wanted(c, repairs, o)) {
    carry_out_all(c, repairs);
    facts = doctor::gather(wish, tried);
    found = doctor::findings_of(facts);
    if (!c.json) c.screen->out_line(terminals::terminal::bold("now: " + doctor::summary(found)));
  } else if (o.fix && repairs.empty()) {
    c.screen->err_line("mcpbx: there is nothing that --fix could mend by itself");
  }
  if (c.json) c.screen->out_json(doctor::to_json(found));
  return doctor::any_fault(found) ? terminals::no_answer : terminals::done;
}

verb_action declare_doctor(CLI::App& page) {
  const auto o = std::make_shared<doctor_options>();
  page.add_option("NAME", o->name, "only this tool server or model, which is started or tried if need be")
      ->type_name("");
  page.add_flag("--fix", o->fix, "do the mends that lose nothing, after showing them and asking");
  page.add_flag("--yes", o->yes, "with --fix: do not ask")->needs("--fix");
  page.add_flag("--online", o->online, "make one small request to each model; it may cost something");
  return [o](context& c) { return run_doctor(c, *o); };
}

}  // namespace

verb verb_doctor() {
  return {
      .name = "doctor",
      .place = 10,
      .summary = "what is wrong, and the command that mends it",
      .more =
          R"(Walks the whole way: the configuration's files, the socket and the daemon, the program and the references of each tool
server, its state, each model's key and address, the state folder and the journal. Each line is ok, a notice or a fault,
with its cause and its mend. docs/troubleshooting.md has a row for each code of --json.

It starts no daemon and no tool server by itself, asks no lazy one at an address, and runs no program of ${cmd:…}. With
NAME a lazy tool server is started or asked; without a daemon, this command starts its program, talks to it and ends it.
`mcpbx --standalone doctor` checks with a private daemon. --fix changes modes of your own files, removes a socket that
nobody holds, reads the configuration again and restarts servers that failed.

The status is 0 without faults, 1 with faults.

Example:
  mcpbx doctor)",
      .declare = declare_doctor};
}

}  // namespace mcpbx::cli::verbs
