// Tool schemas for Gemini and Ollama: whatever a server lists becomes well-formed JSON of a bounded size.
#include "providers/schema/adapt.hpp"
#include "providers/schema/reduce.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace mcpbx;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto schema = raw_json::parse({reinterpret_cast<const char*>(data), size}, 200);
  if (!schema) return 0;
  for (const std::string_view api : {"gemini", "ollama"}) {
    const auto reduced = providers::schema_for(api, *schema);
    if (!raw_json::parse(reduced.text(), 1000) || !reduced.is_object()) std::abort();
  }
  return 0;
}
