// Incremental reader of calls as DeepSeek V3.2 and V4 write them: <｜DSML｜invoke name="NAME">, then for each argument
// <｜DSML｜parameter name="K" string="true">V</｜DSML｜parameter>, or one JSON object, then </｜DSML｜invoke>.
#pragma once
#include "providers/text/marks/brackets.hpp"
#include "providers/text/marks/dsml_marks.hpp"
#include "providers/text/tagged/markup_call.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mcpbx::providers::text::tagged {

class dsml_call {
 public:
  using outcome = markup_call::outcome;
  /// `tools` must outlive the reader.
  explicit dsml_call(const marks::offered_tools* tools = nullptr) : tools_(tools) {}

  /// Reads on. `in` begins with the opening mark and must contain the text of earlier calls; `last`: no more will come.
  /// Never returns `again` or `none`.
  outcome advance(std::string_view in, bool last);
  /// Returns the length of the call in bytes.
  std::size_t end() const { return at_; }
  /// Returns the complete call, with `problem` if its meaning is uncertain.
  tool_call_block call(std::string_view in) const;
  bool holds_json() const { return part_ == part::json; }
  /// Returns true if later text may prove that the call ended too early.
  bool needs_proof() const { return !holds_json(); }

 private:
  enum class part : unsigned char { head, first, between, value, json };
  outcome head(std::string_view in);
  outcome between(std::string_view in);
  outcome value(std::string_view in, bool last);
  void open_value(std::string_view attributes);
  void close_value(std::string_view in, std::size_t next);
  void spoil(const char* why);

  const marks::offered_tools* tools_;
  part part_ = part::head;
  std::size_t at_ = 0, begin_ = 0, scan_ = 0;  // begin_: beginning of the value or the object
  std::string name_;
  marks::untyped_argument argument_;  // the one that is read
  const char* broken_ = nullptr;      // reason why the call is not run
  std::vector<marks::untyped_argument> arguments_;
  std::unordered_set<std::string> given_;  // names of arguments_
  marks::bracket_scanner brackets_;
};

}  // namespace mcpbx::providers::text::tagged
