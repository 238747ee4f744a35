// A tool server without a process: each connection is a memory pair, and the test holds its other end.
#pragma once
#include "mcp/client/connect/connector.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/transport/memory_pair.hpp"
#include "test/support/scripted_process.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::test {

/// A well-behaved server of the legacy era with the tool "echo", in memory.
class memory_server final : public mcp::transports::transport_events {
 public:
  explicit memory_server(std::unique_ptr<mcp::transports::transport> end) : end_(std::move(end)) { end_->start(*this); }

  bool ignores_end = false;
  std::vector<mcp::connect::ending> steps;  ///< steps taken to end its connection
  std::function<void()> on_left;            ///< called when the connection has ended
  /// Closes the connection.
  void leave() {
    end_->close();
    if (on_left) on_left();
  }

  void on_message(mcp::rpc::message&& m) override {
    if (m.type != mcp::rpc::message::kind::request) return;
    if (m.method() == "initialize")
      answer(m, R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{}})");
    else if (m.method() == "tools/list")
      answer(m, tools_page({tool_definition("echo")}));
    else if (m.method() == "tools/call")
      answer(m, text_result("from memory"));
    else
      end_->send(mcp::rpc::make_error(m.id, {mcp::rpc::code::method_not_found, "no", {}}),
                 mcp::rpc::outgoing::response());
  }
  void on_fault(mcp::rpc::message_fault) override {}
  bool on_input_end() override { return ignores_end; }
  void on_closed(const error&) override {
    if (on_left) on_left();
  }

 private:
  void answer(const mcp::rpc::message& request, std::string_view result) {
    end_->send(mcp::rpc::make_result(request.id, json::raw_json::own(result)), mcp::rpc::outgoing::response());
  }
  std::unique_ptr<mcp::transports::transport> end_;
};

/// A connector to memory servers. Everything happens in turns of `io`.
class memory_connector final : public mcp::connect::connector {
 public:
  /// The part that the test keeps while the client owns the connector.
  struct record {
    boost::asio::io_context& io;
    std::vector<std::shared_ptr<memory_server>> servers{};  ///< servers of all connections
    std::function<void(memory_server&)> on_each{};          ///< called with each new server
    mcp::connect::link_failure failure{};                   ///< connecting fails with this failure if it has a reason
    int attempts = 0;
  };
  explicit memory_connector(record& r) : record_(r) {}

  std::unique_ptr<mcp::connect::server_link> open(mcp::connect::link_events& events) override {
    ++record_.attempts;
    return std::make_unique<link>(record_, events);
  }
  std::string_view force_name() const override { return "closing it"; }

 private:
  class link final : public mcp::connect::server_link {
   public:
    link(record& r, mcp::connect::link_events& events) : events_(&events) {
      post(r.io, [this, &r] { connect(r); });
    }
    ~link() override {
      if (!server_) return;
      server_->on_left = nullptr;
      server_->leave();
    }
    link(const link&) = delete;
    link& operator=(const link&) = delete;
    bool end(mcp::connect::ending step) override {
      if (!server_) {
        alive_.reset();
        return false;
      }
      server_->steps.push_back(step);
      if (step == mcp::connect::ending::force && !server_->ignores_end) server_->leave();
      return true;
    }

   private:
    void post(boost::asio::io_context& io, std::function<void()> work) {
      boost::asio::post(io, [alive = std::weak_ptr(alive_), w = std::move(work)] {
        if (!alive.expired()) w();
      });
    }
    void connect(record& r) {
      if (!r.failure.why.empty()) return events_->on_not_opened(r.failure);
      auto [ours, theirs] = mcp::transports::make_memory_pair(r.io.get_executor());
      server_ = std::make_shared<memory_server>(std::move(theirs));
      server_->on_left = [this, &r] { post(r.io, [this] { events_->on_ended("left"); }); };
      r.servers.push_back(server_);
      if (r.on_each) r.on_each(*server_);
      events_->on_open(std::move(ours));
    }
    mcp::connect::link_events* events_;
    std::shared_ptr<memory_server> server_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  };

  record& record_;
};

}  // namespace mcpbx::test
