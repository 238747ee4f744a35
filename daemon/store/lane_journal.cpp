// Group commit: while the lane works, appends gather; when it is free it takes all of them, and one thing that is to be
// read. Everything here happens on the speaking thread but what `job` does, which owns all that it touches. Who waits
// too long is told so, also when the lane hangs in the middle of it: what it does later changes nothing for its run,
// which has ended, and is closed behind it.
#include "daemon/store/lane_journal.hpp"

#include "daemon/store/record_format.hpp"
#include "mcp/async/lane.hpp"
#include "mcp/async/short_wait.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <iterator>
#include <utility>

namespace mcpbx::daemon {
namespace {

namespace asio = boost::asio;

using on_appended = std::function<void(result<void>)>;
using unfinished_rows = std::vector<store_worker::unfinished>;

struct waiting_append {
  store_worker::append what;
  time_point until;
  on_appended done;           // empty once it was told
  std::size_t bytes = 0;      // of its texts, once they are written
  bool may_be_again = false;  // when the store could not be reached
  std::string failed;         // why, the last time

  bool is_to_be_again() const { return done && may_be_again && !what.outcome && what.outcome.error().code == errc::io; }
};

struct waiting_read {
  std::function<void(store_worker&, std::int64_t now_ms)> work;
  time_point until;
  std::function<void(const error* late)> done;  // empty once it was told
  std::function<void()> unclaimed;              // in its place when the lane has done it all the same; or empty
};

constexpr milliseconds pause_between_attempts{500};

// Mostly that there is no memory left.
std::unexpected<error> fault_in(const std::string& store, const std::exception& what) {
  return fail(errc::internal, store + " could not be used (" + what.what() +
                                  "); see to the daemon's memory, and what comes next is tried again");
}

// What the lane does in one go. `until` and `done` stay with the speaking thread.
struct job {
  std::vector<waiting_append> appends;
  std::size_t bytes = 0;                              // of the appends
  std::vector<std::shared_ptr<run_place>> left_open;  // runs to be closed, their journals are gone
  waiting_read read;
  std::int64_t now_ms = 0;
  std::string name;           // of the store
  bool short_commit = false;  // it writes, waits for no disk and reads nothing

  void work(store_worker& worker) {
    for (auto& place : left_open) worker.leave_open(std::move(place));
    std::vector<store_worker::append*> group;
    for (auto& a : appends) group.push_back(&a.what);
    try {
      if (!group.empty()) worker.write(group, now_ms);
    } catch (const std::exception& e) {
      for (auto* a : group) a->outcome = fault_in(name, e);
    }
    // What runs make of the answer is as large again.
    for (auto* a : group)
      if (a->outcome) a->batch.texts = {};
    if (read.work) read.work(worker, now_ms);
  }
};

bool leaves_for_a_server(const run_record& r) {
  const auto* intent = std::get_if<record::call_intent>(&r);
  return intent && !intent->to_caller;
}

}  // namespace

class lane_journal::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(asio::any_io_executor executor, time_source& time, std::unique_ptr<store_file> file, options o)
      : executor_(std::move(executor)),
        time_(time),
        sync_calls_(o.sync_calls),
        max_bytes_(o.max_bytes),
        max_wait_(o.max_wait),
        max_reads_(o.max_reads),
        awake_runs_(o.awake_runs),
        name_(file->name()),
        shared_(file->is_shared()),
        commit_(executor_),
        worker_(std::make_shared<store_worker>(std::move(file), std::move(o.rules), o.keep)) {}

  // `patience`: while the store cannot be reached, for a run that has begun.
  void append(std::shared_ptr<run_place> place, std::vector<run_record> records, bool synced, milliseconds patience,
              on_appended done) {
    if (records.empty()) return asio::post(executor_, [done = std::move(done)] { done({}); });
    waiting_append a;
    a.what.synced = synced || (sync_calls_ && std::ranges::any_of(records, leaves_for_a_server));
    a.may_be_again = shared_ && place->id != 0;
    a.what.batch.place = std::move(place);
    a.what.batch.records = std::move(records);
    a.what.batch.at_ms = time_.wall_ms();
    a.what.batch.calls_synced = sync_calls_;
    a.until = time_.now() + (a.may_be_again ? std::max(max_wait_, patience) : max_wait_);
    a.done = std::move(done);
    watch_also(a.until);
    queue_.push_back(std::move(a));
    pump();
  }

  std::size_t held_bytes() const noexcept { return held_bytes_; }
  const std::string& store_name() const noexcept { return name_; }
  bool is_shared() const noexcept { return shared_; }

  void opened() { ++open_runs_; }
  void closed() { --open_runs_; }
  void left_open(std::shared_ptr<run_place> place) { left_open_.push_back(std::move(place)); }

  // `work(worker, now)` gives a result<T> on the lane, `then` takes it here. `unclaimed` takes what came when `then`
  // had been told already that it takes too long.
  template <class T, class Work>
  void read(Work work, std::function<void(result<T>)> then, std::function<void(result<T>)> unclaimed = {}) {
    auto slot = std::make_shared<result<T>>(fail(errc::internal, name_ + " gave no answer; ask again"));
    auto done = [slot, then = std::move(then)](const error* late) {
      then(late ? result<T>(std::unexpected(*late)) : std::move(*slot));
    };
    if (reads_.size() >= max_reads_) {
      *slot = fail(errc::limit, std::to_string(max_reads_) + " requests wait for " + name_ + "; try again later");
      return asio::post(executor_, [done = std::move(done)] { done(nullptr); });
    }
    const auto on_lane = [slot, name = name_, work = std::move(work)](store_worker& worker, std::int64_t now_ms) {
      try {
        *slot = work(worker, now_ms);
      } catch (const std::exception& e) {
        *slot = fault_in(name, e);
      }
    };
    std::function<void()> kept;
    if (unclaimed) kept = [slot, unclaimed = std::move(unclaimed)] { unclaimed(std::move(*slot)); };
    watch_also(time_.now() + max_wait_);
    reads_.push_back({on_lane, time_.now() + max_wait_, std::move(done), std::move(kept)});
    pump();
  }

  // Runs that are to go on are handed out once, so those that nobody waited for any more stay for who asks next.
  void take_unfinished(std::function<void(result<unfinished_rows>)> then) {
    auto with_unclaimed = [this, then = std::move(then)](result<unfinished_rows> rows) {
      if (rows) std::ranges::move(std::exchange(unclaimed_, {}), std::back_inserter(*rows));
      then(std::move(rows));
    };
    auto keep = [this](result<unfinished_rows> rows) {
      if (rows) std::ranges::move(*rows, std::back_inserter(unclaimed_));
    };
    read<unfinished_rows>([](auto& w, auto now) { return w.take_unfinished(now); }, std::move(with_unclaimed),
                          std::move(keep));
  }

  void stop() {
    stopped_ = true;
    lane_.join();
    current_.reset();
    queue_.clear();
    reads_.clear();
    watch_.reset();
    pause_.reset();
  }

 private:
  // Turns records into text while the lane has room for it. The rest stays with its runs as it is, and only the first
  // of that knows its size.
  void admit() {
    for (; admitted_ < queue_.size(); ++admitted_) {
      auto& a = queue_[admitted_];
      if (a.bytes == 0)
        for (const auto& r : a.what.batch.records) {
          a.what.batch.texts.push_back(to_text(r));
          a.bytes += a.what.batch.texts.back().size();
        }
      if (held_bytes_ > 0 && a.bytes > max_bytes_ - std::min(held_bytes_, max_bytes_)) return;
      held_bytes_ += a.bytes;
    }
  }

  void pump() {
    if (!stopped_) admit();
    if (!stopped_ && !current_ && (may_write() || !reads_.empty())) begin();
    held_.set(held_bytes_);
    watch();
  }

  bool may_write() const { return !queue_.empty() && !pausing_; }

  // What could not be written because the store is not there is tried again behind a pause, before all that came since.
  void put_back(std::vector<waiting_append>& appends) {
    const auto now = time_.now();
    bool any = false;
    for (auto a = appends.rbegin(); a != appends.rend(); ++a) {
      if (!a->is_to_be_again() || now >= a->until) continue;
      any = true;
      a->failed = std::move(a->what.outcome.error().message);
      a->what.outcome = {};
      held_bytes_ += a->bytes;
      ++admitted_;
      queue_.push_front(std::move(*a));
      a->done = nullptr;
    }
    if (!any) return;
    pausing_ = true;
    if (!pause_) pause_ = time_.make_timer();
    pause_->arm(now + pause_between_attempts, [this] {
      pausing_ = false;
      pump();
    });
  }

  void begin() {
    auto next = std::make_shared<job>();
    next->now_ms = time_.wall_ms();
    next->name = name_;
    next->appends.reserve(admitted_);
    for (; !pausing_ && admitted_ > 0; --admitted_) {
      next->bytes += queue_.front().bytes;
      next->appends.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    next->left_open = std::exchange(left_open_, {});
    if (!reads_.empty()) {
      next->read = std::move(reads_.front());
      reads_.pop_front();
    }
    current_ = next;
    next->short_commit = !next->appends.empty() && !next->read.work &&
                         std::ranges::none_of(next->appends, [](const auto& a) { return a.what.synced; });
    const bool awake = next->short_commit && open_runs_ <= awake_runs_;
    if (next->short_commit) commit_.begin(time_.now(), awake);
    // The guard keeps the context running until the lane has answered.
    auto work = [self = shared_from_this(), worker = worker_, next,
                 guard = asio::make_work_guard(executor_)]() mutable {
      next->work(*worker);
      const auto now_ms = next->now_ms;
      // Let go here: records end on the speaking thread.
      asio::post(guard.get_executor(), [self, next = std::move(next)] { self->finished(*next); });
      try {
        worker->tidy(now_ms);
      } catch (const std::exception& e) {
        log::warn(fault_in(self->name_, e).error().message);
      }
    };
    auto posted =
        lane_.post(std::move(work), awake && commit_.was_short() ? short_wait::longest : std::chrono::microseconds(0));
    if (!posted)
      asio::post(executor_, [self = shared_from_this(), next, why = std::move(posted.error().message)] {
        self->failed(*next, why);
      });
  }

  // The lane was not given the job.
  void failed(job& j, const std::string& what) {
    const error why{errc::io, name_ + " cannot be used: " + what};
    left_open_.insert(left_open_.begin(), j.left_open.begin(), j.left_open.end());
    for (auto& a : j.appends) a.what.outcome = std::unexpected(why);
    j.read.unclaimed = nullptr;
    if (auto done = std::exchange(j.read.done, nullptr)) done(&why);
    finished(j);
  }

  void finished(job& j) {
    if (stopped_) return;
    auto self = shared_from_this();
    if (j.short_commit) commit_.end(time_.now());
    held_bytes_ -= j.bytes;
    put_back(j.appends);
    // Still busy: what these runs append next becomes one group.
    for (auto& a : j.appends)
      if (a.done) a.done(std::move(a.what.outcome));
    if (j.read.done)
      j.read.done(nullptr);
    else if (j.read.unclaimed)
      j.read.unclaimed();
    current_.reset();
    pump();
  }

  bool is_waited_for() const {
    const auto waits = [](const auto& one) { return static_cast<bool>(one.done); };
    return !queue_.empty() || !reads_.empty() ||
           (current_ && (waits(current_->read) || std::ranges::any_of(current_->appends, waits)));
  }

  void watch() {
    if (stopped_ || !is_waited_for()) {
      if (std::exchange(watching_, false)) watch_->cancel();
      return;
    }
    if (std::exchange(watching_, true)) return;
    watched_until_ = next_due();
    if (!watch_) watch_ = time_.make_timer();
    watch_->arm(watched_until_, [this] { expire(); });
  }
  // Something new may be late sooner than what waits.
  void watch_also(time_point until) {
    if (until < watched_until_) watching_ = false;
  }

  time_point next_due() const {
    auto due = never;
    const auto look = [&](const auto& one) {
      if (one.done) due = std::min(due, one.until);
    };
    std::ranges::for_each(queue_, look);
    std::ranges::for_each(reads_, look);
    if (!current_) return due;
    std::ranges::for_each(current_->appends, look);
    look(current_->read);
    return due;
  }

  error late(const waiting_append& a) const {
    if (!a.failed.empty()) return {errc::io, a.failed + "; it was tried until now"};
    return {errc::io,
            name_ + " did not answer for " + std::to_string(max_wait_.count()) + " ms; see what keeps it busy"};
  }

  void expire() {
    watching_ = false;
    const auto now = time_.now();
    std::vector<std::pair<on_appended, error>> appends;
    std::vector<std::function<void(const error*)>> reads;
    if (current_) {
      for (auto& a : current_->appends)
        if (a.done && a.until <= now) appends.emplace_back(std::exchange(a.done, nullptr), late(a));
      if (current_->read.done && current_->read.until <= now)
        reads.push_back(std::exchange(current_->read.done, nullptr));
    }
    for (std::size_t i = 0; i < queue_.size();) {
      auto& a = queue_[i];
      if (a.until > now) {
        ++i;
        continue;
      }
      appends.emplace_back(std::move(a.done), late(a));
      if (i < admitted_) {
        --admitted_;
        held_bytes_ -= a.bytes;
      }
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (; !reads_.empty() && reads_.front().until <= now; reads_.pop_front())
      reads.push_back(std::move(reads_.front().done));
    auto self = shared_from_this();
    pump();
    const error busy{
        errc::io, name_ + " did not answer for " + std::to_string(max_wait_.count()) + " ms; see what keeps it busy"};
    for (auto& [done, why] : appends) done(std::unexpected(std::move(why)));
    for (auto& done : reads) done(&busy);
  }

  asio::any_io_executor executor_;
  time_source& time_;
  bool sync_calls_;
  std::size_t max_bytes_;
  milliseconds max_wait_;
  std::size_t max_reads_, awake_runs_;
  std::string name_;
  bool shared_;
  short_wait commit_;  // of one that does not wait for the disk
  std::size_t open_runs_ = 0;
  std::shared_ptr<store_worker> worker_;
  std::deque<waiting_append> queue_;
  std::size_t admitted_ = 0;    // of the queue, from its front: their texts count
  byte_share held_;             // as many
  std::size_t held_bytes_ = 0;  // of texts that wait or are being written
  std::shared_ptr<job> current_;
  std::deque<waiting_read> reads_;
  std::vector<std::shared_ptr<run_place>> left_open_;
  unfinished_rows unclaimed_;
  std::unique_ptr<timer> watch_, pause_;
  time_point watched_until_{};
  bool watching_ = false, stopped_ = false;
  bool pausing_ = false;  // the store could not be reached a moment ago
  lane lane_{"store", 1};
};

// Between its appends a run's place belongs to this thread, while one goes on to the lane; after one that failed nobody
// knows, since the lane may be at it still, so none follows.
class lane_journal::one_run final : public run_journal {
 public:
  one_run(std::shared_ptr<impl> owner, run_place place)
      : owner_(std::move(owner)), place_(std::make_shared<run_place>(std::move(place))), begun_(place_->id != 0) {
    owner_->opened();
  }
  ~one_run() override {
    owner_->closed();
    if (begun_ && !ended_) owner_->left_open(std::move(place_));
  }

  asio::awaitable<result<void>> append(std::vector<run_record> records, bool synced) override {
    if (failed_)
      co_return fail(errc::io, "earlier records of this run could not be written to " + owner_->store_name() +
                                   "; begin a new run");
    const bool last = !records.empty() && std::holds_alternative<record::run_ended>(records.back());
    begun_ = true;
    auto start = [this, synced](auto handler, std::vector<run_record> all) {
      auto kept = std::make_shared<decltype(handler)>(std::move(handler));
      owner_->append(place_, std::move(all), synced, patience_, [kept](result<void> outcome) {
        auto call = std::move(*kept);
        std::move(call)(std::move(outcome));
      });
    };
    auto outcome = co_await asio::async_initiate<const asio::use_awaitable_t<>, void(result<void>)>(
        std::move(start), asio::use_awaitable, std::move(records));
    ended_ = ended_ || (last && outcome.has_value());
    failed_ = !outcome;
    co_return outcome;
  }

  void wait_at_most(milliseconds patience) override { patience_ = std::min(patience, longest_outage); }

 private:
  std::shared_ptr<impl> owner_;
  std::shared_ptr<run_place> place_;
  milliseconds patience_ = longest_outage;
  bool begun_ = false, ended_ = false, failed_ = false;
};

lane_journal::lane_journal(asio::any_io_executor executor, time_source& time, std::unique_ptr<store_file> file,
                           options o)
    : impl_(std::make_shared<impl>(std::move(executor), time, std::move(file), std::move(o))) {}

lane_journal::~lane_journal() {
  impl_->stop();
}

std::size_t lane_journal::held_bytes() const {
  return impl_->held_bytes();
}

std::unique_ptr<run_journal> lane_journal::open_run(const std::string& run) {
  return std::make_unique<one_run>(impl_, run_place{run});
}

bool lane_journal::is_shared() const {
  return impl_->is_shared();
}

void lane_journal::load_history(std::string session, answer<history> then) {
  impl_->read<history>([session = std::move(session)](auto& w, auto now) { return w.load_history(session, now); },
                       std::move(then));
}

void lane_journal::list_sessions(session_query q, answer<std::vector<session_row>> then) {
  impl_->read<std::vector<session_row>>([q = std::move(q)](auto& w, auto now) { return w.list_sessions(q, now); },
                                        std::move(then));
}

void lane_journal::read_session(std::string session, answer<session_contents> then) {
  impl_->read<session_contents>(
      [session = std::move(session)](auto& w, auto now) { return w.read_session(session, now); }, std::move(then));
}

void lane_journal::erase_session(std::string session, answer<void> then) {
  impl_->read<void>([session = std::move(session)](auto& w, auto now) { return w.erase_session(session, now); },
                    std::move(then));
}

void lane_journal::take_unfinished(answer<std::vector<unfinished_run>> then) {
  impl_->take_unfinished([owner = impl_, then = std::move(then)](result<unfinished_rows> found) {
    if (!found) return then(std::unexpected(std::move(found.error())));
    std::vector<unfinished_run> runs;
    for (auto& [row, records, fenced] : *found) {
      const auto next = static_cast<std::int64_t>(records.size());
      runs.push_back({row.run, row.session, std::move(records),
                      std::make_unique<one_run>(owner, run_place{row.run, row.id, next, -1})});
    }
    then(std::move(runs));
  });
}

void lane_journal::find_ended(std::string run, answer<std::vector<run_record>> then) {
  impl_->read<std::vector<run_record>>([run = std::move(run)](auto& w, auto now) { return w.find_ended(run, now); },
                                       std::move(then));
}

void lane_journal::find_owner(std::string run, answer<std::optional<std::string>> then) {
  impl_->read<std::optional<std::string>>([run = std::move(run)](auto& w, auto now) { return w.find_owner(run, now); },
                                          std::move(then));
}

}  // namespace mcpbx::daemon
