// Makes the parsers of text formats, including the variant for native tools and the filter for unreadable replies.
#pragma once
#include "providers/text/marks/parser.hpp"

#include <memory>

namespace mcpbx::providers::text {

/// Returns a parser of all tagged forms and of JSON without a mark.
std::unique_ptr<marks::text_parser> make_tagged_parser(const marks::offered_tools& tools,
                                                       marks::parser_options options);
/// Returns a parser of Thought / Action / Action Input / Observation / Final Answer. It reads a reply without these as
/// a tagged one.
std::unique_ptr<marks::text_parser> make_react_parser(const marks::offered_tools& tools, marks::parser_options options);

}  // namespace mcpbx::providers::text
