// Redacts and normalises JSON in one walk: with sorted members for comparing, in the original order for the file.
#include "providers/replay/canonical.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/message_format.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mcpbx::providers::replay {
namespace {

constexpr int deepest = 512;
constexpr std::string_view fragment_key = "replay";

std::string clean_text(const std::string& text, int depth);

class rewriter {
 public:
  rewriter(bool sorted, bool redacted) : sorted_(sorted), redacted_(redacted) {}

  json::raw_json rewrite(const json::raw_json& json, int depth = 0) {
    value(json.text(), depth);
    return w_.json();
  }

 private:
  void value(std::string_view v, int depth) {
    if (json::walk::is_string(v)) return void(w_.value(text(json::unescaped(v), depth)));
    if (depth == deepest || (!json::walk::is_object(v) && !json::walk::is_array(v))) return whole(v);
    if (json::walk::is_object(v)) return object(v, depth);
    w_.begin_array();
    json::walk::elements(v, [&](std::string_view element) { value(element, depth + 1); });
    w_.end_array();
  }

  void object(std::string_view v, int depth) {
    std::vector<std::pair<std::string, std::string_view>> all;
    json::walk::members(v, [&](std::string_view key, std::string_view member) { all.emplace_back(key, member); });
    if (sorted_) std::ranges::sort(all);
    w_.begin_object();
    for (const auto& [key, member] : all) {
      w_.key(text(key, depth));
      value(member, depth + 1);
    }
    w_.end_object();
  }

  // Writes a number, a literal or a value that is nested too deep. Its line breaks stand between tokens only.
  void whole(std::string_view v) {
    if (redacted_ && redact::redactor::redact(v) != v) return void(w_.value("***"));
    std::string text(v);
    std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    w_.token(text);
  }

  std::string text(const std::string& t, int depth) const { return redacted_ ? clean_text(t, depth) : t; }

  bool sorted_, redacted_;
  std::string out_;
  json::json_writer w_{out_};
};

// Redacts JSON inside a string (some APIs send arguments so), which may escape a secret once more. `depth` counts on
// from the string, so that the walk stays bounded.
std::string clean_text(const std::string& text, int depth) {
  auto clean = redact::redactor::redact(text);
  if (depth >= deepest || text.find('\\') == std::string::npos || (!text.starts_with('{') && !text.starts_with('[')))
    return clean;
  const auto json = json::raw_json::parse(text, deepest - depth);
  if (!json) return clean;
  auto rewritten = rewriter(false, true).rewrite(*json, depth);
  if (rewritten.text() == rewriter(false, false).rewrite(*json, depth).text()) return clean;
  return std::string(rewritten.text());
}

// Returns a result without `_meta`, where servers put data such as timings.
json::raw_json bare_result(const json::raw_json& result) {
  auto object = json::raw_object::open(result);
  if (!object) return result;
  object->erase("_meta");
  return object->json();
}

json::raw_json for_comparing(const json::raw_json& json) {
  return rewriter(true, true).rewrite(json);
}

// Opens a list member at its first element.
class list_member {
 public:
  list_member(json::json_writer& w, std::string_view name) : w_(w), name_(name) {}
  json::json_writer& next() {
    if (!std::exchange(open_, true)) w_.key(name_).begin_array();
    return w_.begin_object();
  }
  void end() {
    if (open_) w_.end_array();
  }

 private:
  json::json_writer& w_;
  std::string_view name_;
  bool open_ = false;
};

void append_files(json::json_writer& w, const message& m) {
  list_member list(w, "files");
  for (const auto& b : m.blocks) {
    const auto* file = std::get_if<file_block>(&b);
    if (!file) continue;
    auto& one = list.next();
    one.filled("mime", file->mime);
    one.filled("name", file->name);
    one.filled("url", without_secrets(file->url));
    if (!file->data.empty()) one.member("dataHash", hex(stable_hash(file->data), 16));
    one.end_object();
  }
  list.end();
}

void append_images(json::json_writer& w, const message& m) {
  list_member list(w, "images");
  for (const auto& b : m.blocks) {
    const auto* image = std::get_if<image_block>(&b);
    if (!image) continue;
    auto& one = list.next();
    one.filled("mime", image->mime);
    one.filled("url", without_secrets(image->url));
    if (!image->data.empty()) one.member("dataHash", hex(stable_hash(image->data), 16));
    one.end_object();
  }
  list.end();
}

void append_calls(json::json_writer& w, const message& m) {
  list_member list(w, "calls");
  for (const auto* call : m.calls()) {
    auto& one = list.next();
    one.member("name", call->name);
    if (call->arguments)
      one.given("arguments", for_comparing(call->arguments));
    else
      one.member("argumentsText", without_secrets(call->arguments_text));
    one.end_object();
  }
  list.end();
}

void append_results(json::json_writer& w, const message& m) {
  list_member list(w, "results");
  for (const auto& b : m.blocks) {
    const auto* r = std::get_if<tool_result_block>(&b);
    if (!r) continue;
    auto& one = list.next();
    one.filled("name", r->name);
    one.given("result", for_comparing(bare_result(r->result)));
    one.end_object();
  }
  list.end();
}

}  // namespace

std::string without_secrets(const std::string& text) {
  return clean_text(text, 0);
}

json::raw_json without_secrets(const json::raw_json& json) {
  return json ? rewriter(false, true).rewrite(json) : json::raw_json();
}

message_ptr without_secrets(const message& m) {
  auto copy = std::make_shared<message>();
  copy->role = m.role;
  copy->origin = m.origin;
  copy->origin.endpoint = without_secrets(m.origin.endpoint);
  copy->raw = without_secrets(m.raw);
  std::unordered_set<std::string> ids;
  for (auto b : m.blocks) {
    if (auto* text = std::get_if<text_block>(&b)) {
      text->text = without_secrets(text->text);
    } else if (auto* refusal = std::get_if<refusal_block>(&b)) {
      refusal->text = without_secrets(refusal->text);
    } else if (auto* thought = std::get_if<reasoning_block>(&b)) {
      thought->text = without_secrets(thought->text);
      thought->opaque = without_secrets(thought->opaque);
    } else if (auto* call = std::get_if<tool_call_block>(&b)) {
      call->arguments = without_secrets(call->arguments);
      call->arguments_text = without_secrets(call->arguments_text);
      call->problem = without_secrets(call->problem);
      for (std::size_t n = 1; call->id.empty() || !ids.insert(call->id).second; ++n)
        call->id = "call-" + std::to_string(n);
    } else if (auto* opaque = std::get_if<opaque_block>(&b)) {
      opaque->json = without_secrets(opaque->json);
    }
    copy->blocks.push_back(std::move(b));
  }
  return copy;
}

json::raw_json canonical(const message& m) {
  if (auto known = m.remembered(fragment_key)) return known;
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  w.word("role", m.role);
  w.filled("text", without_secrets(m.text()));
  append_images(w, m);
  append_files(w, m);
  append_calls(w, m);
  append_results(w, m);
  for (const auto& b : m.blocks)
    if (const auto* refusal = std::get_if<refusal_block>(&b)) {
      w.member("refusal", without_secrets(refusal->text));
      break;
    }
  w.end_object();
  auto made = json::raw_json::own(out);
  m.remember(fragment_key, made);
  return made;
}

std::uint64_t next_key(std::uint64_t key, std::string_view message) {
  return stable_hash(hex(key, 16) + hex(stable_hash(message), 16));
}

std::uint64_t definition_hash(const tool_definition& tool) {
  const auto schema = tool.schema ? rewriter(true, false).rewrite(tool.schema) : json::raw_json();
  std::string all = json::json_quoted(tool.name);
  json::append_quoted(all, tool.description);
  return stable_hash(all += schema.text());
}

}  // namespace mcpbx::providers::replay
