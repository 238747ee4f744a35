// The edits of a YAML file, as text.
#pragma once
#include "conf/hosts/install/file_edits.hpp"

namespace mcpbx::conf {

class yaml_file : public file_edits {
 public:
  using file_edits::file_edits;
  result<std::string> add(std::string_view text, std::string_view entry) override;
  result<std::string> remove(std::string_view text, std::string_view before) override;
  result<std::string> off(std::string_view text, const std::string& name) override;
  result<std::string> on(std::string_view text, std::string_view before, const std::string& name) override;
  result<bool> has_own(std::string_view text) override;
};

}  // namespace mcpbx::conf
