// The last resort for a reply that cannot be read: its words, without the marks of any form.
#pragma once
#include "providers/text/marks/parser.hpp"

#include <memory>

namespace mcpbx::providers::text {

/// `inner`, whose text for people passes without marks, opening or closing, and without control tokens; `react`: also
/// without the marks that begin a line of ReAct, and without what follows an Observation.
std::unique_ptr<text_parser> make_unmarked_parser(std::unique_ptr<text_parser> inner, bool react);

}  // namespace mcpbx::providers::text
