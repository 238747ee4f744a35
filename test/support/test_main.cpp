// doctest's main, once for every test program. MCPBX_READ_SIZES has all reads of its connections cut to so many bytes,
// or to changing sizes where it is "changing".
#include "test/support/read_sizes.hpp"

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <signal.h>

#include <cstdlib>
#include <optional>

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // as every program of mcpbx does: a peer may be gone before it is written to
  std::optional<mcpbx::test::read_sizes> sizes;
  // A word that is no number is 0, which stands for changing sizes.
  if (const char* given = std::getenv("MCPBX_READ_SIZES")) sizes.emplace(std::strtoul(given, nullptr, 10));
  return doctest::Context(argc, argv).run();
}
