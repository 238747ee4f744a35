// The working part of a remote connection: carries each message in an exchange of its own and keeps the session that
// the server gave. Its exchanges keep it alive, so that its users may drop it inside any event.
#pragma once
#include "mcp/client/connect/connector.hpp"
#include "mcp/client/connect/remote/remote_connector.hpp"
#include "mcp/client/connect/remote/remote_verdicts.hpp"
#include "mcp/http/client/http_client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/rpc/outgoing.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/rate_limit.hpp"
#include "mcp/support/recycled.hpp"
#include "mcp/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::mcp::remote {

class message_post;
class event_channel;
class farewell;

/// State of the present and of past connections of one server. The links share it, since they may outlive the connector
/// by a turn.
struct remote_record {
  std::string server, address;
  remote_means with;
  std::string transport, problem;  ///< as in remote_status
  const void* present = nullptr;   ///< the latest link
};

/// A message that is to be sent, with what its headers repeat.
struct posted_message {
  json::segments body;
  std::int64_t id = 0;  ///< of a request; 0: a notification or a response
  std::string method;   ///< "" for a response
  std::string revision;
  bool modern = false;
  std::string name;
  std::vector<std::pair<std::string, std::string>> fields;
  bool response = false;            ///< to a question of the server
  std::int64_t about = 0;           ///< response: the request of ours in whose stream the server asked, or 0
  bool answered_elsewhere = false;  ///< over the deprecated transport, whose answers come in its one stream
  bool early = false;               ///< request: sent before the server had taken the end of the handshake
  bool in_turn = false;             ///< request: to be sent after that, since the server has refused it before

  /// Returns true if `other` is its method.
  bool is(std::string_view other) const noexcept { return other == method; }
  /// Returns true for a notification of an extension, of which a caller may send any number.
  bool is_extra() const;
  /// Returns true if it must not reach the server twice.
  bool once() const;
  /// Returns true if it asks for a list of MCP's, which does no harm however often and early it is asked for. A method
  /// of an extension may do anything, whatever its name.
  bool asks_list() const { return id != 0 && !once() && method.ends_with("/list"); }
};

class remote_core final : public std::enable_shared_from_this<remote_core> {
 public:
  /// Bounds on exchanges at the same time: of requests, and of notifications and responses.
  static constexpr std::size_t most_posts = 1024, most_notes = 64;
  /// The same of notifications of extensions, and on their bytes. One that finds others and no room is dropped.
  static constexpr std::size_t most_extra = 16, most_extra_bytes = std::size_t{1} << 20;
  /// Time in which other requests may still learn that the session is gone.
  static constexpr milliseconds expiry_grace{1'000};
  /// Time in which a stream may be ended by its server after its answer, so that its connection can be used again.
  static constexpr milliseconds drain_grace{1'000};

  /// Time for the server to accept the end of the handshake and to answer the lists that were sent before; after it,
  /// requests are sent in any case.
  static constexpr milliseconds handshake_wait{5'000};

  remote_core(std::shared_ptr<remote_record> record, remote_spec spec, connect::link_events& link);
  ~remote_core();
  remote_core(const remote_core&) = delete;
  remote_core& operator=(const remote_core&) = delete;

  // For the session's transport.
  void start(transports::transport_events& events) { events_ = &events; }
  void send(const json::segments& text, rpc::outgoing what);
  void close_transport();

  // For the link. end() returns false if nothing is open any more.
  bool end(connect::ending step);
  /// Closes everything without an event.
  void drop();

  // For the exchanges.
  time_source& time() const noexcept { return record_->with.time; }
  const remote_record& record() const noexcept { return *record_; }
  bool over() const noexcept { return over_; }
  /// Returns true once the session is being ended: what waits is not sent any more.
  bool closing() const noexcept { return closing_; }
  bool proven() const noexcept { return proven_; }
  bool has_session() const noexcept { return !session_.empty(); }
  /// Returns the source of tokens, or null: there is none, or the entry has an Authorization header of its own.
  connect::authorizer* tokens() const noexcept { return spec_.tokens.get(); }
  /// Returns the predicate for a server that answers 401.
  std::string unauthorized() const;
  /// Makes requests for the server with the headers that all of them have.
  http::clients::request make_post(const posted_message& m, const std::string& url);
  http::clients::request make_get(const std::string& last_id) const;
  std::unique_ptr<http::clients::exchange> begin(http::clients::request r, http::clients::response_events& events) {
    return record_->with.client.start(std::move(r), events);
  }
  const std::string& url() const noexcept { return url_; }
  const rpc::line_framer::options& framing() const noexcept { return record_->with.framing; }

  void deliver(rpc::message&& m, std::int64_t about);
  void deliver_fault(rpc::message_fault&& f);
  /// Takes the session id that came with the answer to initialize.
  void take_session(std::string_view id);
  /// Uses another address of the same origin from now on.
  void moved_to(std::string url) { url_ = std::move(url); }
  /// Removes the exchange of a request; `drain`: its server may end its stream first.
  void post_ended(message_post& post, bool drain);
  /// The server has taken the end of the handshake: listens, then sends the requests that wait for it.
  void initialized();
  /// The server has taken the end of the handshake, or will not: sends the requests that wait for it.
  void handshake_over();
  void note_ended(message_post& post, bool accepted);
  /// Reports that a response does not reach the server. `surely`: the request that it was about cannot go on, so it
  /// fails. Notifications are only logged.
  void undelivered(const posted_message& m, const std::string& why, bool surely);
  /// Sends a request that has come too early for the server once more, after the end of the handshake.
  void send_in_turn(message_post& post, posted_message m);
  /// Reports that a request gets no answer.
  void lost(message_post& post, errc code, std::string why, bool unseen = false);
  /// Ends the connection before it has proven itself.
  /// Adds a way out to `why` unless that has one (`mend`).
  void not_opened(std::string why, std::string_view problem, milliseconds wait = {}, bool mend = true);
  /// Ends the session in favour of a new one. `unseen`: the request that was refused because of it, or 0.
  void expire(const std::string& how, std::int64_t unseen);
  /// Ends the connection, because the server or the network has ended it.
  void ended(const std::string& how, std::string_view problem);
  /// Tries the deprecated transport with the message that was refused. Returns false if that was tried before.
  bool try_events(posted_message m, std::string refusal);
  /// The event stream of the deprecated transport has told where messages go.
  void endpoint_known(std::string endpoint);
  /// There is no event stream of the deprecated transport. `unreachable`: no connection could be made.
  void no_endpoint(std::string why, std::string_view problem, bool unreachable);
  /// Returns true if the deprecated transport is tried first because a neighbour speaks it, and nothing else says so.
  bool guesses_events() const noexcept { return guessed_ && way_ == way::finding_events; }
  /// Returns true if earlier connections to the address have found that it speaks a revision with a handshake.
  bool legacy_known() const noexcept { return known_ == remote_way::legacy; }
  void farewell_done();
  /// The answer to server/discover was lost on the way, or was an error of a gateway: it says nothing about the server.
  void probe_failed() { probed_ = false; }

 private:
  enum class way : std::uint8_t { streamable, finding_events, events };
  void post(posted_message m);
  void refuse(posted_message m, const std::string& why);
  void note_undelivered(const posted_message& m, const std::string& why);
  void refuse_soon(std::int64_t id, errc code, std::string why, bool unseen);
  void tell_refused();
  void listen();
  void prove();
  void expect();
  void note_way(remote_way found);
  void forget_way();
  bool must_wait(const posted_message& m) const;
  bool has_room_for_extra(std::size_t bytes) const;
  void handshake_waited();
  void release_waiting();
  void report_expiry();
  void look_at_expiry();
  void clear();
  void arm_drain();
  void finish_soon();
  std::shared_ptr<const http::clients::header_block> common_headers(std::string_view revision,
                                                                    std::string_view session);
  void add_token(std::vector<http::header>& headers) const;

  std::shared_ptr<remote_record> record_;
  remote_spec spec_;
  std::string url_, origin_, place_;                // place_: the address, by which it is remembered
  remote_way known_ = remote_way::unknown;          // the verdict of earlier connections on it
  connect::link_events* link_;                      // null once the last event was given or nobody waits for one
  transports::transport_events* events_ = nullptr;  // null once the session has left
  way way_ = way::streamable;
  std::string session_, revision_, endpoint_;
  std::shared_ptr<const http::clients::header_block> common_;  // made for the two below
  std::string common_revision_, common_session_;
  bool modern_ = false, proven_ = false, over_ = false, closing_ = false, expiring_ = false;
  bool initialized_ = false, events_tried_ = false;
  bool guessed_ = false;       // the deprecated transport is tried first because a neighbour speaks it
  bool probed_ = false;        // server/discover was sent, and did not fail on the way
  bool used_ = false;          // a request other than those that open the conversation was answered
  bool noted_ = false;         // the verdict of this connection was
  bool initializing_ = false;  // notifications/initialized is under way and not taken yet
  std::string refusal_;        // the reason for trying the deprecated transport

  recycling_map<std::int64_t, std::shared_ptr<message_post>> posts_;
  std::vector<std::shared_ptr<message_post>> notes_;
  std::vector<std::pair<time_point, std::shared_ptr<message_post>>> draining_;
  std::shared_ptr<event_channel> channel_;
  std::shared_ptr<farewell> farewell_;
  std::vector<posted_message> waiting_;  // for the endpoint, or for the end of the handshake
  std::vector<rpc::lost_request> refused_;
  connect::link_expiry expiry_;
  std::unique_ptr<timer> soon_, drain_timer_, expiry_timer_, handshake_timer_;
  rate_limit log_lines_{1, 5};
  std::int64_t probe_ = 0, opening_ = 0;  // requests that open the conversation
};

}  // namespace mcpbx::mcp::remote
