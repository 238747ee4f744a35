// The marks of ReAct, as models write them: in any case, bold, numbered, with a full-width colon.
#pragma once
#include "providers/text/marks/text_scan.hpp"

#include <cstddef>
#include <string_view>

namespace mcpbx::providers::text::marks {

enum class react_mark : unsigned char { none, thought, action, input, observation, answer };

struct react_match {
  match is = match::no;
  react_mark mark = react_mark::none;
  std::size_t size = 0;  ///< bytes of the mark, with what surrounds it
};
/// Finds a mark at the beginning of `line`, which may be incomplete unless `last`. `observation_alone`: "Observation"
/// needs no colon.
react_match match_react_mark(std::string_view line, bool last, bool observation_alone);
/// Finds "Answer:" at the beginning of a complete `line`: other frameworks use this mark, our prompt does not teach it.
react_match match_answer_mark(std::string_view line);

}  // namespace mcpbx::providers::text::marks
