// Reading and writing percent-encoding.
#include "mcp/support/percent.hpp"

#include <doctest/doctest.h>

namespace {

using mcpbx::percent_decoded;
using mcpbx::percent_encoded;

TEST_CASE("percent-encoding is read and what is none stays") {
  CHECK(percent_decoded("a%2Fb%2f%3D") == "a/b/=");
  CHECK(percent_decoded("100%, %x1 %4") == "100%, %x1 %4");
}

TEST_CASE("percent-encoding keeps unreserved characters and those that are told") {
  CHECK(percent_encoded("a-b_c.d~9/\xC3\xA9 +") == "a-b_c.d~9%2F%C3%A9%20%2B");
  CHECK(percent_encoded("/a b", "/") == "/a%20b");
  CHECK(percent_encoded(std::string_view("\0", 1)) == "%00");
}

}  // namespace
