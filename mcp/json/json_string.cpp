// JSON strings, written and read.
#include "mcp/json/quoted_size.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/byte_search.hpp"
#include "mcp/support/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx {
namespace {

template <class Out>
void append_escaped(Out& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += c < 0x10 ? "\\u000" : "\\u001";
      out += "0123456789abcdef"[c & 0xF];
  }
}

/// The four hexadecimal digits at `p`, or -1.
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

/// The \u escape whose digits begin at `p`, with the second half of a surrogate pair. Returns where it ends.
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

template <class Out>
void quote(Out& out, std::string_view text) {
  out += '"';
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    const char* const special = byte_search::string_special(p, end);
    out += std::string_view(p, special);
    p = special;
    if (p == end) break;
    if (static_cast<unsigned char>(*p) < 0x80) {
      append_escaped(out, *p++);
      continue;
    }
    const utf8::step s = utf8::next(p, end);
    if (s.what == utf8::status::valid)
      out += std::string_view(p, s.size);
    else
      out += utf8::replacement;
    p += s.size;
  }
  out += '"';
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out.reserve(out.size() + text.size() + 2);
  quote(out, text);
}

void append_quoted(byte_buffer& out, std::string_view text) {
  quote(out, text);
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
  const char* const end = text.data() + text.size();
  if (byte_search::string_special(text.data(), end) == end) {  // a method, a tool's name: nothing to escape
    out.resize(text.size() + 2, '"');
    std::copy(text.begin(), text.end(), out.begin() + 1);
  } else {
    append_quoted(out, text);
  }
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

}  // namespace mcpbx
