// A stream of events that belongs to no request: the GET stream of a session (2025-03-26 to 2025-11-25, "Listening for
// Messages from the Server"), or the one stream of the deprecated HTTP+SSE transport of 2024-11-05.
#pragma once
#include "mcp/client/connect/remote/answer_reader.hpp"
#include "mcp/client/connect/remote/remote_core.hpp"
#include "mcp/client/connect/remote/resume_pace.hpp"
#include "mcp/http/client/http_client.hpp"

#include <memory>
#include <string>
#include <vector>

namespace mcpbx::mcp::remote {

class event_channel final : public std::enable_shared_from_this<event_channel>,
                            private http::clients::response_events,
                            private rpc::message_sink {
 public:
  /// Time in which the deprecated transport must name its endpoint.
  static constexpr milliseconds endpoint_wait{10'000};
  /// The same if only a neighbour of the server was found to speak it: a stream of another kind may be silent.
  static constexpr milliseconds guess_wait{2'000};
  /// Attempts in a row that cannot reach the server, after which it counts as unreachable.
  static constexpr int most_failures = 4;
  /// Answers 401 in a row after which the server counts as one that wants a login.
  static constexpr int most_refusals = 4;
  /// Redirects within the origin that are followed.
  static constexpr int most_redirects = 5;

  /// `deprecated`: the stream of HTTP+SSE.
  event_channel(std::shared_ptr<remote_core> core, bool deprecated);

  void start();
  /// Closes the stream without an event.
  void drop();

 private:
  void on_head(int status, const std::vector<http::header>& headers) override;
  void on_body(std::string_view bytes) override;
  void on_end() override;
  void on_failure(http::clients::failure f) override;
  void on_message(rpc::message&& m) override;
  void on_fault(rpc::message_fault f) override;
  void broken(const std::string& why, std::string_view problem, bool unreachable);
  void again();
  bool redirected(std::string_view location);
  void refused(std::string_view challenge);

  std::shared_ptr<remote_core> core_;
  bool deprecated_;
  std::unique_ptr<http::clients::exchange> http_;
  answer_reader reader_;
  resume_pace pace_;
  std::unique_ptr<timer> timer_;
  std::uint64_t count_before_ = 0;
  int status_ = 0, failures_ = 0, refusals_ = 0, redirects_ = 0;
  std::string token_;    // the Authorization header that was sent, if there is a source of tokens
  bool asking_ = false;  // for a token, maybe by a login
  bool ended_ = false, has_endpoint_ = false, opened_ = false;
};

}  // namespace mcpbx::mcp::remote
