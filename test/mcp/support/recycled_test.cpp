// Recycled memory: which block comes next, how many are kept, and that a map over it keeps its entries.
#include "mcp/support/recycled.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using mcpbx::recycling_map;
using mcpbx::spare_blocks;

TEST_CASE("a block that was let go of is the next one of its size") {
  using blocks = spare_blocks<1000>;
  void* const first = blocks::take();
  blocks::give(first);
  void* const again = blocks::take();
  if (blocks::most > 0) CHECK(again == first);
  void* const second = blocks::take();
  CHECK(second != again);
  blocks::give(again);
  blocks::give(second);
}

TEST_CASE("no more than a bounded number of blocks is kept and what one thread lets go of is its own") {
  using blocks = spare_blocks<1001>;
  std::vector<void*> all;
  for (std::size_t i = 0; i < 3 * blocks::most + 10; ++i) all.push_back(blocks::take());
  CHECK(std::set<void*>(all.begin(), all.end()).size() == all.size());
  // Let go of on another thread, which ends: what it kept goes back to the heap.
  std::thread([&] {
    for (void* b : all) blocks::give(b);
    std::set<void*> kept;
    for (std::size_t i = 0; i < blocks::most; ++i) kept.insert(blocks::take());
    CHECK(kept.size() == blocks::most);
    for (void* b : kept) blocks::give(b);
  }).join();
}

TEST_CASE("a recycling map keeps what it holds while entries come and go") {
  recycling_map<int, std::string> map;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 1000; ++i) map.try_emplace(i, std::string(40, static_cast<char>('a' + i % 26)));
    for (int i = 0; i < 1000; i += 2) CHECK(map.erase(i) == 1);
    auto taken = map.extract(501);
    CHECK(taken.mapped() == std::string(40, static_cast<char>('a' + 501 % 26)));
    map.insert(std::move(taken));
    for (const auto& [key, text] : map) CHECK(text == std::string(40, static_cast<char>('a' + key % 26)));
  }
  CHECK(map.size() == 500);
}

TEST_CASE("recycled objects of one owner or of many live where others of their kind did and end once") {
  struct counted {
    explicit counted(int& n) : ended(n) {}
    ~counted() { ++ended; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    int& ended;
  };
  struct base {
    virtual ~base() = default;
  };
  struct single final : base, mcpbx::recycled<single> {
    explicit single(int& n) : part(n) {}
    counted part;
    std::array<char, 1002> room{};
  };
  int ended = 0;
  for (int i = 0; i < 3; ++i) {
    std::unique_ptr<base> one = std::make_unique<single>(ended);
    const void* const at = dynamic_cast<void*>(one.get());
    one.reset();
    one = std::make_unique<single>(ended);
    if (spare_blocks<sizeof(single)>::most > 0) CHECK(dynamic_cast<void*>(one.get()) == at);
    std::weak_ptr<counted> seen;
    {
      const auto shared = mcpbx::make_recycled<counted>(ended);
      const auto other = shared;
      seen = shared;
    }
    CHECK(seen.expired());
  }
  CHECK(ended == 9);
}

}  // namespace
