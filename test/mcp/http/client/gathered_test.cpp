// Bodies of many pieces.
#include "mcp/http/client/gathered.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;

TEST_CASE("a conversation of 10,000 messages leaves in a few buffers, and what is large is not copied") {
  segments body;
  const auto large = raw_json::own("\"" + std::string(5'000, 'L') + "\"");
  for (int i = 0; i < 10'000; ++i) {
    body.append(raw_json::own("\"message " + std::to_string(i) + "\""));
    body.append_literal(",");
    if (i == 7'000) body.append(large);
  }
  const auto few = http::clients::gathered(body);
  CHECK(few.str() == body.str());
  CHECK(few.size() == body.size());
  CHECK(few.pieces().size() <= 5);
  std::size_t shared = 0;
  for (const auto& piece : few.pieces()) {
    CHECK(piece.text().size() <= 65'536);
    if (piece.text().data() == large.text().data()) ++shared;
  }
  CHECK(shared == 1);
  CHECK(http::clients::gathered({}).empty());
}
