// A connection to the daemon's socket as bytes: lines of JSON-RPC, or one answer of HTTP. Nothing is filtered or put in
// order, so that a transcript shows what came, as it came.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::transcripts {

class wire {
 public:
  /// Fails the test when nobody listens at `socket`.
  explicit wire(const std::string& socket);
  ~wire();
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;

  void send(std::string_view bytes) const;
  /// Returns the next line without its end; nothing when the daemon has closed. Fails the test at the watchdog.
  std::optional<std::string> line();
  /// Returns all that comes until the daemon closes. Fails the test at the watchdog.
  std::string rest();
  /// Says that nothing more comes; reading goes on.
  void end_input() const;

 private:
  bool read_more();
  int fd_;
  std::string in_;
};

/// Returns an answer of HTTP with the body of a chunked one put together: the sizes of chunks depend on the time.
std::string without_chunks(std::string_view answer);

}  // namespace mcpbx::transcripts
