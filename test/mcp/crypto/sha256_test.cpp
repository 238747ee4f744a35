// SHA-256, held against the standard's own examples.
#include "mcp/crypto/sha256.hpp"

#include <doctest/doctest.h>

namespace {

using mcpbx::crypto::sha256;
using mcpbx::crypto::sha256_hex;

TEST_CASE("sha256_hex gives the digests of the standard") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("sha256 gives the same digest as bytes") {
  const std::string d = sha256("abc");
  REQUIRE(d.size() == 32);
  CHECK(static_cast<unsigned char>(d[0]) == 0xBA);
  CHECK(static_cast<unsigned char>(d[31]) == 0xAD);
}

}  // namespace
