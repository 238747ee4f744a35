// Tests of giving memory back: the process shrinks and goes on working.
#include "mcp/support/heap.hpp"

#include "mcp/support/recycled.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

/// Pages of files that are resident in this process.
long resident_file_pages() {
  long size = 0, resident = 0, shared = 0;
  std::FILE* f = std::fopen("/proc/self/statm", "r");
  REQUIRE(f != nullptr);
  const int read = std::fscanf(f, "%ld %ld %ld", &size, &resident, &shared);
  std::fclose(f);
  REQUIRE(read == 3);
  return shared;
}

TEST_CASE("a process lets go of the pages of its program and goes on as before") {
  const auto before = resident_file_pages();
  mcpbx::forget_program_pages();
  CHECK(resident_file_pages() < before);
  // Code, constants and unwind tables come back when they are needed.
  CHECK_THROWS_WITH_AS(throw std::runtime_error("still " + std::string("here")), "still here", std::runtime_error);
}

TEST_CASE("the memory kept for the next large message is given back as well") {
  for (const bool back : {false, true}) {
    mcpbx::byte_buffer buffer;
    for (int i = 0; i < 16; ++i) buffer.extend(65'536);
    buffer.clear();
    if (back) mcpbx::give_back_free_memory();
    CHECK((mcpbx::byte_buffer::spare() == 0) == (back || mcpbx::addresses_are_checked));
  }
}

}  // namespace
