// The edits of a file of JSON with comments.
#pragma once
#include "conf/edit/json_edit.hpp"
#include "conf/hosts/install/file_edits.hpp"

namespace mcpbx::conf::install {

class json_file : public file_edits {
 public:
  using file_edits::file_edits;
  result<std::string> add(std::string_view text, std::string_view entry) override;
  result<std::string> remove(std::string_view text, std::string_view before) override;
  result<std::string> off(std::string_view text, const std::string& name) override;
  result<std::string> on(std::string_view text, std::string_view before, const std::string& name) override;
  result<bool> has_own(std::string_view text) override;

 private:
  result<edit::json_path> section(std::string_view text) const;
  result<std::string> set_listed(std::string_view text, std::string_view key, const std::string& name, bool listed);
  result<std::string> take_out_if_made(std::string text, std::string_view before, edit::json_path path);
};

}  // namespace mcpbx::conf::install
