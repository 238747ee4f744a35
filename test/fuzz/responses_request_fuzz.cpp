// Requests of the Responses API: whatever the JSON is, there is a run that can be started, or a fault with its place.
#include "daemon/front/responses/response_request.hpp"
#include "test/fuzz/dialect_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mcpbx;
  // One id is known, so that references are followed.
  const mcpbx::daemon::responses::item_source items = [](std::string_view id) {
    return id == "i" ? mcpbx::json::raw_json::literal(R"({"type":"message","role":"assistant","content":"x"})")
                     : mcpbx::json::raw_json();
  };
  return test::fuzz_dialect(data, size,
                            [&](const mcpbx::json::raw_json& json, const mcpbx::daemon::chat::chat_defaults& defaults) {
                              return mcpbx::daemon::responses::read_response_request(json, defaults, items);
                            });
}
