// The order matters: all checks come before the first byte is written, secrets are on the disk before an entry refers
// to them, and the daemon reads the files last.
#include "daemon/cli/config/config_write.hpp"

#include "conf/edit/entry_text.hpp"
#include "conf/edit/json_edit.hpp"
#include "conf/places.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/write_consent.hpp"
#include "daemon/cli/config/secret_files.hpp"
#include "daemon/cli/link/text_lists.hpp"
#include "daemon/cli/terminal/approval.hpp"
#include "daemon/cli/terminal/foreign_text.hpp"
#include "daemon/cli/terminal/read_line.hpp"
#include "mcp/files/whole_file.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace mcpbx::cli::config {
namespace {

namespace fs = std::filesystem;

/// One change with the secrets that it needs on the disk first.
struct step_of_write {
  file_change change;
  std::vector<moved_secret> secrets;
};

/// Tells how a running daemon took the new files.
struct in_force {
  std::string_view word;  ///< "reloaded", "none", "other" or "failed"
  std::string text;       ///< a clause for people
  int status = terminals::done;
};

fs::path real(const fs::path& path) {
  std::error_code failed;
  auto found = fs::weakly_canonical(path, failed);
  return failed ? path : found;
}

void show_text(context& c, std::string_view head, std::string_view text) {
  auto lines = terminals::framed(head, text, c.screen->err_width());
  if (lines.ends_with('\n')) lines.pop_back();
  c.screen->err_line(lines);
}

void show_changes(context& c, const std::vector<step_of_write>& steps, const std::vector<std::string>& told) {
  for (const auto& line : told) show_text(c, "", line);
  bool hidden = std::ranges::any_of(told, [](const std::string& line) { return redact::has_hidden(line); });
  for (const auto& [change, secrets] : steps) {
    const auto head = change.after ? (change.before ? "changes " : "writes ") : "removes ";
    show_text(c, "", head + change.path.native());
    for (const auto& [mark, line] : shown_change(change)) {
      hidden = hidden || redact::has_hidden(line);
      show_text(c, std::string("  ") + mark + " ", line);
    }
    for (const auto& s : secrets) show_text(c, "", "moves the secret " + s.path + " to " + s.file.native() + " (0600)");
  }
  if (hidden) c.screen->err_line(std::string(terminals::hidden_note));
}

/// Checks the folders that will hold new files. Users who can write into a folder can change the files in it.
result<void> check_folders(const std::vector<step_of_write>& steps) {
  std::error_code ignored;
  for (const auto& step : steps) {
    std::vector<fs::path> folders{step.change.path.parent_path(), real(step.change.path).parent_path()};
    for (const auto& s : step.secrets) folders.push_back(s.file.parent_path());
    for (const auto& folder : folders)
      if (fs::exists(folder, ignored))
        if (auto good = conf::check_directory(folder); !good) return good;
  }
  return {};
}

/// Fails if one of the files is not as it was when it was read.
result<void> check_unchanged(const std::vector<step_of_write>& steps) {
  for (const auto& [change, secrets] : steps) {
    const auto now = files::read_whole_file(change.path.native(), conf::max_file_bytes);
    if (!now) return std::unexpected(now.error());
    if (*now != change.before)
      return fail(errc::config, change.path.native() +
                                    " has changed while this command waited, and nothing was written: run it again");
  }
  return {};
}

result<void> write_step(const step_of_write& step) {
  if (!step.change.after) return files::remove_whole_file(step.change.path.native());
  const auto path = real(step.change.path).native();  // a link stays, and leads to the new text
  if (auto secrets = write_secrets(step.secrets); !secrets) return secrets;
  auto written = files::make_folder_of(path);
  if (written) written = files::replace_whole_file(path, *step.change.after);
  if (written) return written;
  // The new text may stand there although the disk has not confirmed it; then it needs its secrets.
  const auto now = files::read_whole_file(path, conf::max_file_bytes);
  if (now && *now != step.change.after) take_back_secrets(step.secrets);
  return written;
}

in_force told_daemon(context& c) {
  if (c.place.standalone) return {"none", "", terminals::done};
  link::place where = c.place;
  where.config.clear();
  auto made = link::connect(where, false);
  if (!made) return {"none", "no daemon runs; the next one reads it", terminals::done};
  const auto told = made->link.call("mcpbx/reload", "{}");
  if (!told) return {"failed", "the running daemon was not reached: " + told.error().message, terminals::no_answer};
  if (told->error)
    return {"failed", "the running daemon goes on as before: " + told->error_message(), status_of(*told)};
  std::vector<fs::path> wanted, theirs;
  conf::file_options options;
  if (!c.place.config.empty()) options.flag = c.place.config;
  if (const auto files = conf::find_files(conf::environment_for_places(), options))
    for (const auto& file : *files) wanted.push_back(real(file));
  const auto files = link::texts_of(told->result, "files");
  for (const auto& file : files) theirs.push_back(real(file));
  if (wanted != theirs)
    return {"other",
            "the running daemon reads other files (" + (files.empty() ? "none" : link::listed(files)) +
                "); start one with this configuration to use it",
            terminals::done};
  const auto waiting = link::texts_of(told->result, "fromNextStart");
  if (!waiting.empty())
    return {"reloaded", "the running daemon has read it; from its next start: " + link::listed(waiting),
            terminals::done};
  return {"reloaded", "the running daemon has read it", terminals::done};
}

void write_report(context& c, const std::vector<step_of_write>& steps, const in_force& daemon, const write_wish& wish,
                  bool dry_run) {
  std::string json;
  json::json_writer w(json);
  const auto paths = [&](std::string_view key, bool removed) {
    w.key(key).begin_array();
    for (const auto& step : steps)
      if (!step.change.after == removed) w.value(step.change.path.native());
    w.end_array();
  };
  w.begin_object();
  paths("written", false);
  paths("removed", true);
  w.key("secrets").begin_array();
  for (const auto& step : steps)
    for (const auto& s : step.secrets)
      w.begin_object().member("path", s.path).member("file", s.file.native()).end_object();
  w.end_array();
  if (dry_run)
    w.member("dryRun", true);
  else
    w.member("daemon", daemon.word);
  w.end_object();
  if (wish.report != nullptr)
    *wish.report = std::move(json);
  else
    c.screen->out_json(json);
}

int carry_out(context& c, const config_place& place, const std::vector<step_of_write>& steps,
              const std::vector<std::string>& told, const write_wish& wish) {
  if (steps.empty()) {
    if (c.json) write_report(c, steps, {"none", "", terminals::done}, wish, wish.dry_run);
    return terminals::done;
  }
  const auto env = conf::environment_for_places();
  std::vector<file_change> changes;
  for (const auto& step : steps) changes.push_back(step.change);
  const auto after = loaded_after(place, changes, env);
  if (!wish.quiet) show_changes(c, steps, told);
  if (!after.ok()) {
    const auto before = loaded_after(place, {}, env);
    c.screen->error((before.ok() ? "this would make the configuration wrong, and nothing was written:\n"
                                 : "the configuration has errors, and nothing was written:\n") +
                    std::string(trimmed(after.error_text())) + (before.ok() ? "" : "\n`mcpbx edit` opens it"));
    return terminals::usage;
  }
  auto good = check_folders(steps);
  if (!good) return explain_file(c, good.error());
  if (wish.dry_run) {
    if (c.json) write_report(c, steps, {}, wish, true);
    return terminals::done;
  }
  if (const int status = agreed_to_write(c, wish.yes); status != terminals::done) return status;
  if (good = check_unchanged(steps); !good) return explain_file(c, good.error());
  for (const auto& step : steps)
    if (good = write_step(step); !good) {
      c.screen->error(good.error().message +
                      (&step == steps.data() ? "; nothing was changed" : "; the files above it were written"));
      return terminals::no_answer;
    }
  const auto daemon = told_daemon(c);
  if (c.json) {
    write_report(c, steps, daemon, wish, false);
    if (daemon.status != terminals::done) c.screen->err_line("mcpbx: " + daemon.text);
    return daemon.status;
  }
  for (const auto& step : steps)
    c.screen->out_line((step.change.after ? "wrote " : "removed ") + redact::printable(step.change.path.native()));
  if (daemon.status != terminals::done)
    c.screen->error(daemon.text);
  else if (!daemon.text.empty())
    c.screen->out_line(daemon.text);
  return daemon.status;
}

}  // namespace

int explain_file(context& c, const error& e) {
  c.screen->error(e.message);
  return e.code == errc::config ? terminals::usage : terminals::no_answer;
}

void add_write_options(CLI::App& page, write_wish& wish, bool with_secrets) {
  page.add_flag("--yes", wish.yes, "write without asking");
  page.add_flag("--dry-run", wish.dry_run, "show what would be written, and write nothing");
  if (with_secrets) page.add_flag("--keep-secrets", wish.keep_secrets, "leave secrets where they are, in clear");
}

int write_entries(context& c, const config_place& place, const std::vector<new_entry>& entries,
                  const write_wish& wish) {
  const auto env = conf::environment_for_places();
  std::vector<fs::path> taken;
  std::vector<moved_entry> moved;
  std::vector<std::string> told, secrets;
  for (const auto& e : entries) {
    moved.push_back(plan_secrets(e.name, e.entry, place.folder, env.get("HOME").value_or(""), taken));
    for (const auto& s : moved.back().secrets) secrets.push_back(terminals::quoted_name(e.name) + " " + s.path);
    const auto line = shown_entry(e.entry);
    told.push_back(e.name + (line.empty() ? "" : ": " + line));
  }
  bool move = !wish.keep_secrets && !secrets.empty();
  if (move && !wish.yes && !wish.dry_run && terminals::can_ask()) {
    for (const auto& s : secrets) show_text(c, "  ", s);
    link::catch_interrupts();
    move = terminals::ask_yes(*c.screen, (secrets.size() == 1 ? "this is a secret in clear: move it to a file"
                                                              : "these are secrets in clear: move them to files") +
                                             std::string(" that only you can read? [y/N] "));
    if (link::interrupted()) return terminals::interrupted_exit;
  }
  std::vector<step_of_write> steps;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto path = place.file_of(entries[i].name);
    auto at = std::ranges::find_if(steps, [&](const step_of_write& s) { return s.change.path == path; });
    if (at == steps.end()) {
      const auto before = place.text_of(path);
      at = steps.insert(steps.end(), step_of_write{file_change{path, before, before.value_or("")}, {}});
    }
    if (!at->change.before && !place.file) {
      std::string head;
      for (const auto& line : entries[i].comments) head += line + "\n";
      at->change.after->insert(0, head);
    }
    auto text = conf::edit::with_entry(*at->change.after, entries[i].name, move ? moved[i].entry : entries[i].entry,
                                       path.native());
    if (text && place.file && !entries[i].comments.empty())
      text = conf::edit::comment_member(*text, {"mcpServers", entries[i].name}, entries[i].comments, path.native());
    if (!text) return explain(c, error{errc::config, text.error().message});
    at->change.after = std::move(*text);
    if (move) at->secrets.insert(at->secrets.end(), moved[i].secrets.begin(), moved[i].secrets.end());
  }
  std::erase_if(steps, [](const step_of_write& s) { return s.change.before == s.change.after; });
  if (steps.empty()) c.screen->err_line("the configuration says this already");
  return carry_out(c, place, steps, told, wish);
}

int write_changes(context& c, const config_place& place, const std::vector<file_change>& changes,
                  const std::vector<std::string>& told, const write_wish& wish) {
  std::vector<step_of_write> steps;
  for (const auto& change : changes) steps.push_back({change, {}});
  return carry_out(c, place, steps, told, wish);
}

}  // namespace mcpbx::cli::config
