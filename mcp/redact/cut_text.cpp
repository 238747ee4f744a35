// Redacts and cuts texts in one step.
#include "mcp/redact/cut_text.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <charconv>

namespace mcpbx::redact {
namespace {

// Returns the number of bytes to examine for `bytes` shown ones, since redacting and cleaning shorten a text.
constexpr std::size_t looked_at(std::size_t bytes) {
  return 4 * bytes + 4096;
}

std::string with_mark(std::string_view text, std::size_t bytes, bool more, std::string_view mark) {
  std::string out(cut_utf8(text, bytes));
  if (more || out.size() < text.size()) out += mark;
  return out;
}

std::string replaced(std::string_view text, cut_ends cut) {
  std::string out;
  std::size_t at = 0;
  for (const auto& s : secret_table::find(text, cut)) {
    out += text.substr(at, s.begin - at);
    out += "***";
    at = s.end;
  }
  return at == 0 ? std::string(text) : out.append(text.substr(at));
}

// Returns JSON with every printable ASCII character as such that its writer has escaped without need, since writers
// differ in these: "=" may be \u003d, "/" may be \/. At an end that was cut, a part of an escape is left out.
std::string with_plain_escapes(std::string_view json, bool cut_back) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] != '\\') {
      out += json[i];
      continue;
    }
    const auto escape = json.substr(i, 6);
    if (cut_back && i + escape.size() == json.size() && escape.size() < 6 &&
        std::string_view("\\u00").starts_with(escape.substr(0, 4)))
      break;
    unsigned unit = 0;
    if (escape.size() == 6 && escape.starts_with("\\u00") &&
        std::from_chars(escape.data() + 4, escape.data() + 6, unit, 16).ptr == escape.data() + 6 && unit >= ' ' &&
        unit < 0x7F) {
      if (unit == '"' || unit == '\\') out += '\\';
      out += static_cast<char>(unit);
      i += 5;
    } else if (escape.starts_with("\\/")) {
      out += '/';
      ++i;
    } else {
      out += escape.substr(0, 2);
      ++i;
    }
  }
  return out;
}

}  // namespace

std::string redacted_part(std::string_view text, cut_ends cut) {
  std::string out = replaced(text, cut);
  if (out.find('\\') == out.npos) return out;
  const std::string plain = with_plain_escapes(out, cut.back);
  if (plain == out || secret_table::find(plain, cut).empty()) return out;
  return replaced(plain, cut);
}

std::string cut_for_people(std::string_view text, std::size_t bytes, shown_text how) {
  const auto part = cut_utf8(text, looked_at(bytes));
  const bool more = part.size() < text.size();
  const auto clean =
      printable(redacted_part(part, {.front = how.cut.front, .back = how.cut.back || more}), how.keep_lines);
  return with_mark(clean, bytes, more, how.mark);
}

std::string tail_for_people(std::string_view text, std::size_t bytes, shown_text how) {
  const auto part = tail_utf8(text, looked_at(bytes));
  const bool more = part.size() < text.size();
  const auto clean =
      printable(redacted_part(part, {.front = how.cut.front || more, .back = how.cut.back}), how.keep_lines);
  return std::string(tail_utf8(clean, bytes));
}

std::string cut_for_log(std::string_view text, std::size_t bytes, std::string_view mark) {
  const auto part = cut_utf8(text, looked_at(bytes));
  const bool more = part.size() < text.size();
  return with_mark(redacted_part(part, {.front = false, .back = more}), bytes, more, mark);
}

}  // namespace mcpbx::redact
