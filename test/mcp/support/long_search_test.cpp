// Searches of long texts find the same byte as a loop does, wherever it stands and however long the text is.
#include "mcp/support/long_search.hpp"

#include "mcp/support/byte_search.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace {

using namespace mcpbx::byte_search;

TEST_CASE("each byte is found at each place of texts with all lengths around the steps of a search") {
  for (const std::size_t size : {0, 1, 15, 16, 17, 127, 128, 129, 143, 144, 145, 256, 300}) {
    // A vector ends where its text ends, so that AddressSanitizer sees a read behind it.
    std::vector<char> text(size, 'x');
    const char *const begin = text.data(), *const end = begin + size;
    CHECK(string_special_far(begin, end) == end);
    CHECK(quote_or_escape_far(begin, end) == end);
    for (std::size_t at = 0; at < size; ++at) {
      for (int c = 0; c < 256; ++c) {
        text[at] = static_cast<char>(c);
        const bool quote = c == '"' || c == '\\';
        const char* const special = quote || c < 0x20 || c >= 0x80 ? begin + at : end;
        REQUIRE(string_special_far(begin, end) == special);
        REQUIRE(string_special(begin, end) == special);
        REQUIRE(quote_or_escape_far(begin, end) == (quote ? begin + at : end));
        REQUIRE(quote_or_escape(begin, end) == (quote ? begin + at : end));
      }
      text[at] = 'x';
    }
  }
}

TEST_CASE("the first of several bytes is found") {
  for (std::size_t first = 0; first < 300; ++first) {
    std::vector<char> text(400, 'x');
    for (std::size_t at = first; at < text.size(); at += 1 + first % 7) text[at] = '"';
    const char *const begin = text.data(), *const end = begin + text.size();
    CHECK(string_special_far(begin, end) == begin + first);
    CHECK(quote_or_escape_far(begin, end) == begin + first);
  }
}

}  // namespace
