// One answer to a request of /mcp: a JSON response, or server-sent events once something else has to be said before it,
// or it takes long. A stream of a session outlives its connection: what has left and what waits can be had again over
// another one, from the event on that the caller names (2025-11-25, transports, "Resumability and Redelivery").
#pragma once
#include "daemon/front/base/door_context.hpp"
#include "daemon/front/base/news_round.hpp"
#include "daemon/front/base/outgoing_queue.hpp"
#include "daemon/front/exchange/exchange.hpp"
#include "daemon/front/mcp/patience.hpp"
#include "mcp/support/small_queue.hpp"
#include "mcp/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::mcp_door {

class answer_stream final : public std::enable_shared_from_this<answer_stream>,
                            public routes::exchange::work,
                            private mcp::transports::transport,
                            private patience::waiter,
                            private front::outgoing_queue::owner,
                            private front::news_round::outlet {
 public:
  class owner {
   public:
    virtual ~owner() = default;
    /// The connection has left before the answer was complete. Unless reachable(), nothing can reach the caller on this
    /// stream any more.
    virtual void on_lost(answer_stream& s) = 0;
    /// The response has been given to the connection, or everything has been dropped because the caller did not read.
    /// Comes in a turn of its own.
    virtual void on_over(answer_stream& s) = 0;
  };
  struct options {
    std::uint64_t number = 0;  ///< names the stream in event ids
    bool resumable = false;    ///< events have ids and are kept
    bool primed = false;       ///< the first event is empty and has the wait before the next connection
    std::uint64_t first_event = 1;
    /// Waits until a request without an answer gets the beginning of a stream; null: it never does. Must outlive the
    /// call of serve().
    patience* patience = nullptr;
  };
  /// Most events, and bytes of them, that are kept of one stream; a last event up to `largest_kept` is kept alone.
  static constexpr std::size_t most_kept = 256, bytes_kept = std::size_t{1} << 20, largest_kept = std::size_t{4} << 20;
  /// Silence after which a stream sends a comment, so that nobody on the way closes it as dead.
  static constexpr milliseconds longest_silence{15'000};
  /// Time after which a caller that has lost its connection should come again.
  static constexpr int retry_ms = 1'000;

  /// `door` must outlive the stream; `told` too, or disown() must be called before.
  answer_stream(front::door_context& door, owner& told, options o);

  /// Takes the request to answer. Headers are added to the answer, be it JSON or a stream.
  void serve(const std::shared_ptr<routes::exchange>& x, std::vector<http::header> headers = {});
  /// Begins a stream that has no connection yet.
  void hold();
  /// Goes on with the stream on `x`, instead of the connection that it may have now.
  void stream_to(const std::shared_ptr<routes::exchange>& x);
  /// Does the same and sends the events behind number `after` once more.
  void resume(const std::shared_ptr<routes::exchange>& x, std::uint64_t after);
  /// Drops the headers that serve() was given.
  void drop_headers() { headers_.clear(); }

  /// Answers. `status` is that of an answer without a stream.
  void respond(const json::segments& text, int status);
  /// Ends the answer without a response: the request was cancelled.
  void respond_nothing();
  void push(const json::segments& text, mcp::rpc::outgoing what);
  void push_progress(std::uint64_t request, const json::segments& text);
  void push_merged(std::string key, const json::segments& text);
  /// Sends a notification that may be lost while the caller reads slowly.
  void push_droppable(const json::segments& text);
  /// Ends the connection. Nothing follows on this stream.
  void end();
  /// Forgets the owner.
  void disown() noexcept { owner_ = nullptr; }
  /// Sends a comment if nothing was sent for long.
  void keep_alive(time_point now);

  std::uint64_t number() const noexcept { return options_.number; }
  bool connected() const noexcept { return x_ != nullptr; }
  bool streaming() const noexcept { return phase_ == phase::streaming; }
  bool over() const noexcept { return phase_ == phase::over; }
  /// Returns true while pushed messages can still reach the caller, now or over its next connection.
  bool reachable() const noexcept { return phase_ != phase::over && (x_ != nullptr || can_resume()); }
  bool can_resume() const noexcept { return options_.resumable && out_ != nullptr; }
  /// Returns the bytes that wait or are kept.
  std::size_t bytes() const noexcept { return kept_bytes_ + waiting(); }
  time_point changed() const noexcept { return changed_; }
  std::uint64_t next_event() const noexcept { return next_event_; }
  std::uint64_t dropped() const noexcept { return dropped_; }

  // Implements exchange::work.
  void on_drained() override;
  void on_left() override;
  std::size_t waiting() const override { return out_ ? out_->bytes() - unsent() : 0; }

 private:
  enum class phase : std::uint8_t { undecided, streaming, over };
  struct kept_event {
    std::uint64_t number = 0;
    json::segments text;
  };

  // Implements transport, for the queue.
  void start(mcp::transports::transport_events&) override {}
  void send(const json::segments& text, mcp::rpc::outgoing what) override;
  std::size_t unsent() const noexcept override;
  void pause_reading(bool) override {}
  void finish_sending() override {}
  void close() override {}
  // Implements outgoing_queue::owner.
  void ask_flush() override;
  void on_stuck(const std::string& why) override;

  // Implements patience::waiter.
  void on_waited() override;
  // Implements news_round::outlet.
  void deliver() override;

  bool begin();
  void prime();
  void open_on(const std::shared_ptr<routes::exchange>& x);
  void write(std::uint64_t event, const json::segments& text);
  void keep(std::uint64_t event, const json::segments& text);
  void complete();

  front::door_context& door_;
  owner* owner_;
  const options options_;
  phase phase_ = phase::undecided;
  std::shared_ptr<routes::exchange> x_;  // null: no connection now
  std::vector<http::header> headers_;
  std::unique_ptr<front::outgoing_queue> out_;  // null before the stream has begun
  small_queue<kept_event> kept_;
  std::size_t kept_bytes_ = 0;
  bool delivers_ = false;  // one event leaves, and no other one follows soon
  std::uint64_t next_event_, dropped_ = 0;
  time_point changed_;  // of the last event, or of the connection
};

}  // namespace mcpbx::daemon::mcp_door
