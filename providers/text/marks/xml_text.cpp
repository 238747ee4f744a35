// Decodes XML text: the five named entities, numeric ones, and CDATA sections.
#include "providers/text/marks/xml_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace mcpbx::providers::text::marks {
namespace {

void append_utf8(std::string& out, unsigned long code) {
  const auto byte = [&](unsigned long b) { out += static_cast<char>(b); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6);
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

void append_decoded(std::string& out, std::string_view text) {
  struct entity {
    std::string_view name;
    char means;
  };
  static constexpr std::array<entity, 5> known{
      {{"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}}};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '&') {
      out += text[i];
      continue;
    }
    const auto rest = text.substr(i + 1);
    const auto* found = std::ranges::find_if(known, [&](const entity& e) { return rest.starts_with(e.name); });
    if (found != known.end()) {
      out += found->means;
      i += found->name.size();
      continue;
    }
    if (rest.starts_with('#')) {
      const bool hex = rest.size() > 1 && (rest[1] == 'x' || rest[1] == 'X');
      const char* const from = rest.data() + (hex ? 2 : 1);
      const char* const to = rest.data() + rest.size();
      unsigned long code = 0;
      const auto [end, ec] = std::from_chars(std::min(from, to), to, code, hex ? 16 : 10);
      const bool good = ec == std::errc() && end != to && *end == ';' && code > 0 && code <= 0x10FFFF &&
                        (code < 0xD800 || code > 0xDFFF);
      if (good) {
        append_utf8(out, code);
        i += static_cast<std::size_t>(end - rest.data()) + 1;
        continue;
      }
    }
    out += '&';
  }
}

}  // namespace

std::string decoded_xml(std::string_view text) {
  std::string out;
  for (;;) {
    const auto open = text.find("<![CDATA[");
    append_decoded(out, text.substr(0, open));
    if (open == std::string_view::npos) return out;
    text.remove_prefix(open + 9);
    const auto end = std::min(text.find("]]>"), text.size());
    out += text.substr(0, end);
    text.remove_prefix(std::min(end + 3, text.size()));
  }
}

}  // namespace mcpbx::providers::text::marks
