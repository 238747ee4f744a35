// Any bytes as a WWW-Authenticate header.
#include "mcp/auth/challenge.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view header(reinterpret_cast<const char*>(data), size);
  const auto read = mcpbx::auth::read_bearer_challenge(header);
  if (read && read->scope && mcpbx::auth::scope_words(*read->scope).size() > 200) std::abort();
  return 0;
}
