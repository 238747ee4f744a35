// The parsers of all text formats: whatever comes and however it is cut, the same is told, nothing twice, and every
// call that would be run has one JSON object as its arguments.
#include "test/providers/text/parse.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto all = mcpbx::providers::text::formats();
  const auto format = all[data[0] % all.size()]->name();
  mcpbx::providers::text::marks::parser_options options;
  options.untagged = data[0] >= 128 ? mcpbx::providers::text::marks::parser_options::bare::alone
                                    : mcpbx::providers::text::marks::parser_options::bare::anywhere;
  options.show_unreadable = data[0] % 16 == 15;
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  const auto whole = mcpbx::test::parse_text(format, text, std::string_view::npos, options);
  if (mcpbx::test::parse_text(format, text, 1, options).str() != whole.str()) std::abort();
  if (mcpbx::test::parse_text(format, text, 1 + data[1] % 32, options).str() != whole.str()) std::abort();
  for (const auto& call : whole.reply.calls)
    if (call.problem.empty() &&
        (!call.arguments.is_object() || !mcpbx::json::raw_json::parse(call.arguments.text(), 128)))
      std::abort();
  return 0;
}
