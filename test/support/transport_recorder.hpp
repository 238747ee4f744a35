// Notes what a transport tells its user.
#pragma once
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/transport/transport.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::test {

inline const std::string ping = R"({"jsonrpc":"2.0","method":"ping"})";

class recorder : public mcp::transports::transport_events {
 public:
  std::vector<std::string> messages;
  std::vector<mcp::rpc::message_fault> faults;
  std::optional<error> closed;
  int closings = 0, drained = 0;
  std::size_t message_bytes = 0;
  bool keep_texts = true;
  std::function<void(const mcp::rpc::message&)> on_each;

  void on_message(mcp::rpc::message&& m) override {
    message_bytes += m.whole.text().size();
    messages.emplace_back(keep_texts ? m.whole.text() : std::string_view());
    if (on_each) on_each(m);
  }
  void on_fault(mcp::rpc::message_fault f) override { faults.push_back(std::move(f)); }
  void on_drained() override { ++drained; }
  void on_closed(const error& why) override {
    ++closings;
    closed = why;
  }
};

inline json::segments as_segments(std::string_view text) {
  json::segments s;
  s.append_copy(text);
  return s;
}

/// A notification of `bytes` bytes in all.
inline std::string notification_of(std::size_t bytes) {
  const std::string head = R"({"jsonrpc":"2.0","method":"m","params":{"t":")";
  const std::string tail = R"("}})";
  return head + std::string(bytes - head.size() - tail.size(), 'x') + tail;
}

}  // namespace mcpbx::test
