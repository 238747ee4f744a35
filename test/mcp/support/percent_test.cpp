// Reading percent-encoding.
#include "mcp/support/percent.hpp"

#include <doctest/doctest.h>

namespace {

using mcpbx::percent_decoded;

TEST_CASE("percent-encoding is read and what is none stays") {
  CHECK(percent_decoded("a%2Fb%2f%3D") == "a/b/=");
  CHECK(percent_decoded("100%, %x1 %4") == "100%, %x1 %4");
}

}  // namespace
