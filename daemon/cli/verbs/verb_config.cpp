// `mcpbx config show`, `check` and `path`: the configuration in force, its errors, its files.
#include "conf/document/diagnostic.hpp"
#include "conf/places.hpp"
#include "conf/show/config_view.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/link/text_lists.hpp"
#include "daemon/cli/terminal/helping_command.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

conf::loaded_files load_here(const context& c) {
  conf::file_options options;
  if (!c.place.config.empty()) options.flag = c.place.config;
  return conf::load_files(conf::environment_for_places(), options);
}

/// Returns the answer of mcpbx/config made from the files, or sets `status` after telling their errors.
result<json::raw_json> config_of_files(context& c, int& status) {
  const auto loaded = load_here(c);
  if (!loaded.ok()) {
    c.screen->error(terminals::with_command(
        "the configuration has errors:\n" + std::string(trimmed(loaded.error_text())), "`mcpbx edit` opens it"));
    status = terminals::usage;
    return fail(errc::config, "");
  }
  std::vector<conf::source_text> texts;
  for (const auto& r : loaded.read) texts.push_back({r.path, r.text});
  const auto view = json::raw_json::own(conf::show::config_view(texts, conf::environment_for_places()));
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("files").begin_array();
  for (const auto& t : texts) w.value(t.name);
  w.end_array();
  w.member("config", json::find_member(view, "config")).member("origins", json::find_member(view, "origins"));
  w.key("fromNextStart").begin_array().end_array().end_object();
  return json::raw_json::own(json);
}

/// Prints the document as JSON with comments, one value a line.
class config_lines {
 public:
  config_lines(const json::raw_json& told, bool origins)
      : waiting_(link::texts_of(told, "fromNextStart")), with_places_(origins) {
    if (const auto opened = json::raw_object::open(json::find_member(told, "origins")))
      opened->for_each([&](std::string_view path, const json::raw_json& origin) {
        if (auto words = origin.as_string()) origins_.emplace(path, std::move(*words));
      });
    object(json::find_member(told, "config"), "", "");
    out_ += "\n";
  }
  const std::string& text() const { return out_; }

 private:
  void object(const json::raw_json& value, const std::string& path, const std::string& margin) {
    out_ += '{';
    std::string note, comma;
    const auto opened = json::raw_object::open(value);
    if (opened)
      opened->for_each([&](std::string_view key, const json::raw_json& member) {
        out_.append(comma)
            .append(note)
            .append("\n")
            .append(margin)
            .append("  ")
            .append(json::json_quoted(key))
            .append(": ");
        note.clear();
        const auto inside = conf::documents::member_path(path, key);
        const auto origin = origins_.find(inside);
        if (member.is_object() && origin == origins_.end())
          object(member, inside, margin + "  ");
        else
          out_ += redact::visible_json(member.text());
        if (origin != origins_.end()) note = note_of(inside, origin->second);
        comma = ",";
      });
    out_ += note;
    if (!comma.empty()) out_.append("\n").append(margin);
    out_ += '}';
  }

  std::string note_of(const std::string& path, const std::string& origin) const {
    std::string words;
    if (with_places_ || origin == "default" || origin == "environment" || origin == "command line") words = origin;
    if (std::ranges::find(waiting_, path) != waiting_.end())
      words += std::string(words.empty() ? "" : "; ") + "from the daemon's next start";
    return words.empty() ? "" : "  // " + redact::visible(words);
  }

  std::unordered_map<std::string, std::string> origins_;  // by path
  std::vector<std::string> waiting_;
  bool with_places_;
  std::string out_;
};

int show_config(context& c, bool origins) {
  int status = terminals::done;
  std::string from = "the running daemon";
  result<json::raw_json> told = fail(errc::unavailable, "");
  link::place where = c.place;
  where.standalone = false;
  if (c.place.config.empty() && !c.place.standalone)
    if (auto made = link::connect(where, false)) {
      told = call_or_explain(c, made->link, "mcpbx/config", "{}", status);
      if (!told) return status;
    }
  if (!told) {
    from = "the files, since no daemon runs";
    if (!c.place.config.empty() || c.place.standalone) from = "the files";
    told = config_of_files(c, status);
    if (!told) return status;
  }
  const auto files = link::texts_of(*told, "files");
  if (c.json) {
    std::string json;
    json::json_writer w(json);
    w.begin_object().member("from", from.starts_with("the files") ? "files" : "daemon");
    w.member("files", json::find_member(*told, "files")).member("config", json::find_member(*told, "config"));
    if (origins) w.member("origins", json::find_member(*told, "origins"));
    w.member("fromNextStart", json::find_member(*told, "fromNextStart")).end_object();
    c.screen->out_json(json);
    return terminals::done;
  }
  c.screen->err_line("mcpbx: as told by " + from + ": " +
                     (files.empty() ? "there is no configuration file, the defaults hold" : link::listed(files)));
  c.screen->out(config_lines(*told, origins).text());
  return terminals::done;
}

int check_config(context& c) {
  const auto loaded = load_here(c);
  const auto& notices = loaded.config.notices;
  if (c.json) {
    std::string json;
    json::json_writer w(json);
    const auto list = [&](std::string_view key, const std::vector<conf::documents::diagnostic>& findings) {
      w.key(key).begin_array();
      for (const auto& f : findings) {
        w.begin_object().member("file", f.file).member("line", f.line).member("column", f.column);
        w.member("what", f.what).member("path", f.path).member("mend", f.mend).end_object();
      }
      w.end_array();
    };
    w.begin_object().key("files").begin_array();
    for (const auto& r : loaded.read) w.value(r.path);
    w.end_array();
    list("errors", loaded.errors);
    list("notices", notices);
    w.end_object();
    c.screen->out_json(json);
    return loaded.ok() ? terminals::done : terminals::usage;
  }
  c.screen->out(conf::documents::listing(notices, "notice") + conf::documents::listing(loaded.errors, "error"));
  if (loaded.ok())
    for (const auto& r : loaded.read) c.screen->out_line(redact::printable(r.path) + ": ok");
  if (loaded.read.empty() && loaded.ok()) c.screen->out_line("no configuration file: the defaults hold");
  c.screen->out_line(counted(loaded.errors.size(), "error") + ", " + counted(notices.size(), "notice"));
  if (!loaded.ok()) c.screen->err_line("mcpbx: `mcpbx edit` opens the file");
  return loaded.ok() ? terminals::done : terminals::usage;
}

int config_path(context& c) {
  conf::file_options options;
  if (!c.place.config.empty()) options.flag = c.place.config;
  const auto env = conf::environment_for_places();
  const auto files = conf::find_files(env, options);
  if (!files) return explain(c, files.error());
  if (c.json) {
    std::string json;
    json::json_writer w(json);
    w.begin_array();
    for (const auto& file : *files) w.value(file.native());
    w.end_array();
    c.screen->out_json(json);
    return terminals::done;
  }
  for (const auto& file : *files) c.screen->out_line(redact::printable(file.native()));
  if (!files->empty()) return terminals::done;
  const auto own = conf::user_config_directory(env);
  c.screen->err_line("mcpbx: there is no configuration file, and the defaults hold; " +
                     (own ? "`mcpbx edit` makes " + (*own / "config.json").native() : std::string("HOME is not set")));
  return terminals::done;
}

verb_action declare_config(CLI::App& page) {
  const auto origins = std::make_shared<bool>(false);
  page.require_subcommand(1, 1);
  auto* show = page.add_subcommand("show", "what is in force, defaults included and secrets hidden");
  show->add_flag("--origin", *origins, "with the file, line and column of each value");
  auto* check = page.add_subcommand("check", "the errors and notices of the files, as mcpbxd --check-config");
  page.add_subcommand("path", "the files, in the order of merging");
  return [origins, show, check](context& c) {
    if (show->parsed()) return show_config(c, *origins);
    if (check->parsed()) return check_config(c);
    return config_path(c);
  };
}

constexpr std::string_view config_actions[]{"show", "check", "path"};

}  // namespace

verb verb_config() {
  return {
      .name = "config",
      .place = 20,
      .summary = "the configuration: what is in force, its errors, its files",
      .more =
          R"(`show` asks the running daemon, and reads the files itself where none runs or --config names one; it says which. It prints
JSON with comments: defaults are marked, references like ${env:NAME} stay as they are, and secrets in clear are ***.
With --origin each value has its file, line and column, or says `default`, `environment` or `command line`.

Examples:
  mcpbx config show
  mcpbx config show --origin
  mcpbx config check
  mcpbx config path)",
      .declare = declare_config,
      .actions = config_actions};
}

}  // namespace mcpbx::cli::verbs
