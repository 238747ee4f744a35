// A call written as markup, read while it arrives: <function=NAME><parameter=K>V</parameter></function> (Qwen3-coder),
// <function=NAME>{json}</function> (Llama 3.1) and <invoke name="NAME"><parameter name="K">V</parameter></invoke>.
#pragma once
#include "providers/text/marks/brackets.hpp"
#include "providers/text/marks/json_calls.hpp"
#include "providers/text/marks/marks.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mcpbx::providers::text {

class markup_call {
 public:
  explicit markup_call(const offered_tools* tools = nullptr) : tools_(tools) {}

  enum class outcome : unsigned char { more, again, complete, none };  // none: it is no call but text
  /// `in` begins with the opening mark and is the same text as before, or more of it; `last`: no more will come.
  /// Never gives `again`.
  outcome advance(std::string_view in, bool last);
  /// Bytes of the complete call.
  std::size_t end() const { return at_; }
  /// The complete call; `in` as above.
  tool_call_block call(std::string_view in) const;
  bool holds_json() const { return part_ == part::json; }

 private:
  enum class part : unsigned char { head, first, json, value, between };
  outcome head(std::string_view in);
  outcome first(std::string_view in);
  outcome value(std::string_view in, bool last);
  outcome between(std::string_view in, bool last);
  /// A <parameter…> mark at `at`; sets `key` and `begin` behind it.
  outcome parameter(std::string_view in, std::size_t at, std::string& key, std::size_t& begin) const;
  void close(std::string_view in, std::size_t end, std::size_t next);
  /// What the value itself opens: an example in it has the marks that the call has.
  enum class inner : unsigned char { parameter, function, invoke };
  void open_inner(inner kind);
  bool close_inner(inner kind);
  outcome inner_call(std::string_view rest, bool last);
  std::span<const std::string_view> own_ends() const;
  std::string decoded(std::string_view text) const;

  const offered_tools* tools_;
  part part_ = part::head;
  compare_mark compare_ = begins;  // with the marks of this call
  bool xml_ = false, cdata_ = false;
  bool function_ = false;                      // <function…>, or else <invoke…>
  bool closed_in_line_ = false;                // the value before, which had begun on a line of its own
  bool unclosed_ = false;                      // its JSON stands in its opening mark
  std::size_t at_ = 0, begin_ = 0, scan_ = 0;  // begin_: of the value or the JSON
  std::string name_, key_, broken_;
  std::vector<untyped_argument> arguments_;
  std::unordered_set<std::string> given_;  // their names
  std::vector<inner> open_;                // of the value, and not closed in it
  std::array<std::size_t, 3> how_many_{};  // of each kind
  bracket_scanner brackets_;
};

}  // namespace mcpbx::providers::text
