// Walks the runs of a session in order, for Markdown and for JSON lines alike.
#include "daemon/cli/text/session_text.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace mcpbx::cli::text {
namespace {

std::int64_t number_of(const json::raw_json& object, std::string_view key) {
  return json::find_member(object, key).as_integer().value_or(0);
}

// Calls `on_run` for each run and `on_message` for each of its messages.
template <class Run, class Message>
void walk(const session_export& s, Run&& on_run, Message&& on_message) {
  std::size_t at = 0;
  for (const auto& run : s.runs) {
    on_run(run);
    for (auto left = number_of(run, "messages"); left > 0 && at < s.messages.size(); --left)
      on_message(run, s.messages[at++]);
  }
}

void append_fence(std::string& out, std::string_view text, std::string_view language) {
  std::size_t longest = 2, row = 0;
  for (const char c : text) {
    row = c == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  const std::string fence(longest + 1, '`');
  out += fence;
  out += language;
  out += '\n';
  out += text;
  if (!text.empty() && text.back() != '\n') out += '\n';
  out += fence + "\n\n";
}

// Finds a fence that is left open. A fence begins with a line of at least three equal characters and ends with a line
// of at least as many and nothing else (CommonMark, 4.5). Ignores fences inside quotations and lists.
std::string open_fence(std::string_view text) {
  std::string fence;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    begin = end + 1;
    const auto indent = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(indent);
    if (indent > 3 || line.empty() || (line[0] != '`' && line[0] != '~')) continue;
    const auto row = std::min(line.find_first_not_of(line[0]), line.size());
    const auto rest = line.substr(row);
    if (fence.empty()) {
      if (row >= 3 && (line[0] == '~' || !rest.contains('`'))) fence = line.substr(0, row);
    } else if (line[0] == fence[0] && row >= fence.size() && rest.find_first_not_of(" \t\r") == rest.npos) {
      fence.clear();
    }
  }
  return fence;
}

// Appends a text and closes a fence that it leaves open, so that later text is not taken into it.
void append_text(std::string& out, std::string_view text) {
  out += text;
  if (const auto fence = open_fence(text); !fence.empty()) out += (text.ends_with('\n') ? "" : "\n") + fence;
  out += "\n\n";
}

void append_result(std::string& out, const json::raw_json& block) {
  const bool failed = json::find_member(block, "isError").is_true();
  out += "### " + std::string(failed ? "Error of " : "Result of ") +
         redact::printable(json::member_text(block, "name")) + "\n\n";
  const auto result = json::find_member(block, "result");
  std::string text;
  bool only_text = true;
  json::for_each_element(json::find_member(result, "content"), [&](const json::raw_json& part) {
    only_text = only_text && json::member_text(part, "type") == "text";
    text += (text.empty() ? "" : "\n") + json::member_text(part, "text");
    return true;
  });
  if (only_text && !text.empty())
    append_fence(out, text, "");
  else
    append_fence(out, result.text(), "json");
}

void append_block(std::string& out, const json::raw_json& block) {
  const std::string type = json::member_text(block, "type");
  if (type == "text" || type == "refusal") {
    append_text(out, json::member_text(block, "text"));
  } else if (type == "reasoning") {
    out += "### Thoughts\n\n";
    append_text(out, json::member_text(block, "text"));
  } else if (type == "tool_call") {
    out += "### Call of " + redact::printable(json::member_text(block, "name")) + "\n\n";
    const auto arguments = json::find_member(block, "arguments");
    append_fence(out, arguments ? std::string(arguments.text()) : json::member_text(block, "argumentsText"), "json");
  } else if (type == "tool_result") {
    append_result(out, block);
  } else if (type == "image") {
    const std::string url = json::member_text(block, "url");
    out += url.empty() ? "(a picture, " + json::member_text(block, "mimeType") + ")\n\n" : "![](" + url + ")\n\n";
  } else if (type == "file") {
    out += "(a file";
    for (const std::string_view key : {"name", "mimeType", "url"})
      if (const std::string text = json::member_text(block, key); !text.empty()) out += ", " + redact::printable(text);
    out += ")\n\n";
  }
}

// Writes the members of an object except those in the list.
void write_members(json::json_writer& w, const json::raw_json& object,
                   std::initializer_list<std::string_view> without) {
  if (auto open = json::raw_object::open(object))
    open->for_each([&](std::string_view key, const json::raw_json& value) {
      if (std::ranges::find(without, key) == without.end()) w.member(key, value);
    });
}

// Appends a line with the type, the run if there is one, and the members of `object` except those in the list.
void append_line(std::string& out, std::string_view type, std::string_view run, const json::raw_json& object,
                 std::initializer_list<std::string_view> without = {}) {
  json::json_writer w(out);
  write_members(w.begin_object().member("type", type).filled("run", run), object, without);
  w.end_object();
  out += '\n';
}

}  // namespace

terminals::styled marked(const std::string& line, const search::word_search& words) {
  terminals::styled all("");
  std::size_t at = 0;
  for (const auto& [begin, end] : words.places(line)) {
    all = all + terminals::styled(line.substr(at, begin - at)) +
          terminals::terminal::bold(line.substr(begin, end - begin));
    at = end;
  }
  return all + terminals::styled(line.substr(at));
}

std::string date_of(std::int64_t ms) {
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                parts.tm_hour, parts.tm_min);
  return text;
}

std::string markdown_of(const session_export& s) {
  const std::string title = json::member_text(s.head, "title"), id = json::member_text(s.head, "session");
  std::string out = "# " + (title.empty() ? id : title) + "\n\n";
  out += "Session `" + id + "`, " + date_of(number_of(s.head, "createdMs")) + " to " +
         date_of(number_of(s.head, "usedMs")) + " UTC.\n\n";
  const json::raw_json* before = nullptr;
  const auto close = [&](const json::raw_json* run) {
    if (!run) return;
    const std::string reason = json::member_text(*run, "stopReason"), damage = json::member_text(*run, "damage");
    const std::string part = json::member_text(*run, "partialText");
    if (!part.empty()) {
      out += "## Assistant (" + redact::printable(json::member_text(*run, "model")) + "), broken off\n\n";
      append_text(out, part);
    }
    if (!damage.empty()) out += "*Run " + json::member_text(*run, "run") + " cannot be read: " + damage + "*\n\n";
    if (reason.empty()) out += "*This run is going on.*\n\n";
    if (!reason.empty() && reason != "final") out += "*This run ended: " + reason + ".*\n\n";
  };
  walk(
      s,
      [&](const json::raw_json& run) {
        close(before);
        before = &run;
      },
      [&](const json::raw_json& run, const json::raw_json& message) {
        const std::string role = json::member_text(message, "role");
        if (role == "user") out += "## User\n\n";
        if (role == "assistant") out += "## Assistant (" + redact::printable(json::member_text(run, "model")) + ")\n\n";
        if (role == "system") out += "## System\n\n";
        json::for_each_element(json::find_member(message, "content"), [&](const json::raw_json& block) {
          append_block(out, block);
          return true;
        });
      });
  close(before);
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string json_lines_of(const session_export& s) {
  std::string out;
  append_line(out, "session", "", s.head, {"messages", "runs", "from", "next", "total", "runCount"});
  walk(
      s, [&](const json::raw_json& run) { append_line(out, "run", "", run); },
      [&](const json::raw_json& run, const json::raw_json& message) {
        append_line(out, "message", json::member_text(run, "run"), message);
      });
  return out;
}

std::string json_of(const session_export& s) {
  std::string out;
  json::json_writer w(out);
  write_members(w.begin_object(), s.head, {"messages", "runs", "from", "next", "total"});
  w.list("runs", s.runs).list("messages", s.messages).end_object();
  return out;
}

}  // namespace mcpbx::cli::text
