// `mcpbx edit`: the person's editor on a draft of a configuration file, which is taken over once it is right.
#include "conf/places.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/config/config_write.hpp"
#include "daemon/cli/config/entry_changes.hpp"
#include "daemon/cli/input/text_editor.hpp"
#include "daemon/cli/terminal/approval.hpp"
#include "daemon/cli/terminal/read_line.hpp"
#include "mcp/files/whole_file.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::cli::verbs {
namespace {

constexpr std::string_view first_text = R"({
  // Tool servers; `mcpbx add` writes entries, too.
  "mcpServers": {
  }
}
)";

/// Returns the draft's text, or tells why there is none and sets `status`.
std::optional<std::string> draft_text(context& c, const std::string& draft, int& status) {
  auto text = files::read_whole_file(draft, conf::max_file_bytes);
  if (text && *text) return std::move(**text);
  c.screen->error(text ? "the editor left no file, and nothing was changed" : text.error().message);
  status = terminals::no_answer;
  return std::nullopt;
}

/// Writes the first text into the draft. A draft that an earlier edit left is continued if the person agrees.
bool begin_draft(context& c, const std::string& draft, const std::string& text, int& status) {
  // Nobody else may be able to change the draft, which can become the configuration.
  auto made = files::make_folder_of(draft);
  if (made) made = conf::check_directory(std::filesystem::path(draft).parent_path());
  if (!made) {
    status = config::explain_file(c, made.error());
    return false;
  }
  const auto left = files::read_whole_file(draft, conf::max_file_bytes);
  if (left && *left) {
    if (!terminals::can_ask()) {
      c.screen->error("a draft of an earlier edit is in " + draft + ": remove it, or run `mcpbx edit` at a terminal");
      status = terminals::usage;
      return false;
    }
    link::catch_interrupts();
    if (terminals::ask_yes(*c.screen, "a draft of an earlier edit is there: go on with it? [y/N] ")) return true;
    if (link::interrupted()) {
      status = terminals::interrupted_exit;
      return false;
    }
  }
  made = files::replace_whole_file(draft, text);
  if (!made) status = config::explain_file(c, made.error());
  return made.has_value();
}

/// Edits until the configuration is right with the draft's text, and takes it over.
int edit_draft(context& c, const config::config_place& place, const std::filesystem::path& file,
               const std::string& draft, const std::string& begun, const std::string& editor) {
  const auto env = conf::environment_for_places();
  const auto stays = [&] {
    c.screen->err_line("mcpbx: your text stays in " + draft + "; `mcpbx edit` goes on with it");
  };
  while (true) {
    if (const auto edited = input::edit_file(editor, draft); !edited) {
      c.screen->error(edited.error().message + ", and nothing was changed");
      const auto left = files::read_whole_file(draft, conf::max_file_bytes);
      if (left && *left && **left != begun)
        stays();
      else
        (void)files::remove_whole_file(draft);
      return terminals::no_answer;
    }
    int status = terminals::done;
    const auto text = draft_text(c, draft, status);
    if (!text) return status;
    if (*text == begun) {
      (void)files::remove_whole_file(draft);
      c.screen->err_line("nothing was changed");
      return config::write_changes(c, place, {}, {}, {.yes = true, .quiet = true});
    }
    const config::file_change change{file, place.text_of(file), *text};
    const auto after = config::loaded_after(place, {change}, env);
    if (after.ok()) {
      const int written = config::write_changes(c, place, {change}, {}, {.yes = true, .quiet = true});
      const auto now = files::read_whole_file(file.native(), conf::max_file_bytes);
      if (now && *now == *text)
        (void)files::remove_whole_file(draft);
      else
        stays();
      return written;
    }
    c.screen->error("the configuration would be wrong, and nothing was changed:\n" +
                    std::string(trimmed(after.error_text())));
    if (!terminals::can_ask()) {
      stays();
      return terminals::usage;
    }
    link::catch_interrupts();
    if (terminals::ask_yes(*c.screen, "edit it again? [y/N] ")) continue;
    stays();
    return link::interrupted() ? terminals::interrupted_exit : terminals::usage;
  }
}

int edit(context& c, const std::string& name) {
  const auto place = config::find_config_place(c, conf::environment_for_places());
  if (!place) return explain(c, place.error());
  auto file = place->file ? *place->file : place->folder / "config.json";
  if (!name.empty()) {
    if (const auto known = config::check_entry(*place, name); !known) return explain(c, known.error());
    file = config::files_with(*place, name).back();
  }
  const auto editor = input::editor_command();
  if (!editor) {
    c.screen->error(input::no_editor_text());
    return terminals::usage;
  }
  // A server may be called "config": its draft is not that of config.json.
  const std::string front = file.parent_path() == place->folder / "config.d" ? "config.d-" : "";
  const auto draft = (place->folder / "drafts" / (front + file.filename().native())).native();
  const std::string begun = place->text_of(file).value_or(std::string(first_text));
  int status = terminals::done;
  if (!begin_draft(c, draft, begun, status)) return status;
  return edit_draft(c, *place, file, draft, begun, *editor);
}

verb_action declare_edit(CLI::App& page) {
  const auto name = std::make_shared<std::string>();
  page.add_option("NAME", *name, "a server: the file that has its entry; without it your config.json")->type_name("");
  return [name](context& c) { return edit(c, *name); };
}

}  // namespace

verb verb_edit() {
  return {
      .name = "edit",
      .place = 20,
      .summary = "edit the configuration, with a check before it holds",
      .more =
          R"(Opens a draft in $VISUAL or $EDITOR. When the editor ends, the whole configuration is checked; errors are shown with file,
line and column, and the draft can be edited again. A right one replaces the file at once, and a running daemon reads it.
An editor that fails, and a text that stays as it is, change nothing. The editor has to wait: `code --wait`, not `code`.

Examples:
  mcpbx edit
  EDITOR="code --wait" mcpbx edit github)",
      .declare = declare_edit};
}

}  // namespace mcpbx::cli::verbs
