// One message on its way to the server, and the answer to it: a POST, and for a request whose stream is dropped the
// GETs that resume it.
#pragma once
#include "mcp/client/connect/remote/answer_reader.hpp"
#include "mcp/client/connect/remote/remote_core.hpp"
#include "mcp/client/connect/remote/resume_pace.hpp"
#include "mcp/http/client/http_client.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::remote {

class message_post final : public std::enable_shared_from_this<message_post>,
                           private http::clients::response_events,
                           private rpc::message_sink {
 public:
  /// `url`: empty for the present address of the server.
  message_post(std::shared_ptr<remote_core> core, posted_message m, std::string url);

  void start();
  /// Closes the exchange without an event.
  void drop();
  std::int64_t id() const noexcept { return message_.id; }
  bool modern() const noexcept { return message_.modern; }
  bool is_response() const noexcept { return message_.response; }
  bool is_extra() const { return message_.is_extra(); }
  std::size_t size() const noexcept { return message_.body.size(); }
  bool is(std::string_view method) const noexcept { return message_.is(method); }
  /// Returns true once the server has begun to answer.
  bool has_head() const noexcept { return seen_; }
  /// Takes any failure of a request that was sent before the server had taken the end of the handshake, or no answer to
  /// it, for a refusal of that, and leaves it to the core to send it once more. Returns false if it was not early.
  bool came_too_early();
  /// Ends a request whose server asked a question that cannot be answered. `why` is a predicate about the answer.
  void answer_refused(const std::string& why);
  /// Returns the predicate for such a request.
  static std::string unanswered(const std::string& why);
  /// Returns true if it waits to be sent once more.
  bool waits() const noexcept { return !http_ && timer_ && repetitions_ > 0; }
  /// Returns true while an exchange is under way.
  bool is_at_server() const noexcept { return http_ != nullptr; }
  /// Returns true if the server cannot have looked at the message, since not all of it was sent.
  bool surely_unseen() const noexcept { return !resuming_ && !seen_ && (!http_ || !http_->sent()); }

 private:
  static constexpr int most_repetitions = 3, most_redirects = 5, most_resumptions_failed = 8, most_refusals = 4;
  static constexpr milliseconds longest_login{10'000};  // wait of an opening for a login
  static constexpr std::size_t longest_error = std::size_t{64} << 10;
  static constexpr std::string_view not_known = "it is not known whether it did what was asked";
  static constexpr milliseconds longest_wait{60'000};
  static constexpr milliseconds longest_hold{
      300'000};  // of a server that may be asked again after a wait of its choice

  void on_head(int status, const std::vector<http::header>& headers) override;
  void on_body(std::string_view bytes) override;
  void on_pause() override;
  void on_end() override;
  void on_failure(http::clients::failure f) override;
  void on_message(rpc::message&& m) override;
  void on_fault(rpc::message_fault f) override;

  void begin();
  void send();
  const std::string& url() const { return url_.empty() ? core_->url() : url_; }
  bool ask_for_token();
  void limit_login();
  void refused_for_good();
  void begin_answer(const std::vector<http::header>& headers);
  void judge();
  void judge_note(const std::string& what);
  void judge_resumption();
  std::optional<rpc::message> own_answer() const;
  bool deliver_error();
  void redirected(std::string_view location);
  void keep_address();
  void stream_ended(const std::string& why);
  void resume_later(const std::string& why);
  void resume();
  void not_resumed(const std::string& why);
  void repeat_later(milliseconds wait);
  void unreachable(const http::clients::failure& f);
  milliseconds wait_asked() const;
  void lost(errc code, std::string why);
  void undelivered(const std::string& why, bool surely);
  void done();

  std::shared_ptr<remote_core> core_;
  posted_message message_;
  std::string url_;  // of its own: the endpoint of the deprecated transport, or where it was redirected to
  std::unique_ptr<http::clients::exchange> http_;
  answer_reader reader_;
  resume_pace pace_;
  std::unique_ptr<timer> timer_;
  int status_ = 0, repetitions_ = 0, redirects_ = 0, resumptions_failed_ = 0;
  std::uint64_t count_before_ = 0;  // messages of the streams before this one
  bool asking_ = false;             // for a token, maybe by a login
  bool seen_ = false, answered_ = false, resuming_ = false, ended_ = false;
  bool moved_ = false;           // url_ is an address that it was redirected to
  milliseconds asked_wait_{-1};  // the Retry-After of the present answer; negative: none
  int refusals_ = 0;             // answers 401 and 403 after which the message was sent again
  std::string token_;            // the Authorization header that was sent, if there is a source of tokens
  std::string challenge_;        // WWW-Authenticate of the present answer
  std::string error_;            // the body of an answer with an error status
};

}  // namespace mcpbx::mcp::remote
