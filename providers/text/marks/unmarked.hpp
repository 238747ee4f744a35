// Last resort for unreadable replies: passes on their words without the marks of any form.
#pragma once
#include "providers/text/marks/parser.hpp"

#include <memory>

namespace mcpbx::providers::text::marks {

/// Wraps `inner` and removes all marks and control tokens from its text for people. `react`: also removes ReAct's marks
/// at the beginning of lines, and everything behind an Observation.
std::unique_ptr<text_parser> make_unmarked_parser(std::unique_ptr<text_parser> inner, bool react);

}  // namespace mcpbx::providers::text::marks
