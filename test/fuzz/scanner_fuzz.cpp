// The scanner: the same verdict however the text is cut, and the same judgement as Boost.JSON.
#include "mcp/json/json_scanner.hpp"
#include "mcp/support/utf8.hpp"
#include "test/mcp/json/full_parser.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0] % 31;
  const bool tolerant = data[0] >= 128;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);

  mcpbx::json::json_scanner whole({.max_depth = 256, .tolerate_invalid_utf8 = tolerant});
  whole.feed(text);
  whole.finish();
  mcpbx::json::json_scanner cut({.max_depth = 256, .tolerate_invalid_utf8 = tolerant});
  for (std::size_t at = 0; at < text.size(); at += step) cut.feed(text.substr(at, step));
  cut.finish();

  require(whole.fault_kind() == cut.fault_kind());
  require(whole.fault_offset() == cut.fault_offset());
  require(whole.value_begin() == cut.value_begin());
  require(whole.value_end() == cut.value_end());
  require(whole.saw_invalid_utf8() == cut.saw_invalid_utf8());
  require(whole.saw_line_break() == cut.saw_line_break());
  require(whole.envelope().duplicates == cut.envelope().duplicates);
  require(whole.envelope().seen == cut.envelope().seen);
  for (std::size_t i = 0; i < whole.envelope().members.size(); ++i) {
    const auto& a = whole.envelope().members[i];
    const auto& b = cut.envelope().members[i];
    require(a.begin == b.begin && a.end == b.end && a.end <= text.size());
  }

  if (whole.complete()) {
    std::size_t replaced = 0;
    const std::string repaired = mcpbx::repaired_utf8(text, replaced);
    require(whole.saw_invalid_utf8() == (replaced > 0));
    require(mcpbx::test::full_parser_agrees(repaired, true));
  } else if (!tolerant && whole.fault_kind() != mcpbx::json::json_scanner::fault::depth) {
    require(mcpbx::test::full_parser_agrees(std::string(text), false));
  }
  return 0;
}
