// Finds boundaries by looking back a few bytes, so that parts that are not shown need not be read.
#include "daemon/loop/results/result_text.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::daemon::results {
namespace {

constexpr std::size_t longest_escape = 12;  // \ud83d\ude00

bool is_type(const json::raw_json& part, std::string_view quoted_type) {
  return json::find_member(part, "type").text() == quoted_type;
}

// Returns true if the backslash at `at` begins an escape. Else it is the second one of an escaped backslash.
bool begins_escape(std::string_view text, std::size_t at) {
  std::size_t before = 0;
  while (before < at && text[at - before - 1] == '\\') ++before;
  return before % 2 == 0;
}

bool is_unicode_escape(std::string_view text, std::size_t at, std::string_view third) {
  return at + 6 <= text.size() && text[at] == '\\' && text[at + 1] == 'u' &&
         (text[at + 2] == 'd' || text[at + 2] == 'D') && third.find(text[at + 3]) != std::string_view::npos;
}

// Returns the length of the escape at `at`. A surrogate pair counts as one escape.
std::size_t escape_length(std::string_view text, std::size_t at) {
  if (text[at + 1] != 'u') return 2;
  const bool pair = is_unicode_escape(text, at, "89abAB") && is_unicode_escape(text, at + 6, "cdefCDEF");
  return pair ? 12 : 6;
}

std::size_t boundary_in(std::string_view text, std::size_t at, bool escaped) {
  if (at >= text.size()) return text.size();
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  if (!escaped) return at;
  for (std::size_t back = std::min(at, longest_escape - 1); back > 0; --back) {
    const auto start = at - back;
    if (text[start] == '\\' && begins_escape(text, start) && start + escape_length(text, start) > at) return start;
  }
  return at;
}

}  // namespace

json::raw_json text_of_part(const json::raw_json& part) {
  json::raw_json text;
  if (is_type(part, R"("text")")) text = json::find_member(part, "text");
  if (is_type(part, R"("resource")")) text = json::find_member(json::find_member(part, "resource"), "text");
  return text.type() == json::raw_json::kind::string ? text : json::raw_json();
}

bool says_nothing(const json::raw_json& content) {
  bool nothing = true;
  json::for_each_element(content, [&](json::raw_json part) {
    if (!is_type(part, R"("text")")) return nothing = false;
    const auto text = json::find_member(part, "text");
    if (text.text().size() <= 2) return true;
    // Unescapes only texts that begin with an escape or a space, which may be blank. All others say something.
    const char first = text.text()[1];
    nothing = first == '\\' || first == ' ' ? trimmed(text.as_string().value_or("")).empty() : false;
    return nothing;
  });
  return nothing;
}

result_text::result_text(const json::raw_json& result) : result_(result) {
  const auto content = json::find_member(result_, "content");
  if (says_nothing(content)) {
    add(json::find_member(result_, "structuredContent").text(), false);
    return;
  }
  json::for_each_element(content, [&](const json::raw_json& part) {
    if (const auto text = text_of_part(part)) add(text.text().substr(1, text.text().size() - 2), true);
    return true;
  });
}

void result_text::add(std::string_view text, bool escaped) {
  if (text.empty()) return;
  spans_.push_back({text, size_, escaped});
  size_ += text.size();
}

std::size_t result_text::boundary(std::size_t at) const {
  for (const auto& s : spans_)
    if (at < s.at + s.text.size()) return s.at + boundary_in(s.text, at - s.at, s.escaped);
  return size_;
}

void result_text::append(std::string& json, std::size_t from, std::size_t to) const {
  bool first = true;
  for (const auto& s : spans_) {
    const auto end = s.at + s.text.size();
    if (end <= from || s.at >= to) continue;
    if (!first) json += "\\n";
    first = false;
    const auto begin = std::max(from, s.at) - s.at;
    const auto part = s.text.substr(begin, std::min(to, end) - s.at - begin);
    if (s.escaped) {
      json += part;
    } else {
      const auto quoted_part = json::json_quoted(part);
      json.append(quoted_part, 1, quoted_part.size() - 2);
    }
  }
}

}  // namespace mcpbx::daemon::results
