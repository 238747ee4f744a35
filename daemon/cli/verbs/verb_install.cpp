// `mcpbx install`: writes our entry into the file of another program, and lists the programs.
#include "conf/edit/entry_text.hpp"
#include "conf/hosts/install/own_entry.hpp"
#include "conf/places.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/base/write_consent.hpp"
#include "daemon/cli/config/config_change.hpp"
#include "daemon/cli/config/config_place.hpp"
#include "daemon/cli/hosts/import_plan.hpp"
#include "daemon/cli/hosts/own_dialog.hpp"
#include "daemon/cli/hosts/own_file.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "mcp/files/whole_file.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

namespace fs = std::filesystem;

struct install_options {
  std::string program, profile;
  bool list = false, yes = false, dry_run = false, paste = false;
};

/// Returns the path of this program: as PATH has it, if that leads here, since such a path outlives an update.
std::string path_of_mcpbx(const conf::environment& env) {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  std::istringstream folders(env.get("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto path = fs::path(folder) / "mcpbx";
    if (folder.starts_with('/') && fs::equivalent(path, self, failed) && !failed) return path.native();
  }
  return self.native();
}

std::string whole_path(const std::string& path) {
  std::error_code failed;
  const auto whole = fs::absolute(path, failed);
  return failed ? path : whole.lexically_normal().native();
}

conf::install::own_command command_for(const context& c, const install_options& o, const conf::environment& env) {
  conf::install::own_command command{path_of_mcpbx(env), {"mcp"}};
  const auto add = [&](std::string_view option, std::string value) {
    command.args.emplace_back(option);
    command.args.push_back(std::move(value));
  };
  if (!o.profile.empty()) add("--profile", o.profile);
  // The other program has not the variables of this shell.
  const auto given = [&](const std::string& option, std::string_view variable) {
    return option.empty() ? env.get(variable).value_or("") : option;
  };
  if (const auto path = given(c.place.socket, "MCPBX_SOCKET"); !path.empty()) add("--socket", whole_path(path));
  if (const auto path = given(c.place.config, "MCPBX_CONFIG"); !path.empty()) add("--config", whole_path(path));
  return command;
}

/// Names of the servers in a file: those that our configuration has, and the number of others that run there.
struct known_servers {
  std::vector<std::string> ours;
  std::size_t others = 0;
};

known_servers servers_known(const conf::programs::program& program, const std::string& path, const std::string& text,
                            const config::config_place& place, const conf::model::configuration& config,
                            const conf::environment& env) {
  auto found = hosts::look_for(program, env);
  std::erase_if(found.files, [&](const conf::imports::foreign_file& f) { return f.path != path; });
  if (found.files.empty()) found.files.push_back({path, text, "", false});
  found.files.front().text = text;
  const auto known =
      hosts::with_secrets(config.servers, (place.folder / "secrets").native(), env.get("HOME").value_or(""));
  const std::vector<hosts::found_program> programs{std::move(found)};
  const auto plan = hosts::plan_import(programs, known, {}, false, hosts::origins_of(config.servers, place));
  known_servers out;
  for (const auto& row : plan.rows) {
    const auto* off = row.server->entry.find("disabled");
    if (row.server->section.starts_with("projects")) continue;
    if (row.server->fate == conf::imports::server_fate::skipped || (off != nullptr && off->value.truth)) continue;
    const auto* same = row.name.empty() && !row.same_as.empty() ? config.find_server(row.same_as) : nullptr;
    if (same != nullptr && !same->disabled)
      out.ours.push_back(row.server->name);
    else
      ++out.others;
  }
  return out;
}

std::string listed_names(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& n : names) out += (out.empty() ? "" : ", ") + n;
  return out;
}

void write_names(json::json_writer& w, std::string_view key, const std::vector<std::string>& names) {
  w.key(key).begin_array();
  for (const auto& n : names) w.value(n);
  w.end_array();
}

int list_programs(context& c) {
  const auto env = conf::environment_for_places();
  terminals::fitted_table table({{"NAME"}, {"PROGRAM", 1}, {"MCPBX"}, {"FILE"}});
  table.wrap_last();
  std::string json;
  json::json_writer w(json);
  w.begin_array();
  for (const auto& p : conf::programs::all_programs()) {
    const bool writes = conf::install::can_install(p);
    const auto path = hosts::own_path_of(p, env);
    const auto text = path.empty() ? result<std::optional<std::string>>(std::nullopt)
                                   : files::read_whole_file(path, conf::read::max_foreign_bytes);
    std::string_view state = "no file";
    if (!text) {
      state = "unreadable";
    } else if (*text) {
      const auto own = conf::install::has_own_entry(p, **text, path);
      state = !own ? "broken file" : *own ? "installed" : "not installed";
    }
    if (!writes) state = "paste";
    w.begin_object()
        .member("name", p.name)
        .member("title", p.title)
        .member("file", path)
        .member("state", state)
        .end_object();
    table.add({{std::string(p.name),
                std::string(p.title),
                {std::string(state), state == "installed" ? terminals::look::green : terminals::look::plain},
                path}});
  }
  w.end_array();
  if (c.json)
    c.screen->out_json(json);
  else
    terminals::show(*c.screen, table);
  return terminals::done;
}

void report(context& c, std::string_view state, const hosts::own_file& file, const hosts::own_change& change,
            const install_options& o) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().member("program", file.program->name).member("file", file.path).member("state", state);
  write_names(w, "switchedOff", change.note.off);
  write_names(w, "leftOn", change.left_on);
  if (o.dry_run) w.member("dryRun", true);
  w.end_object();
  c.screen->out_json(json);
}

int install_into(context& c, const conf::programs::program& program, const install_options& o) {
  const auto env = conf::environment_for_places();
  const auto place = config::find_config_place(c, env);
  if (!place) return explain(c, place.error());
  const auto config = config::loaded_after(*place, {}, env).config;
  if (!o.profile.empty() && config.find_profile(o.profile) == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& p : config.profiles) names.push_back(p.name);
    c.screen->error("there is no profile " + shell_word(o.profile) + did_you_mean(o.profile, names) +
                    "; `mcpbx config show` has those of the configuration");
    return terminals::no_such;
  }
  const auto command = command_for(c, o, env);
  if (o.paste || !conf::install::can_install(program)) {
    if (!o.paste) c.screen->err_line(std::string(program.title) + " has no file that mcpbx writes; paste this there:");
    const auto entry = conf::install::pasted_entry(program, command);
    if (c.json)
      c.screen->out_json(json::json_object("program", program.name, "state", "paste", "entry", entry));
    else
      c.screen->out(entry.ends_with('\n') ? entry : entry + "\n");
    return terminals::done;
  }
  const auto path = hosts::own_path_of(program, env);
  if (path.empty()) {
    c.screen->error("there is no place for the files of " + std::string(program.title) +
                    ", since HOME is not set: set it");
    return terminals::usage;
  }
  const auto file = hosts::look_at_own_file(program, path);
  if (!file) {
    c.screen->error(file.error().message);
    return file.error().code == errc::not_found ? terminals::no_such : terminals::usage;
  }
  const auto base = hosts::base_text(*file);
  if (!base) {
    c.screen->error(base.error().message);
    return terminals::usage;
  }
  const auto known = servers_known(program, path, *base, *place, config, env);
  const auto change = hosts::plan_install(*file, *base, command, known.ours);
  if (!change) {
    c.screen->error(change.error().message);
    return terminals::usage;
  }
  if (known.others > 0)
    c.screen->err_line("note: mcpbx has not taken over " + counted(known.others, "server") + " of " +
                       std::string(program.title) + " (`mcpbx import --from " + std::string(program.name) + "`)");
  if (change->same) {
    if (c.json)
      report(c, "unchanged", *file, *change, o);
    else
      c.screen->err_line("mcpbx is in " + path + " already");
    return terminals::done;
  }
  const bool replaces = file->text && conf::install::has_own_entry(program, *file->text, path).value_or(false);
  hosts::tell_lines(c, "",
                    (replaces     ? "replaces the entry \"mcpbx\" in "
                     : file->text ? "adds to "
                                  : "writes ") +
                        path);
  hosts::tell_lines(c, "  + ", conf::install::pasted_entry(program, command));
  if (!change->note.off.empty())
    hosts::tell_lines(c, "",
                      (program.off == conf::programs::off_switch::none
                           ? "takes out there, since mcpbx runs them (the backup has them): "
                           : "switches off there, since mcpbx runs them: ") +
                          listed_names(change->note.off));
  if (!change->left_on.empty())
    hosts::tell_lines(
        c, "",
        "cannot switch off there, so that these run twice; take them out by hand: " + listed_names(change->left_on));
  if (file->text) hosts::tell_lines(c, "", "keeps the old file as " + file->backup_path());
  if (o.dry_run) {
    if (c.json) report(c, "planned", *file, *change, o);
    return terminals::done;
  }
  if (const int status = agreed_to_write(c, o.yes); status != terminals::done) return status;
  if (const auto written = hosts::write_install(*file, *change); !written) {
    c.screen->error(written.error().message);
    return written.error().code == errc::config ? terminals::usage : terminals::no_answer;
  }
  if (c.json) {
    report(c, "installed", *file, *change, o);
    return terminals::done;
  }
  c.screen->out_line("wrote " + path);
  if (!program.note.empty()) c.screen->out_line(std::string(program.note));
  c.screen->err_line("`mcpbx uninstall " + std::string(program.name) + "` puts everything back");
  return terminals::done;
}

int install(context& c, const install_options& o) {
  if (o.list) return list_programs(c);
  if (o.program.empty()) {
    c.screen->error("install needs the name of a program: `mcpbx install --list` has them");
    return terminals::usage;
  }
  const auto* program = hosts::program_or_explain(c, o.program);
  return program == nullptr ? terminals::no_such : install_into(c, *program, o);
}

verb_action declare_install(CLI::App& page) {
  const auto o = std::make_shared<install_options>();
  page.add_option("PROGRAM", o->program, "claude-code, cursor, vscode, …")->type_name("");
  page.add_flag("--list", o->list, "list the programs, their files, and where mcpbx is installed");
  page.add_option("-p,--profile", o->profile, "only the tools of this profile")->type_name("NAME");
  page.add_flag("--paste", o->paste, "print the entry, and write nothing");
  page.add_flag("-y,--yes", o->yes, "write without asking");
  page.add_flag("--dry-run", o->dry_run, "show what would be written, and write nothing");
  return [o](context& c) { return install(c, *o); };
}

}  // namespace

verb verb_install() {
  return {
      .name = "install",
      .place = 21,
      .summary = "have another program use mcpbx",
      .more =
          R"(Writes one entry that starts `mcpbx mcp` into the file of the program; comments and order stay. Servers of that file which
mcpbx has taken over are switched off there, since each would run twice. The old file is kept beside it as
FILE.mcpbx-backup (0600), and `mcpbx uninstall PROGRAM` puts it back.

Example:
  mcpbx install --list
  mcpbx install claude-code
  mcpbx install windsurf --profile small)",
      .declare = declare_install,
      .actions = hosts::names_of_programs()};
}

}  // namespace mcpbx::cli::verbs
