// Requests to /mcp: whatever head and body are, there is a message of one era, or a refusal with a status and a code;
// and the check of a modern request's headers finds the same for the same request.
#include "daemon/front/mcp/accepted.hpp"
#include "daemon/front/mcp/modern_headers.hpp"
#include "daemon/front/mcp/posted_message.hpp"
#include "mcp/http/server/request_parser.hpp"
#include "mcp/protocol/revisions.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;

void require(bool holds) {
  if (!holds) std::abort();
}

raw_json definition(std::string_view) {
  return raw_json::literal(R"({"inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},)"
                           R"("n":{"type":"integer","x-mcp-header":"N"}}}})");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 8192) return 0;
  const std::size_t before = byte_account::total();
  {
    http::servers::request_parser parser({.head = 4096, .body = 8192});
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::size_t at = 0;
    auto verdict = http::servers::request_parser::verdict::need_more;
    do {
      std::size_t used = 0;
      verdict = parser.put(text.substr(at), used);
      at += used;
    } while (verdict == http::servers::request_parser::verdict::head);
    if (verdict != http::servers::request_parser::verdict::done) return 0;
    const auto head = parser.take_head();
    daemon::mcp_door::accepts(head.headers, "text/event-stream");
    daemon::mcp_door::prefers_stream(head.headers);
    const auto posted = daemon::mcp_door::read_post(head, parser.take_body(), 64);
    if (!posted) {
      require(posted.error().status == 400 && posted.error().error.code < 0 && !posted.error().error.message.empty());
      require(raw_json::parse(daemon::mcp_door::refusal_answer(posted.error()).body).has_value());
      return 0;
    }
    require(posted->modern || daemon::mcp_door::revision_in(head) != daemon::mcp_door::named_revision::modern);
    if (!posted->modern || posted->m.type != mcp::rpc::message::kind::request) return 0;
    const auto wrong = daemon::mcp_door::check_modern_headers(head.headers, posted->m, posted->revision, definition);
    require(!wrong || wrong->code == mcp::protocol::mcp_code::header_mismatch);
    require(wrong.has_value() ==
            daemon::mcp_door::check_modern_headers(head.headers, posted->m, posted->revision, definition).has_value());
    // Without any header nothing of a modern request passes.
    require(daemon::mcp_door::check_modern_headers({}, posted->m, posted->revision, definition).has_value());
  }
  require(byte_account::total() == before);
  return 0;
}
