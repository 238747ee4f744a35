// Requests over HTTP: the same verdict and the same request however the bytes are cut, and no bound is passed.
#include "mcp/http/server/request_parser.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using mcpbx::http::servers::request_parser;

constexpr request_parser::limits limits{.head = 512, .body = 256};

void require(bool holds) {
  if (!holds) std::abort();
}

// Parses like a connection, which passes unparsed bytes again with more behind them. Returns the outcome as a text.
std::string read(std::string_view text, std::size_t step) {
  request_parser parser(limits);
  std::string kept;
  auto verdict = request_parser::verdict::need_more;
  std::size_t at = 0;
  while (verdict == request_parser::verdict::need_more && at < text.size()) {
    const auto part = text.substr(at, step);
    kept += part;
    at += part.size();
    do {
      std::size_t used = 0;
      verdict = parser.put(kept, used);
      require(used <= kept.size());
      kept.erase(0, used);
      require(parser.body_bytes() <= limits.body);
    } while (verdict == request_parser::verdict::head);
  }
  // The bytes needed before a refusal depend on the pieces; the refusal itself does not.
  if (verdict != request_parser::verdict::done) return "no request";
  auto head = parser.take_head();
  std::string all = head.method + " " + head.target;
  for (const auto& h : head.headers) all += "\n" + h.name + ":" + h.value;
  require(!head.target.empty() && head.target.front() == '/');
  const auto body = parser.take_body();
  return all + "\n\n" + std::string(body.view()) + (parser.keep_alive() ? "+" : "-");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 4096) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t before = mcpbx::byte_account::total();
  require(read(text, text.size() + 1) == read(text, 1 + data[0] % 40));
  require(mcpbx::byte_account::total() == before);
  return 0;
}
