// Incremental reader of calls as markup: <function=NAME><parameter=K>V</parameter></function> (Qwen3-coder),
// <function=NAME>{json}</function> (Llama 3.1), <invoke name="NAME"><parameter name="K">V</parameter></invoke>.
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

namespace mcpbx::providers::text::tagged {

class markup_call {
 public:
  /// A value that holds `foreign`, a token of another form, refuses the call.
  explicit markup_call(const marks::offered_tools* tools = nullptr, std::string_view foreign = {})
      : tools_(tools), foreign_(foreign) {}

  enum class outcome : unsigned char { more, again, complete, none };  // none: the mark is text, not a call
  /// Reads on. `in` begins with the opening mark and must contain the text of earlier calls; `last`: no more will come.
  /// Never returns `again`.
  outcome advance(std::string_view in, bool last);
  /// Returns the length of the complete call in bytes.
  std::size_t end() const { return at_; }
  /// Returns the complete call; `in` as for advance().
  tool_call_block call(std::string_view in) const;
  bool holds_json() const { return part_ == part::json; }
  /// Returns true if later text may prove that the call ended too early.
  bool needs_proof() const { return !holds_json(); }

 private:
  enum class part : unsigned char { head, first, json, value, between };
  outcome head(std::string_view in);
  outcome first(std::string_view in);
  outcome value(std::string_view in, bool last);
  outcome between(std::string_view in, bool last);
  /// Reads a <parameter…> mark at `at`. Sets `key`, and `begin` to the position behind the mark.
  outcome parameter(std::string_view in, std::size_t at, std::string& key, std::size_t& begin) const;
  void close(std::string_view in, std::size_t end, std::size_t next);
  /// Kinds of marks that a value may open itself, as an example of a call does.
  enum class inner : unsigned char { parameter, function, invoke };
  void open_inner(inner kind);
  bool close_inner(inner kind);
  outcome inner_call(std::string_view rest, bool last);
  std::span<const std::string_view> own_ends() const;
  std::span<const std::string_view> own_openings() const;
  std::string decoded(std::string_view text) const;

  const marks::offered_tools* tools_;
  std::string_view foreign_;
  part part_ = part::head;
  marks::compare_mark compare_ = marks::begins;  // with the marks of this call
  bool xml_ = false, cdata_ = false;
  bool function_ = false;                      // <function…>, or else <invoke…>
  bool closed_in_line_ = false;                // the last value began on a line of its own but ended within a line
  bool unclosed_ = false;                      // the JSON is inside the opening mark
  std::size_t at_ = 0, begin_ = 0, scan_ = 0;  // begin_: beginning of the value or the JSON
  std::string name_, key_, broken_;
  std::vector<marks::untyped_argument> arguments_;
  std::unordered_set<std::string> given_;  // names of arguments_
  std::vector<inner> open_;                // marks that the value has opened and not closed
  std::array<std::size_t, 3> how_many_{};  // number of each kind in open_
  marks::bracket_scanner brackets_;
};

}  // namespace mcpbx::providers::text::tagged
