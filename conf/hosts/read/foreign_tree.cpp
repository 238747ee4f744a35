// Chooses the reader of a format, behind the bounds that all of them share.
#include "conf/hosts/read/foreign_tree.hpp"

#include "conf/hosts/read/toml_text.hpp"
#include "conf/hosts/read/yaml_text.hpp"

#include <string>

namespace mcpbx::conf {

node read_foreign(foreign_format format, std::string_view text, std::uint32_t file, std::string_view name,
                  std::vector<diagnostic>& errors) {
  if (text.size() > max_foreign_bytes) {
    errors.push_back({std::string(name), 0, 0, "the file has more than 4 MiB, which no list of servers needs", "",
                      "check that it is the right file"});
    return {};
  }
  if (format == foreign_format::toml) return toml_tree(text, file, name, errors);
  if (format == foreign_format::yaml) return yaml_tree(text, file, name, errors);
  return parse_jsonc(text, file, name, errors);
}

}  // namespace mcpbx::conf
