// A caller's outbox: holds unread messages, bounded and merged by rule, so that a slow reader costs bounded memory and
// never slows a tool server that others share (docs/guarantees.md, G17). It does no I/O. Writes cost more than their
// bytes and wake the caller, so messages of a source may wait as their `pace` says; any earlier write takes them along.
// Answers are never dropped, progress keeps the last message per token, a list change is sent once. Event streams
// (event_stream) are not copied in: each has a place in the line and gives its next event when it can leave. Over the
// bound the caller's requests are not read; over it for too long, the caller is closed. Answers to earlier requests
// still come, up to the ceiling: a caller that does not read then is closed at once.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/recycled.hpp"
#include "mcp/support/small_queue.hpp"
#include "mcp/support/time.hpp"
#include "mcp/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace mcpbx::daemon::front {

class outgoing_queue {
 public:
  struct options {
    std::size_t bound = 8u << 20;  ///< bytes over which the caller's requests are not read
    milliseconds grace{30'000};    ///< time over the bound after which the caller is closed
    std::size_t ceiling =
        40u << 20;  ///< bytes behind the leaving message over which a caller that does not read is closed at once
    std::size_t feed_below = 256u << 10;  ///< bytes in the transport below which it gets more
    milliseconds soon{1};                 ///< longest delay of pace::soon
  };
  /// Time that messages of a source may wait for more.
  enum class pace : std::uint8_t {
    at_once,  ///< not at all
    turn,     ///< to the end of this turn
    soon,     ///< for options::soon
  };
  /// Receiver of the queue's events; never called from its destructor.
  class owner {
   public:
    virtual ~owner() = default;
    virtual void pause_reading(bool paused) = 0;
    /// Asks for a call of flush() at the end of this turn.
    virtual void ask_flush() = 0;
    /// Reports a caller that has not read for too long. The queue may be closed from inside.
    virtual void on_stuck(const std::string& why) = 0;
  };
  /// Producer of messages that are made when they can leave.
  class source;

  /// All arguments must outlive the queue.
  outgoing_queue(const options& o, time_source& time, mcp::transports::transport& to, owner& told);
  ~outgoing_queue();
  outgoing_queue(const outgoing_queue&) = delete;
  outgoing_queue& operator=(const outgoing_queue&) = delete;

  /// Queues a response, or a request of ours or its cancellation; it is never dropped.
  void push(const json::segments& text, mcp::rpc::outgoing what = mcp::rpc::outgoing::response());
  void push_progress(std::uint64_t request, const json::segments& text);
  /// Queues a notification unless one with the same key waits already: the method of a change of a list, for example.
  void push_merged(std::string key, const json::segments& text);
  /// Reports that `s` has messages, or more of them.
  void ready(const std::shared_ptr<source>& s, pace how);

  /// Fills the transport. To be called at the end of a turn and when the transport has drained.
  void flush();
  /// Drops everything.
  void close();

  /// Returns the bytes that are not sent yet, here and in the transport.
  std::size_t bytes() const noexcept { return waiting_ + transport_.unsent(); }
  /// Returns the bytes that the caller has taken so far.
  std::uint64_t taken() const { return given_ - transport_.unsent(); }
  bool over() const noexcept { return over_; }

 private:
  enum class kind : std::uint8_t { message, progress, merged, source };
  struct item {
    kind type = kind::message;
    json::segments text{};
    mcp::rpc::outgoing what{};
    std::string key{};          // merged: its key
    std::uint64_t request = 0;  // progress: the request
    std::shared_ptr<source> from{};
    std::size_t cost = 0;
  };

  bool may_send() const { return items_.empty() && transport_.unsent() < options_.feed_below; }
  item& add(item i, pace how = pace::turn);
  void ask_flush(pace how);
  void recount(item& i);
  void forget(item& i);
  void send(const json::segments& text, mcp::rpc::outgoing what);
  bool pull(source& s);
  void take_turn();
  void watch_bound();
  bool neglected() const;
  void on_deadline();

  const options& options_;
  time_source& time_;
  mcp::transports::transport& transport_;
  owner& owner_;
  small_queue<item> items_;
  std::unordered_map<std::uint64_t, item*> progress_;  // replaceable progress by request
  std::size_t waiting_ = 0;                            // cost of the items
  std::size_t unsent_when_armed_ = 0;
  std::uint64_t given_ = 0;            // bytes ever given to the transport
  std::uint64_t taken_when_over_ = 0;  // bytes the caller had taken when it came over the bound
  std::unique_ptr<timer> deadline_;
  std::unique_ptr<timer> soon_;  // armed while soon_set_; an earlier write does not cancel it
  // Keys of waiting notifications that stand for later ones, in the items.
  std::unordered_set<std::string_view, keyed_hash, std::equal_to<>, recycling_allocator<std::string_view>> merged_;
  bool flush_asked_ = false, soon_set_ = false, over_ = false, closed_ = false;
  bool pulling_ = false;  // a source gives its messages; calls from inside wait
  std::string scratch_;
};

class outgoing_queue::source {
 public:
  virtual ~source() = default;
  /// Returns the next message, or an empty one. `scratch` may be overwritten, to reuse its memory. Messages may be
  /// pushed from inside; they leave after those that this source has given.
  virtual json::segments next(std::string& scratch) = 0;
  /// Returns the bytes that wait in the source.
  virtual std::size_t waiting() const = 0;

 private:
  friend class outgoing_queue;
  item* place_ = nullptr;
};

}  // namespace mcpbx::daemon::front
