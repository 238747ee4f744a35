// Answers of remote servers: the same messages, faults and ids however the bytes of a body are cut, and nothing kept.
#include "mcp/client/connect/remote/answer_reader.hpp"
#include "mcp/client/connect/remote/remote_words.hpp"
#include "mcp/protocol/header_params.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::remote;
using namespace mcpbx::mcp::rpc;

void require(bool holds) {
  if (!holds) std::abort();
}

struct answer_log final : message_sink {
  std::string text;
  void on_message(message&& m) override { text += "M" + std::string(m.whole.text()) + "\n"; }
  void on_fault(message_fault f) override { text += "F" + f.envelope.what + "\n"; }
};

std::string read(std::string_view body, const line_framer::options& options, bool events, std::size_t step) {
  answer_log log;
  answer_reader reader(options, log);
  reader.want("endpoint");
  reader.begin(events ? answer_reader::form::events : answer_reader::form::json);
  for (std::size_t at = 0; at < body.size(); at += step) reader.feed(body.substr(at, step));
  reader.finish();
  require(reader.events().last_id().size() <= event_reader::longest_id);
  log.text += "I" + reader.events().last_id() + "\nE" + reader.take_wanted() + "\n" +
              std::to_string(reader.events().retry().count());
  return log.text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  line_framer::options options;
  options.repair_utf8 = options.keep_deep_answers = true;
  options.max_message_bytes = data[0] % 128 < 64 ? 4096 : 40;
  const bool events = data[0] >= 128;
  const std::size_t before = mcpbx::byte_account::total();
  require(read(body, options, events, body.size() + 1) == read(body, options, events, 1 + data[1] % 40));
  require(mcpbx::byte_account::total() == before);
  // Header values of the same server.
  if (const auto wait = retry_after(body, 1'700'000'000'000))
    require(wait->count() >= 0 && *wait <= std::chrono::milliseconds(std::chrono::days(1)));
  static_cast<void>(media_type(body));
  static_cast<void>(status_text(500, body));
  if (const auto to = same_origin("https://tools.example/mcp", body))
    require(to->starts_with("https://tools.example:443/"));
  const std::string text = header_text(body);
  for (const char c : text) require((c >= 0x20 && c <= 0x7E) || c == '\t');
  if (const auto schema = mcpbx::json::raw_json::parse(body)) static_cast<void>(read_header_params(*schema));
  return 0;
}
