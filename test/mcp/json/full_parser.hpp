// Boost.JSON as the judge of the scanner, with the two differences between them taken out.
#pragma once
#include <boost/json.hpp>

#include <cctype>
#include <string>

namespace mcpbx::test {

/// Returns true if Boost.JSON agrees with the scanner about `text`, apart from two differences. Lone surrogates are
/// legal by RFC 8259 and pass the scanner but not Boost.JSON, so each is replaced first. Boost.JSON gives up at
/// exponents that do not fit an int, so those texts always agree.
inline bool full_parser_agrees(std::string text, bool scanner_accepts) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') continue;
    const auto hex = [&](std::size_t at) { return std::isxdigit(static_cast<unsigned char>(text[at])) != 0; };
    const bool surrogate = text[i + 1] == 'u' && i + 5 < text.size() && (text[i + 2] == 'd' || text[i + 2] == 'D') &&
                           hex(i + 3) && text[i + 3] >= '8' && hex(i + 4) && hex(i + 5);
    if (surrogate) text.replace(i + 2, 4, "0041");
    ++i;
  }
  boost::json::parse_options options;
  options.max_depth = 300;
  boost::system::error_code ec;
  (void)boost::json::parse(text, ec, {}, options);
  return scanner_accepts == !ec || ec == boost::json::error::exponent_overflow;
}

}  // namespace mcpbx::test
