// The edits of a TOML file, as text.
#pragma once
#include "conf/hosts/install/line_file.hpp"

namespace mcpbx::conf::install {

class toml_file : public line_file {
 public:
  toml_file(const programs::program& to, std::string_view file) : line_file(read::foreign_format::toml, to, file) {}
  result<std::string> add(std::string_view text, std::string_view entry) override;
  result<std::string> remove(std::string_view text, std::string_view before) override;

 private:
  result<void> add_switch(std::string& text, const documents::node_member& entry) const override;
  bool is_switch(std::string_view line) const override;
};

}  // namespace mcpbx::conf::install
