// One walk over the pages of a server's list (docs/guarantees.md, G15), bounded in pages, bytes and items. Bad
// definitions are left out one by one. Knows no I/O.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace mcpbx::mcp::session {

class feature_lister {
 public:
  /// Refuses an item with one clause that says what is wrong.
  using item_check = result<void> (*)(const protocol::feature_item&);
  struct options {
    int max_pages = 1000;
    std::size_t max_bytes = std::size_t{64} << 20;
    std::size_t max_items = 50'000;
    std::size_t max_notices = 20;
    item_check check = nullptr;  ///< a further check of each item, or null
  };
  /// Limit of the nesting of a message.
  struct depth_limit {
    int levels = 0;
    std::string_view key;  ///< its configuration key, or ""
  };
  /// Begins a walk. `kind` must outlive it.
  explicit feature_lister(const protocol::feature_kind& kind) : feature_lister(kind, options{}) {}
  feature_lister(const protocol::feature_kind& kind, options o) : kind_(&kind), options_(o) {}

  /// Takes the result of one page. Returns true if another page is to be requested with params(); fails with one clause
  /// if it is not a page of this list. `depth` is the limit that the page's message exceeds, if it does: items nested
  /// too deeply for it are left out.
  result<bool> take_page(const json::raw_json& page, const depth_limit* depth = nullptr);
  /// Returns the params of the next request.
  json::raw_json params() const;

  const std::vector<protocol::feature_item>& items() const noexcept { return items_; }
  /// Returns the time for which the list may be considered fresh (2026-07-28, caching): the least `ttlMs` of its pages,
  /// 0 if one has none.
  milliseconds ttl() const noexcept { return pages_ == 0 ? milliseconds(0) : ttl_; }
  /// Returns true unless each page said that everybody may share it (`cacheScope`).
  bool is_private() const noexcept { return pages_ == 0 || private_; }
  std::vector<protocol::feature_item> take_items() { return std::move(items_); }
  /// Returns one sentence per item left out, at most max_notices, and one with the number of further ones.
  std::vector<std::string> notices() const;

 private:
  void take_item(json::raw_json definition, const depth_limit* depth);
  void notice(std::string sentence);

  const protocol::feature_kind* kind_;
  options options_;
  std::vector<protocol::feature_item> items_;
  text_set keys_;
  std::unordered_set<std::uint64_t> cursors_;
  json::raw_json cursor_;
  milliseconds ttl_ = milliseconds::max();
  bool private_ = false;
  int pages_ = 0;
  std::size_t bytes_ = 0, more_notices_ = 0;
  std::vector<std::string> notices_;
};

}  // namespace mcpbx::mcp::session
