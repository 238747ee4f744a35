// Any bytes as the answer of an authorization endpoint: without our state it is never ours.
#include "mcp/auth/redirect_answer.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mcpbx::auth;
  const std::string_view query(reinterpret_cast<const char*>(data), size);
  if (mcpbx::auth::read_redirect(query, {"a state that no input has by chance", "https://as", false}).type !=
          mcpbx::auth::redirect_answer::kind::not_ours &&
      query.size() < 20)
    std::abort();
  const auto answer = mcpbx::auth::read_redirect(query, {"st", "https://as", true});
  if (answer.type == mcpbx::auth::redirect_answer::kind::code && answer.text.empty()) std::abort();
  return 0;
}
