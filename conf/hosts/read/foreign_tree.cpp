// Chooses the reader of a format, behind the bounds that all of them share.
#include "conf/hosts/read/foreign_tree.hpp"

#include "conf/hosts/read/toml_text.hpp"
#include "conf/hosts/read/yaml_text.hpp"

#include <algorithm>
#include <string>

namespace mcpbx::conf::read {

documents::node read_foreign(foreign_format format, std::string_view text, std::uint32_t file, std::string_view name,
                             std::vector<documents::diagnostic>& errors) {
  // Only programs with JSON keep more than their settings in such a file.
  const std::size_t most = format == foreign_format::json ? max_foreign_bytes : max_foreign_bytes / 8;
  if (text.size() > most) {
    errors.push_back({std::string(name), 0, 0,
                      "the file has more than " + std::to_string(most >> 20) + " MiB, which no list of servers needs",
                      "", "check that it is the right file"});
    return {};
  }
  // Each value but the first stands behind a comma or a bracket, or in a line of its own.
  const auto values = std::ranges::count_if(
      text, [&](char c) { return c == ',' || c == '[' || c == '{' || (c == '\n' && format != foreign_format::json); });
  if (values > max_foreign_values) {
    errors.push_back({std::string(name), 0, 0,
                      "the file has more than 2,000,000 values, which no list of servers needs", "",
                      "check that it is the right file"});
    return {};
  }
  if (format == foreign_format::toml) return toml_tree(text, file, name, errors);
  if (format == foreign_format::yaml) return yaml_tree(text, file, name, errors);
  return documents::parse_jsonc(text, file, name, errors);
}

}  // namespace mcpbx::conf::read
