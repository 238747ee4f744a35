// A caller's outbox: what waits to be read by it, bounded and merged by rule, so that a slow reader costs bounded
// memory and never slows a tool server that others share (guarantees row 17). Knows no I/O; the time comes through its
// source.
//
// Answers never drop. Deltas of text join, progress keeps the last per token, logs drop the oldest with a count,
// list_changed is a flag. Over the bound the caller is not read any more; over it for too long, it is closed.
#pragma once
#include "daemon/front/event_stream.hpp"
#include "mcp/support/raw_json.hpp"
#include "mcp/support/time.hpp"
#include "mcp/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

namespace mcpbx::daemon {

class outgoing_queue {
 public:
  struct options {
    std::size_t bound = 8u << 20;         ///< bytes, over which the caller is not read
    milliseconds grace{30'000};           ///< time over the bound, after which it is closed
    std::size_t feed_below = 256u << 10;  ///< the transport is given more while it has less than this
    std::size_t max_logs = 256;           ///< log events that wait
  };
  /// Told by the queue; never from inside its destructor.
  class owner {
   public:
    virtual ~owner() = default;
    virtual void pause_reading(bool paused) = 0;
    /// flush() is to be called at the end of this turn.
    virtual void ask_flush() = 0;
    /// The caller has not read for too long. The queue may be destroyed from inside.
    virtual void on_stuck(const std::string& why) = 0;
  };
  struct counters {
    std::uint64_t joined = 0, replaced = 0, dropped_logs = 0;
  };

  /// `to`, `time`, `o` and `told` must outlive the queue.
  outgoing_queue(const options& o, time_source& time, mcp::transport& to, owner& told);
  ~outgoing_queue();
  outgoing_queue(const outgoing_queue&) = delete;
  outgoing_queue& operator=(const outgoing_queue&) = delete;

  /// A response, or anything else that must arrive.
  void push(const segments& text);
  void push_progress(std::uint64_t request, const segments& text);
  void push_list_changed();
  /// Deltas wait for the end of the turn, so that those that arrived together leave together.
  void push_event(const std::shared_ptr<event_stream>& stream, run_event e);
  void push_done(const std::shared_ptr<event_stream>& stream, raw_json result);

  /// Gives the transport what it may have. At the end of a turn, and when the transport has drained.
  void flush();
  /// Drops everything.
  void close();

  /// Bytes that have not left yet, here and in the transport.
  std::size_t bytes() const noexcept { return waiting_ + transport_.unsent(); }
  bool over() const noexcept { return over_; }
  const counters& counts() const noexcept { return counts_; }

 private:
  enum class kind : std::uint8_t { message, progress, list_changed, delta, event, log, done, gone };
  struct item {
    kind type = kind::message;
    run_event::kind event = run_event::kind::text;
    segments text{};  // the message, or the event's body
    std::string delta{};
    std::shared_ptr<event_stream> stream{};
    std::string key{};          // progress: what it is replaced by
    std::uint64_t dropped = 0;  // logs left out before this one
    std::size_t cost = 0;
  };

  bool may_send() const { return items_.empty() && transport_.unsent() < options_.feed_below; }
  item& add(item i);
  void recount(item& i);
  void forget(item& i);
  void replace_or_add(item i);
  void drop_oldest_log();
  segments render(item& i);
  void watch_bound();
  void on_deadline();

  const options& options_;
  time_source& time_;
  mcp::transport& transport_;
  owner& owner_;
  std::deque<item> items_;                                     // references stay valid: only its ends change
  std::unordered_map<const event_stream*, item*> last_delta_;  // deltas that can still grow
  std::unordered_map<std::string, item*> progress_;            // progress that can still be replaced
  std::deque<item*> logs_;
  std::uint64_t logs_left_out_ = 0;  // since the last log that stayed
  std::size_t waiting_ = 0;          // cost of the items
  std::size_t unsent_when_armed_ = 0;
  std::unique_ptr<timer> deadline_;
  bool list_changed_ = false, flush_asked_ = false, over_ = false, closed_ = false;
  std::string scratch_;
  counters counts_;
};

}  // namespace mcpbx::daemon
