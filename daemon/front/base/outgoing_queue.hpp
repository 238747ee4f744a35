// A caller's outbox: holds what the caller has not read yet, bounded and merged by rule, so that a slow reader costs
// bounded memory and never slows a tool server that others share (docs/guarantees.md, G17). Knows no I/O; the time
// comes through its source.
//
// A write costs more than what it carries, and wakes the caller: so what a source has may wait for more, as its `pace`
// says, and whatever leaves meanwhile takes it along.
//
// Answers never drop, progress keeps the last per token, a notification of a changed list leaves once. Streams of
// events (event_stream) are not copied in: they have a place in the line, and give their next event when it can leave.
// Over the bound the caller is not read any more; over it for too long, it is closed. Answers to what it had asked
// before still come: a caller that lets them pile up to the ceiling without reading is closed at once.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/time.hpp"
#include "mcp/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcpbx::daemon {

class outgoing_queue {
 public:
  struct options {
    std::size_t bound = 8u << 20;         ///< bytes, over which the caller is not read
    milliseconds grace{30'000};           ///< time over the bound, after which it is closed
    std::size_t ceiling = 40u << 20;      ///< bytes behind the message that is leaving: closed, unless it reads
    std::size_t feed_below = 256u << 10;  ///< the transport is given more while it has less than this
    milliseconds soon{1};                 ///< the longest that what may wait for more waits
  };
  /// How long what a source has may wait for more.
  enum class pace : std::uint8_t {
    at_once,  ///< not at all
    turn,     ///< to the end of this turn
    soon,     ///< for options::soon
  };
  /// Told by the queue; never from inside its destructor.
  class owner {
   public:
    virtual ~owner() = default;
    virtual void pause_reading(bool paused) = 0;
    /// flush() is to be called at the end of this turn.
    virtual void ask_flush() = 0;
    /// The caller has not read for too long. The queue may be closed from inside.
    virtual void on_stuck(const std::string& why) = 0;
  };
  /// Has notifications of its own, made when they can leave.
  class source;

  /// `to`, `time`, `o` and `told` must outlive the queue.
  outgoing_queue(const options& o, time_source& time, mcp::transport& to, owner& told);
  ~outgoing_queue();
  outgoing_queue(const outgoing_queue&) = delete;
  outgoing_queue& operator=(const outgoing_queue&) = delete;

  /// Takes a response, or a request of ours or its cancellation. It must arrive.
  void push(const segments& text, mcp::outgoing what = mcp::outgoing::response());
  void push_progress(std::uint64_t request, const segments& text);
  /// The notification of this method, which lives for ever; one that has not left yet stands for all.
  void push_list_changed(std::string_view method, const segments& text);
  /// `s` has something to give, or more of it.
  void ready(const std::shared_ptr<source>& s, pace how);

  /// Gives the transport what it may have. At the end of a turn, and when the transport has drained.
  void flush();
  /// Drops everything.
  void close();

  /// Bytes that have not left yet, here and in the transport.
  std::size_t bytes() const noexcept { return waiting_ + transport_.unsent(); }
  /// Bytes that the caller has ever taken.
  std::uint64_t taken() const { return given_ - transport_.unsent(); }
  bool over() const noexcept { return over_; }

 private:
  enum class kind : std::uint8_t { message, progress, list_changed, source };
  struct item {
    kind type = kind::message;
    segments text{};
    mcp::outgoing what{};
    std::string_view method{};  // list_changed: which
    std::uint64_t request = 0;  // progress: whose
    std::shared_ptr<source> from{};
    std::size_t cost = 0;
  };

  bool may_send() const { return items_.empty() && transport_.unsent() < options_.feed_below; }
  item& add(item i, pace how = pace::turn);
  void ask_flush(pace how);
  void recount(item& i);
  void forget(item& i);
  void send(const segments& text, mcp::outgoing what);
  bool pull(source& s);
  void take_turn();
  void watch_bound();
  bool neglected() const;
  void on_deadline();

  const options& options_;
  time_source& time_;
  mcp::transport& transport_;
  owner& owner_;
  std::deque<item> items_;                             // references stay valid: only its ends change
  std::unordered_map<std::uint64_t, item*> progress_;  // by request: progress that can still be replaced
  std::size_t waiting_ = 0;                            // cost of the items
  std::size_t unsent_when_armed_ = 0;
  std::uint64_t given_ = 0;            // bytes ever given to the transport
  std::uint64_t taken_when_over_ = 0;  // bytes the caller had taken when it came over the bound
  std::unique_ptr<timer> deadline_;
  std::unique_ptr<timer> soon_;            // set while soon_set_; what has left earlier does not cancel it
  std::vector<std::string_view> changes_;  // those of list_changed that have not left yet
  bool flush_asked_ = false, soon_set_ = false, over_ = false, closed_ = false;
  bool pulling_ = false;  // a source gives its messages; what it causes waits
  std::string scratch_;
};

class outgoing_queue::source {
 public:
  virtual ~source() = default;
  /// The next message, or an empty one when there is none now. `scratch` may be overwritten; its memory is used again.
  /// Messages may be pushed from inside; they leave behind those that this source has given.
  virtual segments next(std::string& scratch) = 0;
  /// Bytes that wait in it.
  virtual std::size_t waiting() const = 0;

 private:
  friend class outgoing_queue;
  item* place_ = nullptr;
};

}  // namespace mcpbx::daemon
