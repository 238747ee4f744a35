// Writes and reads JSON strings.
#include "mcp/json/quoted_size.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/byte_search.hpp"
#include "mcp/support/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::json {
namespace {

// Length of each ASCII character inside a JSON string.
constexpr std::array<std::uint8_t, 128> written_sizes = [] {
  std::array<std::uint8_t, 128> sizes{};
  for (unsigned c = 0; c < sizes.size(); ++c) sizes[c] = c < 0x20 ? 6 : 1;
  for (const char c : {'"', '\\', '\b', '\f', '\n', '\r', '\t'}) sizes[static_cast<unsigned char>(c)] = 2;
  return sizes;
}();

// Writes an ASCII character to `to`, which has space for 6 bytes, and returns its end.
char* write_ascii(char* to, char c) {
  const auto size = written_sizes[static_cast<unsigned char>(c)];
  if (size == 1) {
    *to++ = c;
    return to;
  }
  *to++ = '\\';
  if (size == 2) {
    constexpr std::string_view controls = "btn?fr";
    *to++ = c < 0x20 ? controls[static_cast<std::size_t>(c - '\b')] : c;
    return to;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char d : {'u', '0', '0', c < 0x10 ? '0' : '1', digits[c & 0xF]}) *to++ = d;
  return to;
}

/// Reads the four hexadecimal digits at `p`; -1: there are none.
std::int32_t hex4(const char* p, const char* end) {
  if (end - p < 4) return -1;
  std::int32_t v = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = p[i];
    int d = 0;
    if (c >= '0' && c <= '9')
      d = c - '0';
    else if (c >= 'a' && c <= 'f')
      d = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F')
      d = c - 'A' + 10;
    else
      return -1;
    v = v << 4 | d;
  }
  return v;
}

/// Appends the \u escape whose digits begin at `p`, with the second half of a surrogate pair. Returns its end.
const char* append_unicode_escape(std::string& out, const char* p, const char* end) {
  std::int32_t c = hex4(p, end);
  if (c < 0) {
    out += utf8::replacement;
    return p;
  }
  p += 4;
  if (c >= 0xD800 && c <= 0xDFFF) {
    const bool pair = c < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u';
    const std::int32_t low = pair ? hex4(p + 2, end) : -1;
    if (low >= 0xDC00 && low <= 0xDFFF) {
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      p += 6;
    } else {
      c = 0xFFFD;
    }
  }
  utf8::append(out, static_cast<char32_t>(c));
  return p;
}

// Returns the bytes of the character at `p`, or U+FFFD for invalid UTF-8.
std::string_view character_at(const char* p, const char* end, const char*& next) {
  const utf8::step step = utf8::next(p, end);
  next = p + step.size;
  return step.what == utf8::status::valid ? std::string_view(p, step.size) : utf8::replacement;
}

// Number of plain characters in a row from which a search for the next special one pays. Behind a special character the
// text is written one by one until then, since a search for each would cost more.
constexpr int plain_enough = 16;
constexpr std::size_t most_at_once = 256;  // largest number of bytes appended at once

template <class Out>
void quote(Out& out, std::string_view text) {
  std::array<char, most_at_once> made;
  out += '"';
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    const char* const special = byte_search::string_special(p, end);
    out += std::string_view(p, special);
    if (special == end) break;
    p = special;
    char* to = made.data();
    for (int plain = 0; p != end && plain < plain_enough;) {
      if (static_cast<unsigned char>(*p) < 0x80) {
        plain = written_sizes[static_cast<unsigned char>(*p)] == 1 ? plain + 1 : 0;
        to = write_ascii(to, *p++);
      } else {
        plain = 0;
        to = std::ranges::copy(character_at(p, end, p), to).out;
      }
      if (made.data() + made.size() - to >= 6) continue;
      out += std::string_view(made.data(), to);
      to = made.data();
    }
    out += std::string_view(made.data(), to);
  }
  out += '"';
}

// Appends `size` bytes, which `fill` writes.
void grow(std::string& out, std::size_t size, const auto& fill) {
  const std::size_t before = out.size();
  out.resize_and_overwrite(before + size, [&](char* all, std::size_t bytes) {
    fill(all + before);
    return bytes;
  });
}
void grow(byte_buffer& out, std::size_t size, const auto& fill) {
  fill(out.extend(size));
}

// Appends a string. Most keys, names and words have nothing to escape, and are written in one step.
template <class Out>
void write_quoted(Out& out, std::string_view text) {
  const char* const end = text.data() + text.size();
  if (byte_search::string_special(text.data(), end) != end) return quote(out, text);
  grow(out, text.size() + 2, [text](char* to) {
    *to++ = '"';
    to = std::ranges::copy(text, to).out;
    *to = '"';
  });
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out.reserve(out.size() + text.size() + 2);
  write_quoted(out, text);
}

void append_quoted(byte_buffer& out, std::string_view text) {
  write_quoted(out, text);
}

std::size_t quoted_size(std::string_view text) {
  struct counter {
    std::size_t bytes = 0;
    void operator+=(std::string_view more) { bytes += more.size(); }
    void operator+=(char) { ++bytes; }
  } all;
  quote(all, text);
  return all.bytes;
}

std::string json_quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

std::string unescaped(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') token = token.substr(1, token.size() - 2);
  std::size_t at = token.find('\\');
  if (at == std::string_view::npos) return std::string(token);
  std::string out;
  out.reserve(token.size());
  const char* p = token.data();
  const char* const end = p + token.size();
  while (p != end) {
    const char* const special = p + std::min(at, static_cast<std::size_t>(end - p));
    out.append(p, special);
    p = special;
    if (end - p < 2) break;
    switch (p[1]) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        p = append_unicode_escape(out, p + 2, end);
        at = std::string_view(p, end).find('\\');
        continue;
      default:
        out += p[1];
    }
    p += 2;
    at = std::string_view(p, end).find('\\');
  }
  return out;
}

}  // namespace mcpbx::json
