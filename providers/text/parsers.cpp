// Puts parsers together: the state machine of a format, and the filter that hides marks behind it.
#include "providers/text/parsers.hpp"

#include "providers/text/marks/unmarked.hpp"
#include "providers/text/native_parser.hpp"
#include "providers/text/react/react_parser.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

namespace mcpbx::providers::text {

std::unique_ptr<marks::text_parser> make_tagged_parser(const marks::offered_tools& tools,
                                                       marks::parser_options options) {
  const bool native = options.untagged == marks::parser_options::bare::alone && !tools.none();
  std::unique_ptr<marks::text_parser> parser;
  if (native)
    parser = std::make_unique<native_parser>(tools, options);
  else
    parser = std::make_unique<tagged::tagged_parser>(tools, options);
  return options.show_unreadable ? marks::make_unmarked_parser(std::move(parser), false) : std::move(parser);
}

std::unique_ptr<marks::text_parser> make_react_parser(const marks::offered_tools& tools,
                                                      marks::parser_options options) {
  auto parser = std::make_unique<react::react_parser>(tools, options);
  return options.show_unreadable ? marks::make_unmarked_parser(std::move(parser), true) : std::move(parser);
}

}  // namespace mcpbx::providers::text
