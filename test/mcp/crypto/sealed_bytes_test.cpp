// Authenticated encryption: all of it comes back, and nothing that was changed.
#include "mcp/crypto/sealed_bytes.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using mcpbx::errc;
using mcpbx::crypto::seal_extra_bytes;
using mcpbx::crypto::sealed;
using mcpbx::crypto::unsealed;

const std::string key(32, 'k');

TEST_CASE("sealed bytes: any text comes back, and is never sealed alike") {
  for (const std::string& plain :
       {std::string(), std::string("a"), std::string("\0\xff", 2), std::string(65'537, 'x')}) {
    const auto one = sealed(key, "about", plain), two = sealed(key, "about", plain);
    REQUIRE(one);
    REQUIRE(two);
    CHECK(one->size() == plain.size() + seal_extra_bytes);
    CHECK(*one != *two);
    CHECK(unsealed(key, "about", *one) == plain);
  }
}

TEST_CASE("sealed bytes: no changed byte, other key or other place opens them") {
  const auto bytes = sealed(key, "about", "secret").value();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK(unsealed(key, "about", changed).error().code == errc::parse);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) CHECK_FALSE(unsealed(key, "about", bytes.substr(0, i)));
  CHECK_FALSE(unsealed(key, "about", bytes + "x"));
  CHECK_FALSE(unsealed(key, "other", bytes));
  CHECK_FALSE(unsealed(std::string(32, 'K'), "about", bytes));
}

TEST_CASE("sealed bytes: a key of another size is refused") {
  CHECK(sealed("short", "", "x").error().code == errc::internal);
  CHECK(unsealed("", "", std::string(64, 'x')).error().code == errc::parse);
}

}  // namespace
