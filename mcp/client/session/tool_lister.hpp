// One walk over the pages of tools/list (docs/guarantees.md, G15): bounded in pages, bytes and tools; bad definitions
// are left out one by one. Knows no I/O.
#pragma once
#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/tools.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace mcpbx::mcp {

class tool_lister {
 public:
  struct options {
    int max_pages = 1000;
    std::size_t max_bytes = std::size_t{64} << 20;
    std::size_t max_tools = 50'000;
    std::size_t max_notices = 20;
  };
  tool_lister() : tool_lister(options{}) {}
  explicit tool_lister(options o) : options_(o) {}

  /// Takes the result of one page. True when another page is to be asked for with params(); an error (one clause) when
  /// it is no page of tools.
  result<bool> take_page(const raw_json& page);
  /// The params of the next request.
  raw_json params() const;

  const std::vector<tool_view>& tools() const noexcept { return tools_; }
  /// How long the list may be taken for fresh (2026-07-28, caching): the least `ttlMs` of its pages, 0 where one has
  /// none.
  milliseconds ttl() const noexcept { return pages_ == 0 ? milliseconds(0) : ttl_; }
  std::vector<tool_view> take_tools() { return std::move(tools_); }
  /// What was left out and why, one sentence each, at most max_notices and one that counts the rest.
  std::vector<std::string> notices() const;

 private:
  void take_tool(raw_json definition);
  void notice(std::string sentence);
  options options_;
  std::vector<tool_view> tools_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::uint64_t> cursors_;
  raw_json cursor_;
  milliseconds ttl_ = milliseconds::max();
  int pages_ = 0;
  std::size_t bytes_ = 0, more_notices_ = 0;
  std::vector<std::string> notices_;
};

}  // namespace mcpbx::mcp
