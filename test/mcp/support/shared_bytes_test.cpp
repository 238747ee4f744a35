// Shared bytes, the buffer they come from, and the accountant.
#include "mcp/support/shared_bytes.hpp"

#include "mcp/support/recycled.hpp"
#include "mcp/support/text_parts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using mcpbx::addresses_are_checked;
using mcpbx::byte_account;
using mcpbx::byte_buffer;
using mcpbx::shared_bytes;

TEST_CASE("copies share one block and the last owner frees it") {
  const std::size_t base = byte_account::total();
  {
    const shared_bytes a = shared_bytes::copy("hello");
    const std::size_t one = byte_account::total();
    CHECK(one >= base + 5);
    shared_bytes b = a;
    const shared_bytes c = std::move(b);
    CHECK(b.empty());
    CHECK(byte_account::total() == one);
    CHECK(c.data() == a.data());
    CHECK(c.view() == "hello");
    b = c;
    b = shared_bytes();
  }
  CHECK(byte_account::total() == base);
}

TEST_CASE("nothing is allocated for nothing") {
  const std::size_t base = byte_account::total();
  const shared_bytes none = shared_bytes::copy("");
  CHECK(none.empty());
  CHECK(none.view().empty());
  CHECK(byte_buffer().take().empty());
  CHECK(byte_account::total() == base);
}

TEST_CASE("a buffer grows keeps its bytes and hands them over shrunk") {
  const std::size_t base = byte_account::total();
  {
    byte_buffer buffer;
    std::string expected;
    for (int i = 0; i < 20'000; ++i) {
      buffer.append("0123456789");
      expected += "0123456789";
    }
    buffer.append('x');
    expected += 'x';
    CHECK(buffer.view() == expected);
    buffer.truncate(100'001);
    CHECK(buffer.size() == 100'001);
    const shared_bytes bytes = buffer.take();
    CHECK(buffer.empty());
    CHECK(bytes.view() == std::string_view(expected).substr(0, 100'001));
    CHECK(byte_account::total() - base < 100'001 + 100'001 / 8 + 64);
    buffer.append("again");
    CHECK(buffer.view() == "again");
    byte_buffer other = std::move(buffer);
    CHECK(other.view() == "again");
    other.clear();
    CHECK(other.empty());
  }
  CHECK(byte_account::total() == base);
}

TEST_CASE("what one thread takes on and another lets go of is counted once") {
  const std::size_t base = byte_account::total();
  std::vector<shared_bytes> kept;
  std::thread([&] {
    for (int i = 0; i < 1000; ++i) kept.push_back(shared_bytes::copy(std::string(1000, 'x')));
  }).join();
  CHECK(byte_account::total() >= base + 1'000'000);
  std::thread([&] { kept.clear(); }).join();
  CHECK(byte_account::total() == base);
  // The total never goes below zero, even if one thread frees more than all threads have reported to hold.
  byte_account::sub(base + 50'000);
  CHECK(byte_account::total() == 0);
  byte_account::add(base + 50'000);
  CHECK(byte_account::total() == base);
}

TEST_CASE("owners on several threads free a block once and after its last use") {
  const std::size_t base = byte_account::total();
  for (int round = 0; round < 200; ++round) {
    auto bytes = shared_bytes::copy("shared by all");
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([mine = bytes] {
        for (int n = 0; n < 50; ++n) {
          const shared_bytes again = mine;
          CHECK(again.view() == "shared by all");
        }
      });
    bytes = {};
    for (auto& t : threads) t.join();
  }
  CHECK(byte_account::total() == base);
}

TEST_CASE("room at the end of a buffer is part of it") {
  byte_buffer buffer;
  buffer.append("ab");
  std::copy_n("cde", 3, buffer.extend(3));
  buffer.append('f');
  CHECK(buffer.view() == "abcdef");
  CHECK(buffer.take().view() == "abcdef");
}

TEST_CASE("the memory of a large message is kept for the next one, and no more than that") {
  const std::size_t base = byte_account::total();
  const auto grown = [](std::size_t bytes) {
    byte_buffer buffer;
    for (std::size_t n = 0; n < bytes; n += 65'536) std::fill_n(buffer.extend(65'536), 65'536, 'a');
    return buffer.take();
  };
  byte_buffer::drop_spare();
  CHECK(byte_buffer::spare() == 0);
  grown(100'000);
  CHECK(byte_buffer::spare() == 0);
  const char* first = nullptr;
  for (int round = 0; round < 3; ++round) {
    const shared_bytes large = grown(1u << 20);
    CHECK(byte_buffer::spare() == 0);
    CHECK(large.view() == std::string(1u << 20, 'a'));
    if (round == 0) first = large.data();
    if (!addresses_are_checked) CHECK(large.data() == first);
    CHECK(byte_account::total() - base >= large.size());
  }
  CHECK(byte_account::total() == base);
  CHECK(byte_buffer::spare() == (addresses_are_checked ? 0 : 1u << 20));
  {
    const shared_bytes one = grown(1u << 20), two = grown(1u << 20);
    CHECK(byte_buffer::spare() == 0);
  }
  CHECK(byte_buffer::spare() == (addresses_are_checked ? 0 : 1u << 20));
  {
    const shared_bytes medium = grown(192u << 10);
    CHECK(byte_account::total() - base < 200u << 10);
    CHECK(byte_buffer::spare() == (addresses_are_checked ? 0 : 1u << 20));
  }
  grown(3u << 20);
  CHECK(byte_buffer::spare() == 0);
  CHECK(byte_account::total() == base);
}

TEST_CASE("text that grows in parts holds little more than was said, and is joined in one string of its size") {
  mcpbx::text_parts parts;
  std::string all;
  for (int i = 0; all.size() < 1'000'000; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 97), static_cast<char>('a' + i % 26));
    parts += piece;
    all += piece;
    REQUIRE(parts.capacity() <= parts.size() + (64u << 10));
  }
  CHECK(parts == all);
  CHECK(parts.str() == all);
  CHECK_FALSE(parts == std::string_view(all).substr(1));
  const auto joined = parts.take();
  CHECK(joined == all);
  CHECK(joined.capacity() == all.size());
  CHECK(parts.empty());
  CHECK(parts.capacity() == 0);
}

TEST_CASE("G11: the accountant refuses large messages above its bound and never small ones") {
  const std::size_t before = byte_account::limit();
  byte_account::set_limit(byte_account::total() + 100'000);
  CHECK(byte_account::admits(100'000));
  CHECK_FALSE(byte_account::admits(100'001));
  CHECK_FALSE(byte_account::has_room(100'001));
  byte_account::set_limit(0);
  CHECK(byte_account::admits(byte_account::small_message));
  CHECK_FALSE(byte_account::admits(byte_account::small_message + 1));
  byte_account::set_limit(before);
}

}  // namespace
