// `mcpbx uninstall`: takes our entry out of the file of another program.
#include "conf/places.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/base/write_consent.hpp"
#include "daemon/cli/hosts/own_dialog.hpp"
#include "daemon/cli/hosts/own_file.hpp"
#include "mcp/json/json_writer.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace mcpbx::cli::verbs {
namespace {

struct uninstall_options {
  std::string program;
  bool yes = false, dry_run = false;
};

void report_uninstall(context& c, std::string_view state, const hosts::own_file& file) {
  c.screen->out_json(json::json_object("program", file.program->name, "file", file.path, "state", state));
}

int uninstall(context& c, const uninstall_options& o) {
  const auto* program = hosts::program_or_explain(c, o.program);
  if (program == nullptr) return terminals::no_such;
  const auto env = conf::environment_for_places();
  const auto path = conf::install::can_install(*program) ? hosts::own_path_of(*program, env) : "";
  if (path.empty()) {
    c.screen->error("mcpbx has written no file of " + std::string(program->title) + ": take the entry out there");
    return terminals::no_such;
  }
  const auto file = hosts::look_at_own_file(*program, path);
  if (!file) {
    c.screen->error(file.error().message);
    return file.error().code == errc::not_found ? terminals::no_such : terminals::usage;
  }
  const auto change = hosts::plan_uninstall(*file);
  if (!change) {
    c.screen->error(change.error().message);
    return terminals::usage;
  }
  if (change->same) {
    if (c.json)
      report_uninstall(c, "unchanged", *file);
    else
      c.screen->err_line("mcpbx is not in " + path);
    return terminals::done;
  }
  std::string off;
  if (file->note)
    for (const auto& name : file->note->off) off += (off.empty() ? "" : ", ") + name;
  if (!change->after)
    hosts::tell_lines(c, "", "removes " + path + ", which mcpbx made");
  else if (file->is_as_left())
    hosts::tell_lines(c, "", "puts " + path + " back as it was");
  else if (change->after == file->text)
    hosts::tell_lines(c, "", "removes what an earlier install left beside " + path);
  else
    hosts::tell_lines(c, "", "takes the entry out of " + path + "; what was changed there since stays");
  if (change->keeps_backup)
    hosts::tell_lines(c, "",
                      "keeps " + file->backup_path() +
                          ", since the note beside it is gone: servers that install took out stand "
                          "there");
  if (!off.empty()) hosts::tell_lines(c, "", "has these run there again: " + off);
  if (o.dry_run) {
    if (c.json) report_uninstall(c, "planned", *file);
    return terminals::done;
  }
  if (const int status = agreed_to_write(c, o.yes); status != terminals::done) return status;
  if (const auto written = hosts::write_uninstall(*file, *change); !written) {
    c.screen->error(written.error().message);
    return written.error().code == errc::config ? terminals::usage : terminals::no_answer;
  }
  if (c.json)
    report_uninstall(c, "uninstalled", *file);
  else
    c.screen->out_line((change->after ? "wrote " : "removed ") + path);
  return terminals::done;
}

verb_action declare_uninstall(CLI::App& page) {
  const auto o = std::make_shared<uninstall_options>();
  page.add_option("PROGRAM", o->program, "as in `mcpbx install --list`")->required()->type_name("");
  page.add_flag("-y,--yes", o->yes, "write without asking");
  page.add_flag("--dry-run", o->dry_run, "show what would be written, and write nothing");
  return [o](context& c) { return uninstall(c, *o); };
}

}  // namespace

verb verb_uninstall() {
  return {
      .name = "uninstall",
      .place = 22,
      .summary = "take mcpbx out of another program again",
      .more =
          R"(Puts the file of the program back byte for byte, if nobody has changed it since `mcpbx install`. Else it takes our entry out,
switches on again what install switched off, and keeps the changes.

Example:
  mcpbx uninstall claude-code)",
      .declare = declare_uninstall,
      .actions = hosts::names_of_programs()};
}

}  // namespace mcpbx::cli::verbs
