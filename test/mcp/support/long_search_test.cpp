// Searches of long texts find the same byte as a loop does, wherever it stands and however long the text is.
#include "mcp/search/long_search.hpp"

#include "mcp/search/has_word.hpp"
#include "mcp/support/byte_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx::byte_search;
using namespace mcpbx::search::byte_search;

TEST_CASE("each byte is found at each place of texts with all lengths around the steps of a search") {
  for (const std::size_t size : {0, 1, 7, 8, 9, 15, 16, 17, 127, 128, 129, 143, 144, 145, 256, 300}) {
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

TEST_CASE("a word is found at each place of a text, and no part of one") {
  using mcpbx::search::has_word;
  const std::string_view word = "\"uri\"";
  // Long texts are searched in larger steps.
  for (std::size_t size = 0; size < 1000; size += size < 80 ? 1 : 131) {
    std::vector<char> text(size, '"');  // each byte begins a word
    const std::string_view all(text.data(), size);
    CHECK_FALSE(has_word(all, word));
    for (std::size_t at = 0; at + word.size() <= size; ++at) {
      std::ranges::copy(word, text.begin() + static_cast<std::ptrdiff_t>(at));
      REQUIRE(has_word(all, word));
      text[at + 3] = 'x';
      REQUIRE_FALSE(has_word(all, word));
      if (at + word.size() == size) REQUIRE_FALSE(has_word(all.substr(0, size - 1), word));
      std::ranges::fill(text, '"');
    }
  }
  CHECK(has_word("ab", "ab"));
  CHECK_FALSE(has_word("", "ab"));
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
