// A text parsed whole, and in pieces of every size to the same end.
#pragma once
#include "test/providers/text/parse.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace mcpbx::test {

/// Returns true if a cut there falls into a run of one byte, far from its ends, so that it is like the cut beside it.
inline bool cuts_a_run(std::string_view raw, std::size_t at) {
  constexpr std::size_t far = 24;
  return at >= far && at + far <= raw.size() &&
         raw.substr(at - far, 2 * far).find_first_not_of(raw[at]) == std::string_view::npos;
}

/// Parses `raw` and checks that the result is the same in pieces of each size, but for those that first cut a run.
inline parsed_text parse_at_every_step(std::string_view format, std::string_view raw,
                                       providers::text::marks::parser_options options = {}) {
  CAPTURE(std::string(raw));
  const auto got = parse_text(format, raw, std::string_view::npos, options);
  for (std::size_t step = 1; step < raw.size(); ++step)
    if (!cuts_a_run(raw, step)) CHECK(parse_text(format, raw, step, options).str() == got.str());
  return got;
}

}  // namespace mcpbx::test
