// Where a run gets its tools from: the supervisor's catalog, or a test's.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/supervise/supervisor.hpp"
#include "mcp/support/time.hpp"

#include <functional>

namespace mcpbx::daemon {

class tool_source {
 public:
  virtual ~tool_source() = default;
  /// The present catalog; never null.
  virtual mcp::catalog_ptr snapshot() const = 0;
  /// Calls `then` once no server is starting for the first time, or after `at_most`. Never from inside this call.
  virtual void when_settled(milliseconds at_most, std::function<void()> then) = 0;
};

/// The tools of the supervised servers.
class supervised_tools final : public tool_source {
 public:
  explicit supervised_tools(mcp::supervisor& servers) : servers_(servers) {}
  mcp::catalog_ptr snapshot() const override { return servers_.snapshot(); }
  void when_settled(milliseconds at_most, std::function<void()> then) override {
    servers_.when_settled(at_most, std::move(then));
  }

 private:
  mcp::supervisor& servers_;
};

}  // namespace mcpbx::daemon
