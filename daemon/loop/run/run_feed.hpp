// Event queue of one run for any number of readers, each at its own pace. Does no I/O: a reader pulls events when its
// caller can take more. So a slow caller costs bounded memory and delays neither the run nor other callers
// (docs/guarantees.md, G17).
//
// An event may change until it is first sent: pieces of text are joined, progress keeps the latest event of each call,
// and too many logs drop the oldest and count it. An event gets its number when it is first sent, so that numbers rise
// by one and are the same for all readers. Above the size bound the oldest events are dropped; a reader that has not
// had them gets a `snapshot` instead.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/text_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::run {

/// One event of a run. `body` is its JSON object, beginning with {"type":… ; the front door adds request, run and seq.
struct run_event {
  enum class kind : std::uint8_t {
    status,
    text,
    reasoning,
    round,
    tool_call,
    tool_progress,
    tool_log,
    tool_result,
    question,
    answer,
    usage,
    error,
    snapshot,
    done
  };
  kind type;
  std::string call;  ///< call id, for tool events and questions; progress is merged by it
  /// For text and reasoning: the delta, unescaped; such events have no body until they are sent. For questions and
  /// answers: the id of the question.
  std::string text;
  json::segments body;

  static bool is_delta(kind k) noexcept { return k == kind::text || k == kind::reasoning; }
  bool is_delta() const noexcept { return is_delta(type); }
};

class feed_reader;

/// Owned by its run, its readers and the register of ended runs. Use it on one thread.
class run_feed : public std::enable_shared_from_this<run_feed> {
 public:
  struct options {
    std::size_t bound = 4u << 20;  ///< largest size of all events in bytes; above it the oldest are dropped
    std::size_t max_logs = 256;    ///< largest number of log events that were not sent to any reader
    bool keep = false;             ///< for a detached run: keeps events that all readers have, and needs no reader
    /// For a run that an earlier process began: a number above all that it gave. A caller that attaches with an older
    /// number gets a snapshot.
    std::uint64_t numbers_above = 0;
    std::string principal = {};  ///< owner of the run
  };
  /// Numbers of events that were joined to another one, replaced by a later one, or dropped.
  struct counters {
    std::uint64_t joined = 0, replaced = 0, dropped_logs = 0;
  };
  /// An event in the feed.
  struct entry {
    run_event event;
    std::uint64_t seq = 0;      ///< its number; 0: not sent to any reader yet
    std::uint64_t dropped = 0;  ///< for a log: number of logs dropped before it
    std::size_t cost = 0;       ///< bytes that it counts
    bool gone = false;          ///< dropped: no reader gets it
  };
  /// Notified when there is an event to pull. May pull, attach and leave from inside the call.
  class listener {
   public:
    virtual ~listener() = default;
    /// `latest`: type of the newest event; a delta may still grow before it is pulled. `done` also if the run did not
    /// begin.
    virtual void on_ready(run_event::kind latest) = 0;
  };
  /// Wishes of a new reader.
  struct wish {
    std::uint64_t after = 0;  ///< number of the last event that its caller has; 0: none
    bool deltas = true;       ///< false: no text and reasoning events
    bool answers =
        true;  ///< false: its caller answers no questions, by its own word or because it has closed its sending half
  };

  /// `run`: name of the run.
  run_feed(std::string run, options o);
  ~run_feed();
  run_feed(const run_feed&) = delete;
  run_feed& operator=(const run_feed&) = delete;

  const std::string& run() const noexcept { return run_; }
  const std::string& principal() const noexcept { return options_.principal; }
  /// Returns options::keep: true for a detached run.
  bool kept() const noexcept { return options_.keep; }
  /// Sets the function to call when the last reader leaves before the end. It is not called if options::keep is set.
  void when_abandoned(std::function<void(std::string why)> f) { abandoned_ = std::move(f); }
  /// Sets the function to call when there are readers before the end, but none can answer questions any more. It is not
  /// called if options::keep is set, because other readers may come.
  void when_mute(std::function<void()> f) { mute_ = std::move(f); }
  /// Returns true if a present reader can answer questions.
  bool answers() const noexcept;
  /// Returns true if there are readers, or readers may still come.
  bool wanted() const noexcept { return options_.keep || !readers_.empty(); }

  /// Adds an event and notifies the readers. Reopens a feed that is over.
  void push(run_event e);
  /// Adds the event `done` with the result. The present readers end after they have pulled it.
  void done(json::raw_json result);
  /// Ends the present readers with the reason why the run did not begin, or does not end here.
  void refuse(error why);
  /// Continues the feed after a `done`, for a parked run that goes on. Later readers start behind that `done`.
  void reopen();
  /// Returns true after done() or refuse(), until the feed is reopened.
  bool over() const noexcept { return over_; }
  /// Returns the result that was given to done(), until the feed is reopened.
  const json::raw_json& result() const noexcept { return result_; }

  /// Adds a reader. It is not notified of events that are there already. `l` must outlive the reader.
  std::unique_ptr<feed_reader> attach(listener& l, wish w);

  /// Returns the model's text since the last round event.
  std::string round_text() const { return text_before(end()); }
  /// Takes the run's own copy of the round's text. If it is equal to the text of the events, the feed keeps no second
  /// copy of the part that it has dropped.
  void share_text(std::shared_ptr<const std::string> text);

  /// Returns the size of all events in the feed in bytes.
  std::size_t bytes() const noexcept { return bytes_; }
  const counters& counts() const noexcept { return counts_; }

 private:
  friend class feed_reader;
  /// State of the run after the events before some place; a snapshot is made from it.
  struct state {
    text_parts text;                            // of the round, unless `shared` is set
    std::shared_ptr<const std::string> shared;  // if set, the text is its first `told` bytes
    std::size_t told = 0;
    std::string said() const { return shared ? shared->substr(0, told) : text.str(); }
    json::segments round;
    struct open {
      std::string call, question;
      json::segments body;
    };
    std::vector<open> calls, questions;
    void fold(const run_event& e);
  };

  std::string text_before(std::uint64_t place) const;
  std::uint64_t end() const noexcept { return first_ + events_.size(); }
  entry& at(std::uint64_t place) { return events_[static_cast<std::size_t>(place - first_)]; }
  void append(run_event e, std::uint64_t dropped = 0);
  bool join(const run_event& e);
  bool replace(run_event& e);
  std::uint64_t make_room_for_log();
  void recount(std::uint64_t place);
  void number_through(std::uint64_t place);
  void forget_merging(const entry& e);
  void drop_front();
  void drop_over_bound();
  void drop_passed();
  void tell(run_event::kind latest);
  entry snapshot_at(std::uint64_t place, bool with_text);
  void remove(feed_reader& r, std::string why);
  void tell_mute();

  std::string run_;
  options options_;
  std::function<void(std::string)> abandoned_;
  std::function<void()> mute_;
  // The place of an event is its index since the beginning of the feed. events_ holds the places from first_ to end().
  std::deque<entry> events_;
  std::uint64_t first_ = 0;
  std::uint64_t numbered_ = 0;  // all events before this place have their number
  std::uint64_t last_seq_ = 0, base_seq_ = 0;
  state base_;                               // after the events before first_
  bool lost_ = false;                        // base_ has events that were never sent and got no number
  std::uint64_t start_ = 0, start_seq_ = 0;  // place and number at which readers begin after reopen()
  text_map<std::uint64_t> progress_;         // by call: place of progress that can still be replaced
  std::deque<std::uint64_t> logs_;           // places of logs that can still be dropped
  std::vector<feed_reader*> readers_;        // inside tell(), null for those that have left
  int telling_ = 0;
  std::size_t bytes_ = 0;
  json::raw_json result_;
  std::optional<error> refusal_;
  bool over_ = false;
  counters counts_;
};

/// One reader of a feed, for one caller. Its destructor leaves the feed.
class feed_reader {
 public:
  ~feed_reader() { leave("the caller went away"); }
  feed_reader(const feed_reader&) = delete;
  feed_reader& operator=(const feed_reader&) = delete;

  /// Returns the next event with its number, or null if there is none now. Valid until the next use of feed or reader.
  const run_feed::entry* peek();
  /// Returns the model's text since the last round event among the events that the reader has passed.
  std::string round_text() const { return feed_ ? feed_->text_before(place_) : std::string(); }
  /// Returns true if share_text() has confirmed the text of the reader's round: once the reader has passed all of it,
  /// round_text() equals the text given there, byte for byte.
  bool told_all() const noexcept;
  /// Passes the event that peek() has returned.
  void pop();
  /// Returns true if no more events come: `done` or the refusal has been read, or the run was over at attach().
  bool ended() const noexcept { return ended_; }
  /// Returns the result of the run, after the end.
  const json::raw_json& result() const noexcept { return result_; }
  /// Returns the reason of run_feed::refuse(), after the end; nullopt if there is a result.
  const std::optional<error>& refusal() const noexcept { return refusal_; }
  /// Returns the size of the events that the reader has not passed, in bytes.
  std::size_t waiting() const noexcept { return behind_; }
  /// Ends the reading. If the last reader leaves before the end, a run that is not detached is cancelled, with `why` as
  /// the reason.
  void leave(std::string why);
  /// Notes that the caller cannot answer questions any more, though it reads on.
  void answer_no_more();

 private:
  friend class run_feed;
  feed_reader(std::shared_ptr<run_feed> feed, run_feed::listener& l, run_feed::wish w)
      : feed_(std::move(feed)), listener_(l), deltas_(w.deltas), answers_(w.answers) {}
  void skip();
  void end(json::raw_json result);

  std::shared_ptr<run_feed> feed_;  // null after the reader has left or ended
  run_feed::listener& listener_;
  std::uint64_t place_ = 0;             // of the next event
  std::size_t behind_ = 0;              // bytes of the events from place_ on
  std::optional<run_feed::entry> own_;  // to read before the next event: a snapshot, or the `done` before a reopen()
  json::raw_json result_;
  std::optional<error> refusal_;
  bool deltas_, answers_;
  bool gap_ = false;  // events before place_ were dropped: read a snapshot first
  bool ended_ = false;
};

}  // namespace mcpbx::daemon::run
