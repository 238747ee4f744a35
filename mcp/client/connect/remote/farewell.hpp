// Tells a server that its session is not needed any more: DELETE (2025-11-25, "Session Management").
#pragma once
#include "mcp/client/connect/remote/remote_core.hpp"
#include "mcp/http/client/http_client.hpp"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::mcp::remote {

class farewell final : public std::enable_shared_from_this<farewell>, private http::clients::response_events {
 public:
  explicit farewell(std::shared_ptr<remote_core> core) : core_(std::move(core)) {}
  void start() {
    auto r = core_->make_get({});
    r.method = "DELETE";
    http_ = core_->begin(std::move(r), *this);
  }
  void drop() { http_.reset(); }

 private:
  // Any answer will do: 405 means that the server ends sessions by itself.
  void on_head(int, const std::vector<http::header>&) override { end(); }
  void on_body(std::string_view) override {}
  void on_end() override { end(); }
  void on_failure(http::clients::failure) override { end(); }
  void end() {
    const auto self = shared_from_this();
    http_.reset();
    if (!std::exchange(ended_, true)) core_->farewell_done();
  }

  std::shared_ptr<remote_core> core_;
  std::unique_ptr<http::clients::exchange> http_;
  bool ended_ = false;
};

}  // namespace mcpbx::mcp::remote
