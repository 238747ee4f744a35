// One MCP conversation, whichever way its messages travel: what the suites measure through. It shares no code with
// mcpbx.
#pragma once
#include "test/bench/process.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::bench {

class channel {
 public:
  using line_handler = std::function<void(std::string_view)>;

  /// `modern`: speaks 2026-07-28, otherwise 2025-11-25.
  explicit channel(bool modern) : modern_(modern) {}
  virtual ~channel() = default;
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Sends one message without a line break.
  virtual void send(std::string_view message) = 0;
  /// Waits for input, reads it and calls `f` for each message. Gives up after 60 s of silence.
  virtual void pump(const line_handler& f) = 0;
  /// Returns the process whose weight counts.
  virtual const process& own() const = 0;

  const std::string& tool() const noexcept { return tool_; }  ///< the name of an echo tool
  long next_id() noexcept { return ++last_id_; }
  /// Returns `params`, an object, with the `_meta` that a request of this era has.
  std::string params_of(std::string_view params) const;
  /// Sends one request and waits for its answer, 60 s at most.
  std::string request(std::string_view method, std::string_view params);
  /// Opens the conversation, where its era does that.
  void shake_hands();
  /// The whole list, page by page; the number of tools.
  int list_tools();

 protected:
  bool modern() const noexcept { return modern_; }

 private:
  bool modern_;
  std::string tool_;
  long last_id_ = 0;
};

}  // namespace mcpbx::bench
