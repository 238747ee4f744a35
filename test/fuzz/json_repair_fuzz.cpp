// The repairer: whatever it is given, it refuses or gives one JSON object, which it would not change again.
#include "mcp/json/json_scanner.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/utf8.hpp"
#include "providers/model/json_repair.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto repaired = mcpbx::providers::repair_json(text);
  if (!repaired) return 0;
  // Its text is JSON wherever the input was UTF-8.
  if (mcpbx::valid_utf8_prefix(text) != text.size()) return 0;
  const auto value = mcpbx::json::raw_json::parse(repaired->text, mcpbx::providers::max_repaired_depth + 1);
  if (!value || !value->is_object()) std::abort();
  const auto again = mcpbx::providers::repair_json(repaired->text);
  if (!again || again->text != repaired->text || !again->repairs.empty()) std::abort();
  return 0;
}
