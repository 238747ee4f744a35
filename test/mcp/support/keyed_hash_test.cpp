// The hash for keys of strangers: its known values, and keys that were made to collide in the library's own hash.
#include "mcp/support/keyed_hash.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace {

using namespace mcpbx;

TEST_CASE("SipHash has the values that its authors published") {
  constexpr sip_key key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string text;
  for (int i = 0; i < 15; ++i) text.push_back(static_cast<char>(i));
  const auto of = [&](std::size_t length) { return sip_hash<2, 4>(key, std::string_view(text).substr(0, length)); };
  CHECK(of(0) == 0x726fdb47dd0e0e31);
  CHECK(of(1) == 0x74f839c593dc67fd);
  CHECK(of(2) == 0x0d6c8009d9a94f5a);
  CHECK(of(8) == 0x93f5f5799a932462);
  CHECK(of(15) == 0xa129ca6149be45e5);
  CHECK(sip_hash<1, 3>(key, {}) == 0xabac0158050fc4dc);
}

TEST_CASE("keyed_hash is the same for equal texts, wherever they are stored") {
  const std::string text = "a key of twenty char";
  CHECK(keyed_hash()(text) == keyed_hash()(std::string_view(text)));
  CHECK(keyed_hash()("n:1") != keyed_hash()("n:2"));
  text_map<int> table{{text, 7}};
  CHECK(table.find(std::string_view(text))->second == 7);
}

#ifdef __GLIBCXX__
// Makes a key of two blocks with a chosen first one. libstdc++ mixes a block like MurmurHash64A and multiplies after
// each; its seed is fixed, so that the second block can undo the change that the first has made.
std::string colliding(std::uint64_t first) {
  constexpr std::uint64_t mul = (std::uint64_t{0xc6a4a793} << 32) + 0x5bd1e995, seed = 0xc70f6907;
  constexpr std::uint64_t inverse = [] {
    std::uint64_t x = mul;
    for (int i = 0; i < 6; ++i) x *= 2 - mul * x;
    return x;
  }();
  const auto shifted = [](std::uint64_t v) { return v ^ (v >> 47); };
  const auto mixed = [&](std::uint64_t block) { return shifted(block * mul) * mul; };
  const auto after_first = [&](std::uint64_t block) { return ((seed ^ (16 * mul)) ^ mixed(block)) * mul; };
  const std::uint64_t wanted = mixed(0) ^ after_first(0) ^ after_first(first);
  const std::array<std::uint64_t, 2> blocks{first, shifted(wanted * inverse) * inverse};
  std::string key(sizeof blocks, '\0');
  std::memcpy(key.data(), blocks.data(), sizeof blocks);
  return key;
}

TEST_CASE("keys that were made to collide in the library's hash spread over the buckets") {
  if constexpr (std::endian::native == std::endian::little && sizeof(std::size_t) == 8) {
    const auto same = std::hash<std::string_view>()(colliding(0));
    text_set table;
    for (std::uint64_t i = 0; i < 3'000; ++i) {
      const std::string key = colliding(i);
      REQUIRE(std::hash<std::string_view>()(key) == same);
      table.insert(key);
    }
    CHECK(table.size() == 3'000);
    std::size_t longest = 0;
    for (std::size_t b = 0; b < table.bucket_count(); ++b) longest = std::max(longest, table.bucket_size(b));
    CHECK(longest <= 32);
  }
}
#endif

}  // namespace
