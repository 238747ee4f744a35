// Checks and repairs whole texts of UTF-8.
#include "mcp/support/utf8.hpp"

#include "mcp/support/byte_search.hpp"

namespace mcpbx {

void utf8::append(std::string& out, char32_t c) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(byte); };
  const auto put_rest = [&put, c](int shift) { put(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put_rest(0);
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put_rest(6);
    put_rest(0);
  } else {
    put(0xF0 | c >> 18);
    put_rest(12);
    put_rest(6);
    put_rest(0);
  }
}

std::size_t valid_utf8_prefix(std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  while ((p = byte_search::non_ascii(p, end)) != end) {
    const utf8::step s = utf8::next(p, end);
    if (s.what != utf8::status::valid) break;
    p += s.size;
  }
  return static_cast<std::size_t>(p - text.data());
}

std::string repaired_utf8(std::string_view text, std::size_t& replaced) {
  replaced = 0;
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const std::size_t good = valid_utf8_prefix(text);
    out.append(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) break;
    out.append(utf8::replacement);
    ++replaced;
    text.remove_prefix(utf8::next(text.data(), text.data() + text.size()).size);
  }
  return out;
}

}  // namespace mcpbx
