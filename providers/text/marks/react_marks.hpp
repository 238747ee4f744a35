// The marks of ReAct, as models write them: in any case, bold, numbered, with a full-width colon.
#pragma once
#include "providers/text/marks/text_scan.hpp"

#include <cstddef>
#include <string_view>

namespace mcpbx::providers::text {

enum class react_mark : unsigned char { none, thought, action, input, observation, answer };

struct react_match {
  match is = match::no;
  react_mark mark = react_mark::none;
  std::size_t size = 0;  ///< bytes of the mark, with what surrounds it
};
/// Whether `line`, as far as it has come, begins with a mark. `last`: no more of it will come. `observation_alone`: the
/// word is enough, without a colon behind it.
react_match match_react_mark(std::string_view line, bool last, bool observation_alone);
/// Whether the complete `line` begins with "Answer:", the mark of other frameworks, which our prompt does not teach.
react_match match_answer_mark(std::string_view line);

}  // namespace mcpbx::providers::text
