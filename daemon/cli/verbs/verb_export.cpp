// `mcpbx export`: writes stored conversations to standard output or to a file, without configured secrets.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/session_pages.hpp"
#include "daemon/cli/base/verb.hpp"
#include "mcp/files/whole_file.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

constexpr std::array<std::string_view, 3> export_formats{"json", "jsonl", "markdown"};
constexpr std::size_t most_file_bytes = 512u << 20;

struct export_options {
  std::string id, format, file;
  bool all = false, force = false;
};

// Returns the format that was asked for, or that fits the ending of the file's name.
std::string format_of(const export_options& o) {
  if (!o.format.empty()) return o.format == "md" ? "markdown" : o.format;
  if (o.file.ends_with(".md") || o.file.ends_with(".markdown")) return "markdown";
  return o.file.ends_with(".jsonl") ? "jsonl" : "json";
}

std::string one_session(const text::session_export& s, std::string_view format) {
  if (format == "markdown") return text::markdown_of(s);
  return format == "jsonl" ? std::string(trimmed(text::json_lines_of(s))) + "\n" : text::json_of(s);
}

// Returns the ids of all sessions, the latest first.
std::optional<std::vector<std::string>> all_sessions(context& c, link::daemon_connection& link, int& status) {
  std::vector<std::string> ids;
  for (std::string before;;) {
    std::string params;
    json::json_writer(params)
        .begin_object()
        .member("limit", 1000)
        .filled("before", before)
        .set("all", true)
        .end_object();
    const auto page = call_or_explain(c, link, "mcpbx/sessions/list", params, status);
    if (!page) return std::nullopt;
    json::for_each_element(json::find_member(*page, "sessions"), [&](const json::raw_json& s) {
      ids.push_back(json::member_text(s, "session"));
      return true;
    });
    before = json::member_text(*page, "next");
    if (before.empty()) return ids;
  }
}

// Writes to standard output as the sessions come, or collects the text of a file.
class export_sink {
 public:
  export_sink(context& c, bool to_file) : c_(c), to_file_(to_file) {}
  bool put(std::string_view text) {
    if (!to_file_) {
      c_.screen->out(text);
      return true;
    }
    if (collected_.size() + text.size() > most_file_bytes) return false;
    collected_ += text;
    return true;
  }
  const std::string& collected() const { return collected_; }

 private:
  context& c_;
  bool to_file_;
  std::string collected_;
};

int wrong_export(context& c, const std::string& what) {
  c.screen->error(what + "; see `mcpbx export --help`");
  return terminals::usage;
}

int export_sessions(context& c, const export_options& o) {
  const auto format = format_of(o);
  if (std::ranges::find(export_formats, format) == export_formats.end())
    return wrong_export(c, "there is no format `" + o.format + "`" + did_you_mean(o.format, export_formats));
  if (o.all == !o.id.empty())
    return wrong_export(c, o.all ? "an id and --all were given; write one of them"
                                 : "name a session, as `mcpbx sessions` lists it, or write --all");
  const bool to_file = !o.file.empty() && o.file != "-";
  if (o.force && !to_file) return wrong_export(c, "--force is for a file (-o)");
  struct stat there{};
  if (to_file && !o.force && ::lstat(o.file.c_str(), &there) == 0)
    return wrong_export(c, o.file + " exists, and is left as it is; --force replaces it");
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  std::vector<std::string> ids{o.id};
  if (o.all) {
    auto all = all_sessions(c, made->link, status);
    if (!all) return status;
    ids = std::move(*all);
  }
  export_sink sink(c, to_file);
  const bool list = o.all && format == "json";
  bool room = !list || sink.put("[");
  for (std::size_t i = 0; i < ids.size() && room; ++i) {
    const auto one = read_session(c, made->link, ids[i], true, status);
    if (!one && status == terminals::no_such && o.all) continue;  // deleted meanwhile
    if (!one) return status;
    const std::string_view between = i == 0 ? "" : list ? ",\n" : format == "markdown" ? "\n---\n\n" : "";
    room = sink.put(std::string(between) + one_session(*one, format));
  }
  room = room && sink.put(list ? "]\n" : format == "json" ? "\n" : "");
  if (!room)
    return wrong_export(c,
                        "the sessions have more than 512 MiB, and nothing was written; without -o they go to "
                        "standard output one after another");
  if (!to_file) return terminals::done;
  if (const auto written = files::replace_whole_file(o.file, sink.collected(), {.ending = ".mcpbx-new"}); !written) {
    c.screen->error(written.error().message + "; nothing was written, try another file with -o");
    return terminals::no_answer;
  }
  if (c.json)
    c.screen->out_json(json::json_object("file", o.file, "format", format, "sessions", ids.size()));
  else
    c.screen->err_line(counted(static_cast<std::int64_t>(ids.size()), "session") + " in " + o.file);
  return terminals::done;
}

verb_action declare_export(CLI::App& page) {
  const auto o = std::make_shared<export_options>();
  page.add_option("ID", o->id, "the session, as `mcpbx sessions` lists it")->type_name("");
  page.add_flag("--all", o->all, "all sessions, also those of other doors");
  page.add_option("--format", o->format, "json, jsonl or markdown (as the file's name ends, else json)")
      ->type_name("FORMAT");
  page.add_option("-o,--output", o->file, "write this file, readable by you alone")->type_name("FILE");
  page.add_flag("--force", o->force, "replace a file that exists");
  return [o](context& c) { return export_sessions(c, *o); };
}

}  // namespace

verb verb_export() {
  return {
      .name = "export",
      .place = 7,
      .summary = "write conversations to a file, without secrets",
      .more =
          R"(Everything that was said and done in a session, or in all of them. Secrets of the configuration stand as ***.
json is one object, with --all one array of them; jsonl has a line for each session, run and message; markdown is for
people. A file is written whole or not at all, has the mode 0600, and replaces none without --force.

Example:
  mcpbx export ses_0f3a52c1b7d94e68 -o talk.md)",
      .declare = declare_export};
}

}  // namespace mcpbx::cli::verbs
