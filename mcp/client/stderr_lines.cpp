// Keeps lines until their sum is too large, and wakes readers.
#include "mcp/client/stderr_lines.hpp"

#include "mcp/support/text.hpp"

#include <utility>

namespace mcpbx::mcp::clients {
namespace {

/// Cost of a line beside its text, so that empty lines are bounded, too.
constexpr std::size_t line_cost = 64;

}  // namespace

void stderr_lines::add(std::string_view text, std::int64_t at_ms) {
  lines_.push_back({next_++, at_ms, std::string(cut_utf8(text, longest_line))});
  bytes_ += lines_.back().text.size() + line_cost;
  while (bytes_ > most_bytes_ && lines_.size() > 1) {
    bytes_ -= lines_.front().text.size() + line_cost;
    lines_.pop_front();
  }
  // A reader may wait again, or end this object.
  for (const auto& [number, more] : std::exchange(waiting_, {})) more();
}

stderr_lines::wait stderr_lines::when_more(std::function<void()> more) {
  if (waiting_.size() >= most_waiting) return nullptr;
  const auto number = ++last_wait_;
  waiting_.emplace(number, std::move(more));
  return {self_.get(), [weak = std::weak_ptr(self_), number](void*) {
            if (const auto self = weak.lock()) (*self)->waiting_.erase(number);
          }};
}

}  // namespace mcpbx::mcp::clients
