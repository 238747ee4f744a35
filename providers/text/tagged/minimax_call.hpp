// Incremental reader of calls as MiniMax M3 writes them: each mark stands behind a token of its own, NS in short:
// NS<invoke name="NAME">NS<K>V NS</K>NS</invoke>. Lists are elements named `item`, objects are elements in elements.
#pragma once
#include "providers/text/tagged/markup_call.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::text::tagged {

class minimax_call {
 public:
  using outcome = markup_call::outcome;
  /// `tools` must outlive the reader.
  explicit minimax_call(const marks::offered_tools* tools = nullptr) : tools_(tools) {}

  /// Reads on. `in` begins with the token or with <invoke and must contain the text of earlier calls. Never returns
  /// `again`; `none`: the marks in the call have no token.
  outcome advance(std::string_view in, bool last);
  /// Returns the length of the call in bytes.
  std::size_t end() const { return at_; }
  /// Returns the complete call, with `problem` if its meaning is uncertain.
  tool_call_block call(std::string_view in) const;
  static bool holds_json() { return false; }
  static bool needs_proof() { return false; }

 private:
  // An element that is open, with the name of its closing mark.
  struct open_element {
    marks::argument_tree value;
    std::string mark;
  };
  outcome step(std::string_view in, bool last);
  bool begins_without_token(std::string_view in) const;
  outcome opened(std::string_view tag);
  outcome closed(std::string_view name);
  bool ends_in_plain_mark();
  void pop();
  void spoil(const char* why);

  const marks::offered_tools* tools_;
  std::size_t at_ = 0;              // end of the last mark
  std::size_t scan_ = 0;            // end of the part that holds no token
  std::vector<open_element> open_;  // the call, and the elements within it
  const char* broken_ = nullptr;    // reason why the call is not run
};

}  // namespace mcpbx::providers::text::tagged
