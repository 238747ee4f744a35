// `mcpbx import`: takes over the servers that other programs have in their files.
#include "conf/places.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/config/config_change.hpp"
#include "daemon/cli/config/config_place.hpp"
#include "daemon/cli/config/config_write.hpp"
#include "daemon/cli/hosts/found_programs.hpp"
#include "daemon/cli/hosts/import_plan.hpp"
#include "daemon/cli/hosts/import_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

struct import_options {
  std::string from, file;
  bool ask = false;
  config::write_wish wish;
};

/// Says where import looked in vain.
int nothing_found(context& c, const std::vector<const conf::programs::program*>& programs,
                  const conf::environment& env) {
  std::string places;
  for (const auto* p : programs)
    for (const auto& place : hosts::places_of(*p, env)) places += "\n  " + place;
  c.screen->error("there is no file of another program; import looked for" + places +
                  "\n`mcpbx import FILE` reads another file, `mcpbx add NAME -- COMMAND` adds a server");
  return terminals::no_such;
}

int import_servers(context& c, import_options o) {
  const auto env = conf::environment_for_places();
  const conf::programs::program* only = nullptr;
  if (!o.from.empty()) {
    only = conf::programs::find_program(o.from);
    if (only == nullptr) {
      std::vector<std::string_view> names;
      for (const auto& p : conf::programs::all_programs()) names.push_back(p.name);
      c.screen->error("import knows no program " + shell_word(o.from) + did_you_mean(o.from, names) +
                      "; `mcpbx install --list` has all names");
      return terminals::no_such;
    }
  }
  std::vector<const conf::programs::program*> programs;
  for (const auto& p : conf::programs::all_programs())
    if (only == nullptr || only == &p) programs.push_back(&p);
  std::vector<hosts::found_program> found;
  if (!o.file.empty()) {
    auto one = hosts::look_at(o.file, only, env);
    if (!one) return explain(c, one.error());
    found.push_back(std::move(*one));
  } else {
    for (const auto* p : programs)
      if (auto one = hosts::look_for(*p, env); !one.files.empty() || !one.unreadable.empty())
        found.push_back(std::move(one));
    if (found.empty()) return nothing_found(c, programs, env);
  }
  const auto place = config::find_config_place(c, env);
  if (!place) return explain(c, place.error());
  const auto ours = config::loaded_after(*place, {}, env);
  conf::imports::own_places own;
  if (ours.config.http.address) own.addresses.push_back(ours.config.http.address->text);
  const auto known =
      hosts::with_secrets(ours.config.servers, (place->folder / "secrets").native(), env.get("HOME").value_or(""));
  const auto plan = hosts::plan_import(found, known, own, o.ask, hosts::origins_of(ours.config.servers, *place));
  if (!c.json) hosts::show_import(*c.screen, plan);
  if (plan.rows.empty() && plan.faults.empty() && !c.json)
    c.screen->err_line("the files of " + std::string(found.front().program->title) +
                       (found.size() > 1 ? " and other programs" : "") + " list no servers");

  std::vector<config::new_entry> entries;
  for (const auto& row : plan.rows) {
    if (row.name.empty()) continue;
    entries.push_back({row.name, conf::documents::json_of(row.entry)});
    for (const auto& mark : row.marks)
      entries.back().comments.push_back(place->file ? conf::imports::mark_of_entry(mark, row.name) : mark);
  }
  int status = terminals::done;
  std::string report;
  if (!entries.empty()) {
    if (!c.json && !plan.asking.empty() && !o.ask)
      c.screen->err_line(
          "note: " + plan.asking.front() + (plan.asking.size() > 1 ? " and others ask" : " asks") +
          " before each call; mcpbx asks for the tools in \"approve\" only (`--ask` writes all of them there)");
    o.wish.report = &report;
    status = config::write_entries(c, *place, entries, o.wish);
  } else if (!c.json && !plan.rows.empty()) {
    c.screen->err_line("there is nothing new to import");
  }
  if (status != terminals::done) return status;  // with --json the error is the object
  if (c.json) c.screen->out_json(hosts::import_json(plan, report));
  return plan.refused() > 0 || !plan.faults.empty() ? terminals::no_answer : terminals::done;
}

verb_action declare_import(CLI::App& page) {
  const auto o = std::make_shared<import_options>();
  page.add_option("FILE", o->file, "a file of a project, or one in another place")->type_name("");
  page.add_option("--from", o->from, "only this program: cursor, vscode, …; with FILE: the program that wrote it")
      ->type_name("PROGRAM");
  page.add_flag("--ask", o->ask, "have every tool need a yes of the caller inside a run");
  config::add_write_options(page, o->wish);
  return [o](context& c) { return import_servers(c, *o); };
}

}  // namespace

verb verb_import() {
  return {
      .name = "import",
      .place = 20,
      .summary = "take over the servers of other programs",
      .more =
          R"(Looks in the files of thirty programs (`mcpbx install --list`), shows what it found, and asks before it writes. Those files
are only read. A server becomes a file config.d/NAME.json of ours; what its program forbids is forbidden here, and a server
whose restrictions cannot be kept is refused, with the place and the mend. The same server in several programs is written
once. Files of projects are never looked for: name them.

Exit status 1: something was refused or could not be read; the rest is written.

Example:
  mcpbx import --dry-run          shows everything, writes nothing
  mcpbx import --from cursor
  mcpbx import ./.vscode/mcp.json)",
      .declare = declare_import};
}

}  // namespace mcpbx::cli::verbs
