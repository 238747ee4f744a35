// Formats findings as lines of text, all in the same wording.
#include "conf/document/diagnostic.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::conf::documents {

std::string diagnostic::text(std::string_view mark) const {
  std::string out;
  if (!file.empty()) {
    out += redact::printable(file);
    if (line != 0) out += ":" + std::to_string(line) + ":" + std::to_string(column);
    out += ": ";
  }
  if (!mark.empty()) out.append(mark).append(": ");
  out += what;
  if (!path.empty()) out += ", in \"" + path + "\"";
  if (!mend.empty()) out += ": " + mend;
  return redact::printable(out);
}

std::string listing(const std::vector<diagnostic>& findings, std::string_view mark) {
  std::string out;
  for (const auto& f : findings) out += f.text(mark) + "\n";
  return out;
}

std::string member_path(std::string_view parent, std::string_view key) {
  const bool plain = !key.empty() && key.size() <= 64 && std::ranges::all_of(key, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '$' || c == '@' || c == '/';
  });
  std::string out(parent);
  if (plain) {
    if (!out.empty()) out += '.';
    out += key;
    return out;
  }
  out += "[\"";
  out += cut_utf8(key, 64);
  out += key.size() > 64 ? "…\"]" : "\"]";
  return out;
}

std::string element_path(std::string_view parent, std::size_t index) {
  return std::string(parent) + "[" + std::to_string(index) + "]";
}

}  // namespace mcpbx::conf::documents
