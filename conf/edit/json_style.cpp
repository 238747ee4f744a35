// The layout is read from the document itself, since nobody tells it: the first line that shows it decides.
#include "conf/edit/json_style.hpp"

#include <algorithm>

namespace mcpbx::conf::edit {
namespace {

constexpr std::size_t longest_list_line = 100;

std::size_t line_begin(std::string_view text, std::size_t at) {
  const auto before = text.substr(0, at).rfind('\n');
  return before == text.npos ? (text.starts_with("\xEF\xBB\xBF") ? 3 : 0) : before + 1;
}

/// Returns the indentation of the first level that shows one; "" without such a level.
std::string indent_of(std::string_view text, const json_span& span) {
  if (!span.parts.empty() && first_on_line(text, span.parts.front().begin)) {
    const auto outer = margin_of(text, span.begin), inner = margin_of(text, span.parts.front().begin);
    if (inner.size() > outer.size() && inner.starts_with(outer)) return std::string(inner.substr(outer.size()));
  }
  for (const auto& part : span.parts)
    if (auto found = indent_of(text, part.value); !found.empty()) return found;
  return {};
}

std::string_view key_of(std::string_view json, const json_part& part) {
  return json.substr(part.begin, part.key_end - part.begin);
}

void write_line(std::string_view json, const json_span& span, std::string& out) {
  if (!span.is_object(json) && !span.is_list(json)) {
    out += json.substr(span.begin, span.end - span.begin);
    return;
  }
  const bool object = span.is_object(json);
  out += object ? '{' : '[';
  for (const auto& part : span.parts) {
    if (&part != span.parts.data()) out += ", ";
    if (object) out.append(key_of(json, part)).append(": ");
    write_line(json, part.value, out);
  }
  out += object ? '}' : ']';
}

bool is_short_list(std::string_view json, const json_span& span) {
  if (!span.is_list(json)) return false;
  std::size_t size = 2;
  for (const auto& part : span.parts) {
    if (part.value.is_object(json) || part.value.is_list(json)) return false;
    size += part.value.end - part.value.begin + 2;
  }
  return size <= longest_list_line;
}

void write_lines(std::string_view json, const json_span& span, const json_style& style, const std::string& margin,
                 std::string& out) {
  const bool object = span.is_object(json);
  if (span.parts.empty() || is_short_list(json, span)) return write_line(json, span, out);
  const auto inner = margin + style.indent;
  out += object ? '{' : '[';
  for (const auto& part : span.parts) {
    if (&part != span.parts.data()) out += ',';
    out += style.newline + inner;
    if (object) out.append(key_of(json, part)).append(": ");
    write_lines(json, part.value, style, inner, out);
  }
  out += style.newline + margin + (object ? '}' : ']');
}

}  // namespace

json_style style_of(std::string_view text, const json_span& root) {
  json_style style;
  if (const auto end = text.find('\n', root.begin); end != text.npos && end > 0 && text[end - 1] == '\r')
    style.newline = "\r\n";
  if (auto found = indent_of(text, root); !found.empty()) style.indent = std::move(found);
  return style;
}

std::string_view margin_of(std::string_view text, std::size_t at) {
  const auto begin = line_begin(text, at);
  const auto end = std::min(text.find_first_not_of(" \t", begin), at);
  return text.substr(begin, std::max(end, begin) - begin);
}

bool first_on_line(std::string_view text, std::size_t at) {
  const auto before = text.substr(0, at).find_last_not_of(" \t");
  return before != text.npos && text[before] == '\n';
}

std::string laid_out(std::string_view json, const json_style& style, std::string_view margin) {
  std::string out;
  write_lines(json, spans_of(json), style, std::string(margin), out);
  return out;
}

std::string on_one_line(std::string_view json) {
  std::string out;
  write_line(json, spans_of(json), out);
  return out;
}

}  // namespace mcpbx::conf::edit
