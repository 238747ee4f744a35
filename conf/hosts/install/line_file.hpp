// The edits that files of lines have in common, whatever their format: the switch of a server, and the look for our
// entry.
#pragma once
#include "conf/hosts/install/file_edits.hpp"
#include "conf/hosts/install/trees.hpp"

namespace mcpbx::conf::install {

/// A file in which the switch `enabled` of a server is a line of its own.
class line_file : public file_edits {
 public:
  line_file(read::foreign_format format, const programs::program& to, std::string_view file)
      : file_edits(to, file), format_(format) {}
  result<std::string> off(std::string_view text, const std::string& name) override;
  result<std::string> on(std::string_view text, std::string_view before, const std::string& name) override;
  result<bool> has_own(std::string_view text) override;

 protected:
  /// Adds the line that switches the server off. errc::not_found: the entry is written in another way.
  virtual result<void> add_switch(std::string& text, const documents::node_member& entry) const = 0;
  /// Returns true if this line, without the blanks around it, is one that add_switch() writes.
  virtual bool is_switch(std::string_view line) const = 0;

  const read::foreign_format format_;
};

}  // namespace mcpbx::conf::install
