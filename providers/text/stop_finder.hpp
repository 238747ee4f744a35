// Ends an answer before one of the request's stop sequences, for APIs that do not enforce them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::text {

/// Passes an answer on up to the first stop sequence: the one that is complete first, of several the longest, as
/// providers do. The result does not depend on the pieces in which the answer arrives.
class stop_finder {
 public:
  /// Ignores empty stops.
  explicit stop_finder(std::vector<std::string> stops);
  /// Returns the text that may be passed on now. Holds back a possible beginning of a stop; returns "" once one was
  /// found.
  std::string feed(std::string_view delta);
  /// Returns the text that was held back. Call it at the end of the answer.
  std::string rest();
  bool found() const { return found_; }

 private:
  struct stop {
    std::string text;
    std::vector<std::size_t> shorter;  // failure function: for each prefix, its longest proper border
    std::size_t matched = 0;           // length of the prefix that the answer ends in at present
  };
  std::vector<stop> stops_;
  std::string held_;      // the newest text; its passed-on part stays until it is worth erasing
  std::size_t told_ = 0;  // length of that part
  bool found_ = false;
};

}  // namespace mcpbx::providers::text
