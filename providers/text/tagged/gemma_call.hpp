// Incremental reader of calls as Gemma 4 writes them behind <|tool_call>: call:NAME{K:<|"|>V<|"|>,K:1}. A string stands
// as it is between its marks; JSON's quotes are read as well, and round brackets around the arguments.
#pragma once
#include "providers/text/marks/distance.hpp"
#include "providers/text/tagged/markup_call.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>

namespace mcpbx::providers::text::tagged {

class gemma_call {
 public:
  using outcome = markup_call::outcome;
  static constexpr std::string_view opening = "call:", string_mark = "<|\"|>";
  /// `tools` must outlive the reader.
  explicit gemma_call(const marks::offered_tools* tools = nullptr) : tools_(tools) {}

  /// Reads on. `in` begins with `opening` and must contain the text of earlier calls. Never returns `again`.
  outcome advance(std::string_view in, bool);
  /// Returns the length of the call in bytes, without the mark behind it.
  std::size_t end() const { return at_; }
  /// Returns the complete call, with `problem` if its arguments are uncertain.
  tool_call_block call(std::string_view in) const;
  static bool holds_json() { return true; }
  static bool needs_proof() { return false; }

 private:
  enum class part : unsigned char { head, arguments };
  enum class inside : unsigned char { nothing, string, quotes };
  outcome head(std::string_view in);
  bool step(std::string_view in);
  void step_outside(char c);
  void open_string(char quote);
  void quote_key();
  void note_key();

  const marks::offered_tools* tools_;
  part part_ = part::head;
  inside inside_ = inside::nothing;
  char quote_ = 0;   // quote of the open string
  char before_ = 0;  // the last byte outside of strings that is no blank; a quote behind a string
  marks::near_to<4> damaged_mark_{string_mark};
  bool escaped_ = false, closed_ = false, round_ = false;
  std::size_t at_ = 0, depth_ = 0;
  std::size_t word_ = 0;                  // beginning of the last word in json_
  std::unordered_set<std::string> keys_;  // names of the arguments
  std::string name_, json_;               // json_: the arguments as JSON, as far as they were read
  const char* broken_ = nullptr;          // reason why the call is not run
};

}  // namespace mcpbx::providers::text::tagged
