// Requests of Chat Completions: whatever the JSON is, there is a run that can be started, or a fault with its place.
#include "daemon/front/completions/completion_request.hpp"
#include "test/fuzz/dialect_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mcpbx::test::fuzz_dialect(data, size, mcpbx::daemon::completions::read_completion);
}
