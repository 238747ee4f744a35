// What a run tells, in order, for any number of readers at their own pace. A core: nothing here waits or sends; a
// reader pulls when its caller can take more, so that a slow one costs bounded memory and holds up neither the run nor
// the others (docs/guarantees.md, G17).
//
// While nobody has been sent an event it may still change: deltas of text join, progress keeps the last of each call,
// logs drop the oldest with a count. An event gets its number when it is first sent to anybody, so that numbers rise by
// one and are the same for all readers. Over the bound the oldest go, and a `snapshot` stands for them.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/text_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::daemon {

/// One event of a run: `type` and its members as a JSON object without request, run and seq, which the door adds.
/// `body` starts with {"type":… .
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
  std::string call;  ///< of tool events and questions: the call, what progress is merged by
  /// Of text and reasoning: the delta, unescaped; such events have no body until they are sent. Of questions and
  /// answers: the id of the question.
  std::string text;
  segments body;

  static bool is_delta(kind k) noexcept { return k == kind::text || k == kind::reasoning; }
  bool is_delta() const noexcept { return is_delta(type); }
};

class feed_reader;

class run_feed : public std::enable_shared_from_this<run_feed> {
 public:
  struct options {
    std::size_t bound = 4u << 20;  ///< bytes of events; over it the oldest go
    std::size_t max_logs = 256;    ///< log events that nobody has been sent yet
    bool keep = false;             ///< a detached run: events that everybody has stay, and nobody need read
    /// For a run that an earlier daemon began: a number above all that were given then. Its callers' numbers are then
    /// known to be of before, and they get a snapshot.
    std::uint64_t numbers_above = 0;
    std::string principal = {};  ///< whose run it is
  };
  struct counters {
    std::uint64_t joined = 0, replaced = 0, dropped_logs = 0;
  };
  struct entry {
    run_event event;
    std::uint64_t seq = 0;      ///< 0: nobody has been sent it
    std::uint64_t dropped = 0;  ///< of a log: how many before it were left out
    std::size_t cost = 0;
    bool gone = false;  ///< left out: nobody gets it
  };
  /// Told when there is something to pull. It may pull, attach and leave from inside.
  class listener {
   public:
    virtual ~listener() = default;
    /// `latest`: what came last; to a delta more may be joined before it is pulled. `done` also where the run did not
    /// begin.
    virtual void on_ready(run_event::kind latest) = 0;
  };
  struct wish {
    std::uint64_t after = 0;  ///< the number of the last event that this reader's caller has
    bool deltas = true;       ///< false: no text and reasoning
    bool answers = true;      ///< false: its caller cannot answer questions, because it says no more
  };

  run_feed(std::string run, options o);
  ~run_feed();
  run_feed(const run_feed&) = delete;
  run_feed& operator=(const run_feed&) = delete;

  const std::string& run() const noexcept { return run_; }
  const std::string& principal() const noexcept { return options_.principal; }
  /// Whether the run is detached.
  bool kept() const noexcept { return options_.keep; }
  /// Called when the last reader left before the end; never for a feed that keeps.
  void when_abandoned(std::function<void(std::string why)> f) { abandoned_ = std::move(f); }
  /// Called when readers are left before the end, and none of them answers any more; never for a feed that keeps,
  /// because somebody may come to it.
  void when_mute(std::function<void()> f) { mute_ = std::move(f); }
  /// Whether anybody who reads now can answer questions.
  bool answers() const noexcept;
  /// Whether anybody reads, or may later.
  bool wanted() const noexcept { return options_.keep || !readers_.empty(); }

  void push(run_event e);
  /// The event `done`: the readers of this moment end when they have it.
  void done(raw_json result);
  /// The run did not begin: the readers of this moment end with the reason.
  void refuse(error why);
  /// The run goes on after a `done` (it was parked), as it does with its next event too. Readers that come from now on
  /// start behind that `done`.
  void reopen();
  /// Whether `done` was pushed, and its result.
  bool over() const noexcept { return over_; }
  const raw_json& result() const noexcept { return result_; }

  /// A new reader. It is not told about what is there already. `l` must outlive the reader.
  std::unique_ptr<feed_reader> attach(listener& l, wish w);

  /// What the model has said since the last round event.
  std::string round_text() const { return text_before(end()); }
  /// That is now kept here: what says the same lets go of its own copy.
  void share_text(std::shared_ptr<const std::string> text);

  /// What the events here cost.
  std::size_t bytes() const noexcept { return bytes_; }
  const counters& counts() const noexcept { return counts_; }

 private:
  friend class feed_reader;
  /// What a snapshot tells: the events before some place, folded.
  struct state {
    text_parts text;                            // of the round
    std::shared_ptr<const std::string> shared;  // of which the text is the first `told` bytes; or null: it is in `text`
    std::size_t told = 0;
    std::string said() const { return shared ? shared->substr(0, told) : text.str(); }
    segments round;
    struct open {
      std::string call, question;
      segments body;
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
  // An event's place is its index since the beginning; those from first_ to end() are here.
  std::deque<entry> events_;
  std::uint64_t first_ = 0;
  std::uint64_t numbered_ = 0;  // all before this place have their number
  std::uint64_t last_seq_ = 0, base_seq_ = 0;
  state base_;                                               // of the events before first_
  bool lost_ = false;                                        // base_ holds text that got no number: nobody was sent it
  std::uint64_t start_ = 0, start_seq_ = 0;                  // where readers begin after reopen()
  std::unordered_map<std::string, std::uint64_t> progress_;  // by call: progress that can still be replaced
  std::deque<std::uint64_t> logs_;                           // logs that can still be dropped
  std::vector<feed_reader*> readers_;                        // while telling, those that left are null
  int telling_ = 0;
  std::size_t bytes_ = 0;
  raw_json result_;
  std::optional<error> refusal_;
  bool over_ = false;
  counters counts_;
};

/// A reader's place in a feed. Its destruction is its leaving.
class feed_reader {
 public:
  ~feed_reader() { leave("the caller went away"); }
  feed_reader(const feed_reader&) = delete;
  feed_reader& operator=(const feed_reader&) = delete;

  /// The next event, with its number; null when there is none now. Valid until the feed or the reader is used again.
  const run_feed::entry* peek();
  /// What the model has said since the last round event that it has passed.
  std::string round_text() const { return feed_ ? feed_->text_before(place_) : std::string(); }
  /// Whether that is, to the byte, what share_text() was given: the text of the run's last message.
  bool told_all() const noexcept;
  /// Passes what peek() gave.
  void pop();
  /// It has `done`, or had all of a run that is over: nothing more comes.
  bool ended() const noexcept { return ended_; }
  /// Once ended: the result that `done` told.
  const raw_json& result() const noexcept { return result_; }
  /// Once ended: why the run did not begin, if so; then there is no result.
  const std::optional<error>& refusal() const noexcept { return refusal_; }
  /// What the events cost that it has not passed.
  std::size_t waiting() const noexcept { return behind_; }
  /// Reads no more. The last one who leaves before the end cancels a run that is not detached, with `why` as the
  /// reason.
  void leave(std::string why);
  /// Its caller says no more, and goes on reading: it answers no questions from here on.
  void answer_no_more();

 private:
  friend class run_feed;
  feed_reader(std::shared_ptr<run_feed> feed, run_feed::listener& l, run_feed::wish w)
      : feed_(std::move(feed)), listener_(l), deltas_(w.deltas), answers_(w.answers) {}
  void skip();
  void end(raw_json result);

  std::shared_ptr<run_feed> feed_;  // null once it has left or ended
  run_feed::listener& listener_;
  std::uint64_t place_ = 0;  // of the next event
  std::size_t behind_ = 0;
  std::optional<run_feed::entry> own_;  // comes before the next event: a snapshot, or the `done` of a feed that went on
  raw_json result_;
  std::optional<error> refusal_;
  bool deltas_, answers_;
  bool gap_ = false;  // events before place_ were dropped: a snapshot comes first
  bool ended_ = false;
};

}  // namespace mcpbx::daemon
