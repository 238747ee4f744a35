// A caller's session with scripted surroundings, as a caller that speaks in lines.
#pragma once
#include "test/mcp/server/fake_session.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::test {

/// A caller: lines in, lines out.
class fake_caller final : public mcp::rpc::message_sink {
 public:
  explicit fake_caller(mcp::callers::caller_session::options o = {.version = "1.2.3"},
                       mcp::rpc::line_framer::options framing = {})
      : options(std::move(o)), session(host, options), framer_(framing) {}

  void say(std::string_view line) { framer_.feed(std::string(line) + "\n", *this); }
  /// Sends a line and returns the one line that came back; "" if none did.
  std::string ask(std::string_view line) {
    host.sent.clear();
    say(line);
    REQUIRE(host.sent.size() <= 1);
    return host.sent.empty() ? "" : host.sent.front();
  }
  void initialize(std::string_view revision = "2025-11-25", std::string_view capabilities = "{}") {
    say(R"({"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":")" + std::string(revision) +
        R"(","capabilities":)" + std::string(capabilities) + R"(,"clientInfo":{"name":"test","version":"1"}}})");
    say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    host.sent.clear();
  }
  void on_message(mcp::rpc::message&& m) override { session.on_message(std::move(m)); }
  void on_fault(mcp::rpc::message_fault f) override { session.on_fault(f); }

  fake_host host;
  mcp::callers::caller_session::options options;
  mcp::callers::caller_session session;

 private:
  mcp::rpc::line_framer framer_;
};

}  // namespace mcpbx::test
