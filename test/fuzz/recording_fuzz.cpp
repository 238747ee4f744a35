// Recordings: any text is refused or read, and what was read can be asked.
#include "providers/replay/recording.hpp"

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mcpbx::providers;
  const auto read = replay::recording::read({reinterpret_cast<const char*>(data), size});
  if (!read) return 0;
  mcpbx::providers::model_request request;
  request.messages = {mcpbx::providers::user_message("q")};
  (void)read->find(request);
  return 0;
}
