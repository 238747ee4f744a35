// Each flow with each event before each step, in all four combinations.
#include "test/mcp/bridging/matrix.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace mcpbx::test;

TEST_CASE("G1: whatever happens at any step of a conversation nothing is left of it") {
  const char* only = std::getenv("MATRIX");
  for (const event& e : events())
    for (const flow& f : flows()) {
      if (only && e.name.find(only) == std::string::npos && f.name.find(only) == std::string::npos) continue;
      if (only) MESSAGE(e.name, f.name);
      CAPTURE(e.name);
      CAPTURE(f.name);
      CHECK(disturb(f, e) > 0);
    }
}
