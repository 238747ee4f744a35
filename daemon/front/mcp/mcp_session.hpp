// A session of a caller of 2025-03-26 … 2025-11-25 at /mcp, which begins with `initialize` and is named by the header
// Mcp-Session-Id. It has one mcp::callers::caller_session; each request's answer is a stream of its own, and what
// belongs to no request goes to the stream that a GET opens.
#pragma once
#include "daemon/front/mcp/answer_stream.hpp"
#include "daemon/front/mcp/mcp_host.hpp"
#include "mcp/server/caller_session.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::daemon::mcp_door {

class mcp_session final : public std::enable_shared_from_this<mcp_session>,
                          public front::news_reader,
                          private mcp_host,
                          private answer_stream::owner {
 public:
  /// Time without a connection and without an open request after which a session ends.
  static constexpr milliseconds longest_idle{30 * 60'000};
  /// Time for which a stream without a connection is kept, and the most of them, and their bytes, in one session.
  static constexpr milliseconds longest_lost{5 * 60'000};
  static constexpr std::size_t most_lost = 64, most_lost_bytes = std::size_t{4} << 20;

  /// `door` and `o` must outlive the session.
  mcp_session(front::door_context& door, const mcp::callers::caller_session::options& o, std::string id,
              mcp_identity who, pid_t pid, mcp::clients::call_scope_ptr scope);
  ~mcp_session() override { close(); }

  /// Answers the POST of a message, which belongs to this session.
  void post(const std::shared_ptr<routes::exchange>& x, mcp::rpc::message&& m);
  /// Opens the stream for what belongs to no request, instead of an earlier one, or goes on with the stream of the
  /// event `last_event` ("": none). `place` is released when the connection is over.
  void get(const std::shared_ptr<routes::exchange>& x, std::string_view last_event, std::shared_ptr<void> place);
  void list_changed(const mcp::protocol::feature_kind& kind) override { session_.list_changed(kind); }
  /// Cancels everything open and ends all streams.
  void close();

  const std::string& id() const noexcept { return id_; }
  using mcp_host::identity;
  /// Returns false after an `initialize` that failed, and after close().
  bool usable() const noexcept { return !closed_ && !failed_; }
  /// Returns true if no request is open and no connection is here.
  bool idle() const;
  time_point used() const noexcept { return used_; }
  std::size_t open_requests() const noexcept { return session_.open(); }
  const mcp::callers::caller_session::counters& counts() const noexcept { return session_.counts(); }

  /// Sends comments on silent streams, and drops streams that were lost long ago.
  void look_after(time_point now);
  /// Drops all streams without a connection, when memory runs short.
  void drop_lost();

 private:
  // Implements the rest of caller_host.
  void send(const mcp::server::answered& what, const json::segments& text) override;
  void send_nothing(std::uint64_t about) override;
  void send_progress(std::uint64_t serial, const json::segments& text) override;
  void send_list_changed(const mcp::protocol::feature_kind& kind, const json::segments& text) override;
  void send_ask(std::uint64_t about, const json::segments& text, mcp::rpc::outgoing what) override;
  void send_note(const mcp::server::note& n, const json::segments& text) override;
  // Implements answer_stream::owner.
  void on_lost(answer_stream& s) override;
  void on_over(answer_stream& s) override;

  struct posted {
    std::shared_ptr<answer_stream> answer;
    std::uint64_t last = 0;       // serial of its last request; the first one is the key
    std::shared_ptr<void> place;  // of the connection that has resumed it
  };
  answer_stream* stream_of(std::uint64_t serial) const;
  answer_stream& stream_for(std::uint64_t serial) const;
  void answer_request(const std::shared_ptr<routes::exchange>& x, mcp::rpc::message&& m);
  std::shared_ptr<answer_stream> make_stream(std::uint64_t number, patience* wait, std::uint64_t first_event = 1);
  void release_place(const answer_stream& s);
  void trim_lost();

  const std::string id_;
  time_point used_;
  mcp::callers::caller_session session_;
  std::shared_ptr<answer_stream> own_;      // of the GET
  std::shared_ptr<void> place_;             // of its connection
  std::map<std::uint64_t, posted> posted_;  // by the serial of the first request
  bool closed_ = false, failed_ = false;
};

}  // namespace mcpbx::daemon::mcp_door
