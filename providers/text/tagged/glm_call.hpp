// Incremental reader of calls as GLM 4.5 and later write them behind <tool_call>: NAME, then for each argument
// <arg_key>K</arg_key><arg_value>V</arg_value>, with or without line breaks between them.
#pragma once
#include "providers/text/marks/json_calls.hpp"
#include "providers/text/tagged/markup_call.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::text::tagged {

class glm_call {
 public:
  using outcome = markup_call::outcome;
  /// `tools` must outlive the reader.
  explicit glm_call(const marks::offered_tools* tools = nullptr) : tools_(tools) {}

  /// Reads on. `in` begins with the name and must contain the text of earlier calls; `last`: no more will come. Never
  /// returns `again`.
  outcome advance(std::string_view in, bool last);
  /// Returns the length of the complete call in bytes, without the closing mark around it.
  std::size_t end() const { return at_; }
  /// Returns the complete call, with `problem` if its meaning is uncertain.
  tool_call_block call(std::string_view in) const;
  static bool holds_json() { return false; }
  static bool needs_proof() { return false; }

 private:
  enum class part : unsigned char { head, between, key, opening, value };
  outcome head(std::string_view in, bool last);
  outcome between(std::string_view in, bool last);
  outcome key(std::string_view in);
  outcome opening(std::string_view in);
  outcome value(std::string_view in, bool last);
  outcome spoil(std::size_t at, const char* why);
  void close(std::string_view in);
  bool all_given() const;

  const marks::offered_tools* tools_;
  part part_ = part::head;
  bool marked_ = true;                // the value has its opening mark
  bool repaired_ = false;             // a mark was missing or stood twice
  std::size_t at_ = 0;                // end of the part that was read
  std::size_t begin_ = 0, scan_ = 0;  // beginning and scanned end of the key or the value
  std::string name_, key_;
  const char* broken_ = nullptr;  // reason why the call is not run
  std::vector<marks::untyped_argument> arguments_;
};

}  // namespace mcpbx::providers::text::tagged
