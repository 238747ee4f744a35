// The challenges of protected servers.
#include "mcp/auth/challenge.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace mcpbx::auth;

TEST_CASE("challenge: the parameters of Bearer are read, quoted or not, in any case and order") {
  const auto c = read_bearer_challenge(
      R"(bearer Scope="files:read  files:write", error=invalid_token , resource_metadata="https://a/b?c=\"d\"")");
  REQUIRE(c);
  CHECK(c->scope == "files:read  files:write");
  CHECK(c->error == "invalid_token");
  CHECK(c->resource_metadata == R"(https://a/b?c="d")");
  CHECK(scope_words(*c->scope) == std::vector<std::string>{"files:read", "files:write"});
}

TEST_CASE("challenge: scopes that can be none are left out, and the union of many is bounded") {
  CHECK(scope_words("a \x1b[2J b\"c " + std::string(257, 'x') + " \xc3\xa4 d") == std::vector<std::string>{"a", "d"});
  CHECK(united_scopes({"a", "\n"}, {"a", "b c", "b"}) == std::vector<std::string>{"a", "b"});
  std::vector<std::string> held;
  for (int i = 0; i < 1000; ++i) held = united_scopes(held, {"s" + std::to_string(i)});
  CHECK(held.size() == 200);
}

TEST_CASE("challenge: Bearer is found among other schemes, whose parameters do not count") {
  const auto c = read_bearer_challenge(
      R"(Basic realm="x, Bearer scope=evil", Negotiate abc123==, Bearer error="insufficient_scope", scope="a", Digest scope="b")");
  REQUIRE(c);
  CHECK(c->error == "insufficient_scope");
  CHECK(c->scope == "a");
  CHECK_FALSE(read_bearer_challenge(R"(Basic realm="a", Digest qop="auth")"));
  CHECK_FALSE(read_bearer_challenge(""));
}

TEST_CASE("challenge: a lone Bearer says nothing more, and a broken parameter ends the reading") {
  CHECK(read_bearer_challenge("Bearer"));
  CHECK_FALSE(read_bearer_challenge("Bearer")->scope);
  const auto c = read_bearer_challenge(R"(Bearer error="x", scope="never closed)");
  REQUIRE(c);
  CHECK(c->error == "x");
  CHECK_FALSE(c->scope);
}

TEST_CASE("challenge: a header over 16 KiB is not read, and scopes are bounded") {
  CHECK_FALSE(read_bearer_challenge("Bearer scope=\"" + std::string(17'000, 'a') + "\""));
  std::string many;
  for (int i = 0; i < 500; ++i) many += "s" + std::to_string(i) + " ";
  CHECK(scope_words(many).size() == 200);
  CHECK(united_scopes({"a", "b"}, {"b", "c"}) == std::vector<std::string>{"a", "b", "c"});
  CHECK(joined_scopes({"a", "b"}) == "a b");
}

}  // namespace
