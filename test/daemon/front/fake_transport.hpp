// A connection whose other end is the test: it says lines, it reads or it does not.
#pragma once
#include "mcp/rpc/line_framer.hpp"
#include "mcp/transport/transport.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::test {

class fake_transport final : public mcp::transports::transport {
 public:
  /// State that the test keeps while the door owns the transport.
  struct line {
    std::vector<std::string> sent;
    std::size_t unsent = 0;
    bool reads = true;  ///< false: what is sent stays unsent
    bool paused = false, closed = false, finished = false;
    mcp::transports::transport_events* events = nullptr;
    mcp::rpc::line_framer framer{mcp::rpc::line_framer::options{}};

    void say(std::string_view text) { framer.feed(std::string(text) + "\n", *events); }
    /// The peer reads `bytes` of what waits for it.
    void take(std::size_t bytes) {
      unsent -= bytes;
      if (unsent == 0 && events) events->on_drained();
    }
  };

  explicit fake_transport(line& l) : line_(l) {}
  void start(mcp::transports::transport_events& events) override { line_.events = &events; }
  void send(const json::segments& text, mcp::rpc::outgoing) override {
    if (line_.closed) return;
    line_.sent.push_back(text.str());
    if (!line_.reads) line_.unsent += text.size();
  }
  std::size_t unsent() const noexcept override { return line_.unsent; }
  void pause_reading(bool paused) override { line_.paused = paused; }
  void finish_sending() override { line_.finished = true; }
  void close() override { line_.closed = true; }

 private:
  line& line_;
};

}  // namespace mcpbx::test
