// The answers of bench_echo, whichever way the requests came: a tool server of one era with a list of tools and one
// resource of any size.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::bench {

class echo_answers {
 public:
  /// `modern`: speaks 2026-07-28 and no earlier revision; otherwise 2025-11-25.
  echo_answers(long tools, bool modern);
  /// Appends the answer to a request without a line break; nothing for a notification.
  void answer(std::string_view message, std::string& out);
  /// Returns true once after a call that has changed the list of tools.
  bool take_changed();

 private:
  void call(std::string_view params, std::string& out);
  void result(std::string_view members, std::string_view more, std::string& out) const;

  std::string tools_;
  bool modern_, extra_ = false, changed_ = false;
};

}  // namespace mcpbx::bench
