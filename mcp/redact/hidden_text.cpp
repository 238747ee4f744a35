// Removes or shows invisible characters in one walk. The fate of a joiner depends on its neighbours.
#include "mcp/redact/hidden_text.hpp"

#include "mcp/support/text.hpp"
#include "mcp/support/utf8.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::redact {
namespace {

struct span_of_characters {
  char32_t first, last;
};

template <std::size_t Size>
bool is_in(const std::array<span_of_characters, Size>& table, char32_t c) {
  const auto behind = std::ranges::upper_bound(table, c, {}, &span_of_characters::first);
  return behind != table.begin() && c <= std::prev(behind)->last;
}

/// Unicode's default ignorable characters, C1 controls, separators of lines, and annotations.
constexpr std::array hidden_characters = {
    span_of_characters{0x7F, 0x9F},       span_of_characters{0xAD, 0xAD},       span_of_characters{0x34F, 0x34F},
    span_of_characters{0x61C, 0x61C},     span_of_characters{0x115F, 0x1160},   span_of_characters{0x17B4, 0x17B5},
    span_of_characters{0x180B, 0x180F},   span_of_characters{0x200B, 0x200F},   span_of_characters{0x2028, 0x202E},
    span_of_characters{0x2060, 0x206F},   span_of_characters{0x3164, 0x3164},   span_of_characters{0xFE00, 0xFE0F},
    span_of_characters{0xFEFF, 0xFEFF},   span_of_characters{0xFFA0, 0xFFA0},   span_of_characters{0xFFF0, 0xFFFB},
    span_of_characters{0x13430, 0x1343F}, span_of_characters{0x1BCA0, 0x1BCA3}, span_of_characters{0x1D173, 0x1D17A},
    span_of_characters{0xE0000, 0xE0FFF}};

/// Scripts whose letters take joiners.
constexpr std::array joining_scripts = {
    span_of_characters{0x620, 0x6FF},     span_of_characters{0x710, 0x7FF},     span_of_characters{0x840, 0x8FF},
    span_of_characters{0x900, 0xDFF},     span_of_characters{0xF00, 0x109F},    span_of_characters{0x1780, 0x17B3},
    span_of_characters{0x17B6, 0x180A},   span_of_characters{0x1810, 0x18AF},   span_of_characters{0x1A20, 0x1BFF},
    span_of_characters{0xA800, 0xA82F},   span_of_characters{0xA840, 0xA8FF},   span_of_characters{0xA980, 0xA9DF},
    span_of_characters{0xFB50, 0xFDFF},   span_of_characters{0xFE70, 0xFEFC},   span_of_characters{0x10A00, 0x10A5F},
    span_of_characters{0x10D00, 0x10D3F}, span_of_characters{0x11000, 0x11DFF}, span_of_characters{0x1E900, 0x1E95F}};

constexpr std::array emoji = {
    span_of_characters{0xA9, 0xA9},     span_of_characters{0xAE, 0xAE},     span_of_characters{0x203C, 0x203C},
    span_of_characters{0x2049, 0x2049}, span_of_characters{0x20E3, 0x20E3}, span_of_characters{0x2122, 0x2122},
    span_of_characters{0x2139, 0x2139}, span_of_characters{0x2190, 0x21FF}, span_of_characters{0x2300, 0x27BF},
    span_of_characters{0x2934, 0x2935}, span_of_characters{0x2B05, 0x2B55}, span_of_characters{0x3030, 0x3030},
    span_of_characters{0x303D, 0x303D}, span_of_characters{0x3297, 0x3299}, span_of_characters{0x1F000, 0x1FAFF}};

constexpr char32_t non_joiner = 0x200C, joiner = 0x200D, as_text = 0xFE0E, as_emoji = 0xFE0F, keycap = 0x20E3;

/// Returns true if a hidden character belongs to the spelling of the visible ones around it.
bool belongs(char32_t c, char32_t before, char32_t after) {
  switch (c) {
    case non_joiner:
      return is_in(joining_scripts, before);
    case joiner:
      return is_in(joining_scripts, before) || ((before == as_emoji || is_in(emoji, before)) && is_in(emoji, after));
    case as_text:
    case as_emoji:
      return is_in(emoji, before) ||
             (after == keycap && (before == U'#' || before == U'*' || (before >= U'0' && before <= U'9')));
    default:
      return false;
  }
}

char32_t character_at(const char* p, const char* end) {
  if (p == end) return 0;
  const utf8::step s = utf8::next(p, end);
  return s.what == utf8::status::valid ? utf8::decode(p, s.size) : 0;
}

enum class lines { drop, keep, keep_crlf };

/// Code point for invalid UTF-8.
constexpr char32_t utf8_broken = 0x110000;

/// Appends the text and calls `hide(out, character)` for each invisible character. Returns true if there was any.
/// `strict`: joiners count as invisible everywhere.
template <class Hide>
bool walk(std::string& out, std::string_view text, lines how, bool strict, Hide hide) {
  out.reserve(out.size() + text.size());
  const char* p = text.data();
  const char* const end = p + text.size();
  char32_t before = 0;
  bool any = false;
  const auto plain = [how](char c) {
    return (c >= ' ' && c < 0x7F) || (how != lines::drop && (c == '\n' || c == '\t'));
  };
  while (p != end) {
    // Nearly all text is plain.
    const char* const run = std::find_if_not(p, end, plain);
    if (run != p) before = static_cast<unsigned char>(run[-1]);
    out.append(p, run);
    p = run;
    if (p == end) break;
    // Handle controls without a table, since there may be millions of them.
    const auto first = static_cast<unsigned char>(*p);
    if (first < 0x80 && first != '\r') {
      any = true;
      hide(out, first);
      ++p;
      continue;
    }
    if (first == 0xC2 && p + 1 != end && static_cast<unsigned char>(p[1]) - 0x80U < 0x20) {
      any = true;
      hide(out, static_cast<unsigned char>(p[1]));
      p += 2;
      continue;
    }
    const utf8::step s = utf8::next(p, end);
    const char32_t c = s.what == utf8::status::valid ? utf8::decode(p, s.size) : 0;
    const bool line_end = how == lines::keep_crlf && c == '\r' && p + 1 != end && p[1] == '\n';
    const bool seen =
        line_end ||
        (c >= ' ' && (!is_in(hidden_characters, c) || (!strict && belongs(c, before, character_at(p + s.size, end)))));
    if (seen) {
      out.append(p, s.size);
      before = c;
    } else {
      any = true;
      hide(out, s.what == utf8::status::valid ? c : utf8_broken);
    }
    p += s.size;
  }
  return any;
}

void append_unit(std::string& out, char32_t unit) {
  out.append("\\u").append(hex(unit, 4));
}

/// Returns the end of the string token that begins at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return std::min(at + 1, json.size());
}

/// Returns false if JSON cannot contain invisible characters, as most of it: ASCII with few escapes.
bool may_hide(std::string_view json) {
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (static_cast<unsigned char>(json[i]) >= 0x7F) return true;
    if (json[i] != '\\' || ++i == json.size()) continue;
    if (json[i] == 'u' || json[i] == 'b' || json[i] == 'f' || json[i] == 'r') return true;
  }
  return false;
}

}  // namespace

std::string printable(std::string_view text, bool keep_lines) {
  std::string out;
  walk(out, text, keep_lines ? lines::keep : lines::drop, false, [](std::string&, char32_t) {});
  return out;
}

std::string visible(std::string_view text, bool keep_lines) {
  std::string out;
  walk(out, text, keep_lines ? lines::keep : lines::drop, true, [](std::string& to, char32_t c) {
    if (c == utf8_broken) {
      to += utf8::replacement;
      return;
    }
    int digits = 1;
    while (c >> (4 * digits) != 0) ++digits;
    to.append("\\u{").append(hex(c, digits)).append("}");
  });
  return out;
}

bool has_hidden(std::string_view text, bool keep_lines) {
  std::string unused;
  return walk(unused, text, keep_lines ? lines::keep : lines::drop, true, [](std::string&, char32_t) {});
}

std::string visible_json(std::string_view json) {
  std::string out;
  walk(out, json, lines::keep, true, [](std::string& to, char32_t c) {
    if (c == utf8_broken) {
      to += utf8::replacement;
    } else if (c == '\r') {  // a blank between tokens, as all controls are that JSON may have
      to += ' ';
    } else if (c < 0x10000) {
      append_unit(to, c);
    } else {
      append_unit(to, 0xD800 + ((c - 0x10000) >> 10));
      append_unit(to, 0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  });
  return out;
}

json::raw_json without_hidden(const json::raw_json& value) {
  const auto json = value.text();
  if (!may_hide(json)) return value;
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = json.find('"'); at < json.size(); at = json.find('"', at)) {
    const auto end = end_of_string(json, at);
    const auto token = json.substr(at, end - at);
    if (may_hide(token)) {
      std::string clean;
      const bool changed = walk(clean, json::unescaped(token), lines::keep_crlf, false, [](std::string&, char32_t) {});
      if (changed) {
        out.append(json.substr(done, at - done));
        json::append_quoted(out, clean);
        done = end;
      }
    }
    at = end;
  }
  if (done == 0) return value;
  return json::raw_json::own(out.append(json.substr(done)));
}

}  // namespace mcpbx::redact
