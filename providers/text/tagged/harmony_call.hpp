// Incremental reader of the message that calls a tool in Harmony: one JSON object behind its header, up to the token
// that ends the message or the end of the reply.
#pragma once
#include "providers/text/marks/brackets.hpp"
#include "providers/text/marks/harmony_marks.hpp"
#include "providers/text/tagged/markup_call.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::providers::text::tagged {

class harmony_call {
 public:
  using outcome = markup_call::outcome;
  /// `tools` must outlive the reader.
  explicit harmony_call(const marks::offered_tools* tools = nullptr) : tools_(tools) {}
  harmony_call(const marks::offered_tools* tools, const marks::harmony_header& header);

  /// Reads on. `in` begins behind the header; `last`: no more will come. Never returns `again` or `none`.
  outcome advance(std::string_view in, bool last);
  /// Returns the length of the arguments in bytes.
  std::size_t end() const { return at_; }
  /// Returns the complete call, with `problem` if it is not one object and nothing else.
  tool_call_block call(std::string_view in) const;
  bool holds_json() const { return part_ == part::json; }
  /// Returns true if special tokens stand around the call.
  bool has_tokens() const { return has_tokens_; }
  static bool needs_proof() { return false; }

 private:
  enum class part : unsigned char { first, json, words };

  const marks::offered_tools* tools_;
  part part_ = part::first;
  std::string name_;
  const char* broken_ = nullptr;  // reason why the call is not run
  bool has_tokens_ = false;
  std::size_t begin_ = 0, at_ = 0;
  marks::bracket_scanner brackets_;
};

}  // namespace mcpbx::providers::text::tagged
