// Remembers who wants to hear of elicitations and tasks of one tool server whose calls may have ended: a bounded table,
// oldest entries out first.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::mcp::supervise {

class note_book {
 public:
  static constexpr std::size_t most_entries = 256, longest_id = 512;
  using handler = std::function<void(std::string_view method, const json::raw_json& params)>;

  /// Remembers the handler for this id; an id that is too long or empty is not remembered.
  void add(std::string id, handler h) {
    if (id.empty() || id.size() > longest_id || !h) return;
    std::erase_if(entries_, [&](const entry& e) { return e.id == id; });
    if (entries_.size() == most_entries) entries_.pop_front();
    entries_.push_back({std::move(id), std::move(h)});
  }
  /// Returns the handler for this id, or an empty one.
  handler find(std::string_view id) const {
    const auto found = std::ranges::find(entries_, id, [](const entry& e) { return std::string_view(e.id); });
    return found == entries_.end() ? handler() : found->h;
  }
  void clear() { entries_.clear(); }

 private:
  struct entry {
    std::string id;
    handler h;
  };
  std::deque<entry> entries_;
};

}  // namespace mcpbx::mcp::supervise
