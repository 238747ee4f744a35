// A text parsed whole, and in pieces of every size to the same end.
#pragma once
#include "test/providers/text/parse.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace mcpbx::test {

/// Parses `raw` and checks that the result is the same in pieces of each size.
inline parsed_text parse_at_every_step(std::string_view format, std::string_view raw,
                                       providers::text::parser_options options = {}) {
  CAPTURE(std::string(raw));
  const auto got = parse_text(format, raw, std::string_view::npos, options);
  for (std::size_t step = 1; step < raw.size(); ++step)
    CHECK(parse_text(format, raw, step, options).str() == got.str());
  return got;
}

}  // namespace mcpbx::test
