// The audit's file. It is opened at the first append. All functions block; call them on a lane.
#pragma once
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::audit {

class audit_file {
 public:
  audit_file(result<std::string> path, bool make_folder) : path_(std::move(path)), make_folder_(make_folder) {}
  ~audit_file() { close(); }
  audit_file(const audit_file&) = delete;
  audit_file& operator=(const audit_file&) = delete;

  /// Appends whole lines in one write. After an error some of them may be in the file, the last one cut; the next
  /// append begins a new line. The error names the file and the fix.
  result<void> append(std::string_view lines);

 private:
  result<void> open();
  void close();
  result<std::string> path_;
  bool make_folder_;
  int fd_ = -1;
  bool torn_ = false;  // the file does not end with a line break
};

}  // namespace mcpbx::daemon::audit
