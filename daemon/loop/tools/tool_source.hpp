// The source of a run's tools: the supervisor's catalog, or that of a test.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/supervise/supervisor.hpp"
#include "mcp/support/time.hpp"

#include <functional>
#include <string>
#include <vector>

namespace mcpbx::daemon::tools {

/// A server without tools until a person has logged in to it.
struct waiting_server {
  std::string name;
  std::string sentence;  ///< names the server and the command that helps
};

/// Interface of such a source.
class tool_source {
 public:
  virtual ~tool_source() = default;
  /// Returns the present catalog; never null.
  virtual mcp::catalogs::catalog_ptr snapshot() const = 0;
  /// Calls `then` once no server is starting for the first time, or after `at_most`. Never calls it before returning.
  virtual void when_settled(milliseconds at_most, std::function<void()> then) = 0;
  /// Returns the servers that wait for a login, in the order of the configuration.
  virtual std::vector<waiting_server> waiting_for_login() const { return {}; }
};

/// The tools of the supervised servers.
class supervised_tools final : public tool_source {
 public:
  explicit supervised_tools(mcp::supervise::supervisor& servers) : servers_(servers) {}
  mcp::catalogs::catalog_ptr snapshot() const override { return servers_.snapshot(); }
  void when_settled(milliseconds at_most, std::function<void()> then) override {
    servers_.when_settled(at_most, std::move(then));
  }
  std::vector<waiting_server> waiting_for_login() const override;

 private:
  mcp::supervise::supervisor& servers_;
};

}  // namespace mcpbx::daemon::tools
