// Tool schemas for every API: whatever a server lists becomes well-formed JSON of a bounded size, or is left out with a
// reason; what was adapted once is not changed again.
#include "providers/schema/adapt/adapt.hpp"
#include "providers/schema/adapt/reduce.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::json;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto schema = raw_json::parse({reinterpret_cast<const char*>(data), size}, 200);
  if (!schema) return 0;
  for (const std::string_view api : {"gemini", "ollama"}) {
    const auto reduced = providers::adapt::schema_for(api, *schema);
    if (!raw_json::parse(reduced.text(), 1000) || !reduced.is_object()) std::abort();
  }
  for (const std::string_view api : {"openai-chat", "openai-responses", "anthropic"}) {
    const auto adapted = providers::adapt::adapt_tool("tool", "", *schema, api);
    if (!adapted && adapted.error().message.empty()) std::abort();
    if (!adapted) continue;
    if (!raw_json::parse(adapted->schema.text(), 1000) || !adapted->schema.is_object()) std::abort();
    const auto again = providers::adapt::adapt_tool("tool", "", adapted->schema, api);
    if (!again || again->schema.text() != adapted->schema.text()) std::abort();
  }
  return 0;
}
