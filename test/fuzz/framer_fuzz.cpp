// The framer: the same messages and faults however the bytes are cut, and never more held than the limit.
#include "mcp/rpc/line_framer.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "test/mcp/rpc/recorded_lines.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string read(std::string_view text, const mcpbx::mcp::rpc::line_framer::options& options, std::size_t step) {
  mcpbx::test::recorded_lines sink;
  mcpbx::mcp::rpc::line_framer framer(options);
  for (std::size_t at = 0; at < text.size(); at += step) {
    mcpbx::test::feed_from_room(framer, text.substr(at, step), sink);
    require(framer.held() <= options.max_message_bytes);
  }
  framer.finish(sink);
  require(framer.held() == 0);
  return sink.log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  mcpbx::mcp::rpc::line_framer::options options;
  options.repair_utf8 = data[0] >= 128;
  options.max_message_bytes = data[0] % 128 < 64 ? 4096 : 40;
  options.keep_deep_answers = options.repair_utf8 && data[1] >= 128;
  options.max_depth = data[0] % 2 == 0 ? 256 : 4;
  const std::size_t before = mcpbx::byte_account::total();
  require(read(text, options, text.size() + 1) == read(text, options, 1 + data[1] % 40));
  require(mcpbx::byte_account::total() == before);
  return 0;
}
