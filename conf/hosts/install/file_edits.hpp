// The four edits of a file, in each format. All of them return the whole text, proven by reading it again.
#pragma once
#include "conf/hosts/install/own_entry.hpp"

#include <string>
#include <string_view>

namespace mcpbx::conf::install {

/// A file of a program under edit. One class for each format.
class file_edits {
 public:
  file_edits(const programs::program& to, std::string_view file) : to_(to), file_(file) {}
  virtual ~file_edits() = default;
  file_edits(const file_edits&) = delete;
  file_edits& operator=(const file_edits&) = delete;

  /// Returns the text with our entry, whose JSON is `entry`; one that is there is replaced.
  virtual result<std::string> add(std::string_view text, std::string_view entry) = 0;
  /// Returns the text without our entry and without all that was made for it and is not in `before`.
  virtual result<std::string> remove(std::string_view text, std::string_view before) = 0;
  /// Returns the text with the server off; the same text if it is off or not there. errc::not_found: there is no
  /// switch, or the file is written in another way.
  virtual result<std::string> off(std::string_view text, const std::string& name) = 0;
  /// Returns the text with the server as it is in `before`, if it is off still.
  virtual result<std::string> on(std::string_view text, std::string_view before, const std::string& name) = 0;
  virtual result<bool> has_own(std::string_view text) = 0;

 protected:
  const programs::program& to_;
  std::string file_;
};

/// The key of the program's switch, and the value that means off.
struct switch_words {
  std::string key;
  bool off_value = false;
};
switch_words words_of_switch(programs::off_switch s);

}  // namespace mcpbx::conf::install
