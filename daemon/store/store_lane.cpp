// Group commit. Appends gather while the lane works; then it takes all of them and one read as a job. All code here
// runs on the speaking thread, except the job, which owns all data that it touches. An append that waits too long
// fails, even if the lane hangs in it: the run has ended then, and whatever the lane still writes is closed behind it.
// If a remote store cannot be reached, appends of begun runs wait longer and are repeated.
#include "daemon/store/store_lane.hpp"

#include "daemon/store/records/record_format.hpp"
#include "mcp/support/log.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <algorithm>
#include <iterator>

namespace mcpbx::daemon::store {
namespace {

namespace asio = boost::asio;

constexpr milliseconds pause_between_attempts{500};

bool leaves_for_a_server(const stored::run_record& r) {
  const auto* intent = std::get_if<stored::record::call_intent>(&r);
  return intent && !intent->to_caller;
}

// Calls callbacks one after the other. One that throws must not keep the others from being called, nor the lane from
// going on; run_loop() gets the exception at the end.
class callbacks {
 public:
  template <class Callback>
  void call(const Callback& callback) {
    try {
      callback();
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::exception_ptr thrown_;
};

}  // namespace

// Makes an error of an exception on the lane, which mostly is a lack of memory.
std::unexpected<error> store_lane::fault_in(const std::string& store, const std::exception& what) {
  return fail(errc::internal, store + " could not be used (" + what.what() +
                                  "); see to the daemon's memory, and what comes next is tried again");
}

// One job of the lane. `until` and `done` stay with the speaking thread.
struct store_lane::job {
  std::vector<waiting_append> appends;
  std::size_t bytes = 0;                              // size of the appends
  std::vector<std::shared_ptr<run_place>> left_open;  // runs to close, because their journals are gone
  waiting_read read;
  std::int64_t now_ms = 0;
  std::string name;            // name of the store
  bool short_commit = false;   // the job writes, but neither waits for the disk nor reads
  std::optional<error> fault;  // store_worker::fault() after the job

  void work(store_worker& worker) {
    for (auto& place : left_open) worker.leave_open(std::move(place));
    std::vector<store_worker::append*> group;
    for (auto& a : appends) group.push_back(&a.what);
    try {
      if (!group.empty()) worker.write(group, now_ms);
    } catch (const std::exception& e) {
      for (auto* a : group) a->outcome = fault_in(name, e);
      worker.note_write(fault_in(name, e));
    }
    // The runs will need as much memory again for the answer.
    for (auto* a : group)
      if (a->outcome) a->batch.texts = {};
    if (read.work) read.work(worker, now_ms);
    fault = worker.fault();
  }
};

store_lane::store_lane(asio::any_io_executor executor, time_source& time, std::unique_ptr<run_store> file,
                       lane_journal::options o)
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

// Queues an append. `patience` is the time for which a begun run waits while the store cannot be reached.
void store_lane::append(std::shared_ptr<run_place> place, std::vector<stored::run_record> records, bool synced,
                        milliseconds patience, on_appended done) {
  if (records.empty()) return asio::post(executor_, [done = std::move(done)] { done({}); });
  waiting_append a;
  a.what.synced = synced || (sync_calls_ && std::ranges::any_of(records, leaves_for_a_server));
  a.may_be_again = shared_ && place->id != 0;
  a.what.batch.place = std::move(place);
  a.what.batch.records = std::move(records);
  a.what.batch.at_ms = time_.wall_ms();
  a.what.batch.calls_synced = sync_calls_;
  a.patience = a.may_be_again ? std::max(max_wait_, patience) : max_wait_;
  a.until = time_.now() + a.patience;
  a.done = std::move(done);
  watch_also(a.until);
  queue_.push_back(std::move(a));
  pump();
}

// Keeps runs for the next call if nobody waits for this one any more, since each is handed out once.
void store_lane::take_unfinished(std::function<void(result<unfinished_rows>)> then) {
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

void store_lane::stop() {
  stopped_ = true;
  lane_.join();
  current_.reset();
  queue_.clear();
  reads_.clear();
  watch_.reset();
  pause_.reset();
}

// Turns records into text while the lane has room. The rest stays with its runs as records, and only the first append
// of the rest knows its size.
void store_lane::admit() {
  for (; admitted_ < queue_.size(); ++admitted_) {
    auto& a = queue_[admitted_];
    if (a.bytes == 0)
      for (const auto& r : a.what.batch.records) {
        a.what.batch.texts.push_back(stored::to_text(r));
        a.bytes += a.what.batch.texts.back().size();
      }
    if (held_bytes_ > 0 && a.bytes > max_bytes_ - std::min(held_bytes_, max_bytes_)) return;
    held_bytes_ += a.bytes;
  }
}

void store_lane::pump() {
  if (!stopped_) admit();
  if (!stopped_ && !current_ && (may_write() || !reads_.empty())) begin();
  held_.set(held_bytes_);
  watch();
}

// Queues appends again that failed because the store could not be reached, before all newer ones and behind a pause.
void store_lane::put_back(std::vector<waiting_append>& appends) {
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

void store_lane::begin() {
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
  auto work = [self = shared_from_this(), worker = worker_, next, guard = asio::make_work_guard(executor_)]() mutable {
    next->work(*worker);
    const auto now_ms = next->now_ms;
    // Moves the job away, so that records are destroyed on the speaking thread.
    asio::post(guard.get_executor(), [self, next = std::move(next)] { self->finished(*next); });
    try {
      worker->tidy(now_ms);
    } catch (const std::exception& e) {
      log::warn(fault_in(self->name_, e).error().message);
    }
  };
  auto posted = lane_.post(std::move(work),
                           awake && commit_.was_short() ? async::short_wait::longest : std::chrono::microseconds(0));
  if (!posted)
    asio::post(executor_, [self = shared_from_this(), next, why = std::move(posted.error().message)] {
      self->failed(*next, why);
    });
}

// Fails a job that could not be given to the lane.
void store_lane::failed(job& j, const std::string& what) {
  const error why{errc::io, name_ + " cannot be used: " + what};
  j.fault = why;
  left_open_.insert(left_open_.begin(), j.left_open.begin(), j.left_open.end());
  for (auto& a : j.appends) a.what.outcome = std::unexpected(why);
  j.read.unclaimed = nullptr;
  finished(j, &why);
}

// Answers what a job did; `refused` is the reason for which it was not done, or null.
void store_lane::finished(job& j, const error* refused) {
  if (stopped_) return;
  auto self = shared_from_this();
  if (j.short_commit) commit_.end(time_.now());
  held_bytes_ -= j.bytes;
  note(j.fault);
  put_back(j.appends);
  // Stay busy until all callbacks have run, so that the next appends of these runs become one group.
  callbacks called;
  for (auto& a : j.appends)
    if (a.done) called.call([&] { a.done(std::move(a.what.outcome)); });
  if (j.read.done)
    called.call([&] { j.read.done(refused); });
  else if (j.read.unclaimed)
    called.call([&] { j.read.unclaimed(); });
  current_.reset();
  pump();
  called.rethrow();
}

// Keeps the time of the first failure while others follow.
void store_lane::note(const std::optional<error>& fault) {
  if (!fault)
    trouble_.reset();
  else if (trouble_)
    trouble_->problem = fault->message;
  else
    trouble_ = journal_trouble{fault->message, time_.wall_ms()};
}

bool store_lane::is_waited_for() const {
  const auto waits = [](const auto& one) { return static_cast<bool>(one.done); };
  return !queue_.empty() || !reads_.empty() ||
         (current_ && (waits(current_->read) || std::ranges::any_of(current_->appends, waits)));
}

void store_lane::watch() {
  if (stopped_ || !is_waited_for()) {
    if (std::exchange(watching_, false)) watch_->cancel();
    return;
  }
  if (std::exchange(watching_, true)) return;
  watched_until_ = next_due();
  if (!watch_) watch_ = time_.make_timer();
  watch_->arm(watched_until_, [this] { expire(); });
}
// Lets the next watch() arm the timer earlier if a new entry expires before the waiting ones.
void store_lane::watch_also(time_point until) {
  if (until < watched_until_) watching_ = false;
}

time_point store_lane::next_due() const {
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

error store_lane::busy_for(milliseconds waited) const {
  return {errc::io, name_ + " did not answer for " + std::to_string(waited.count()) + " ms; see what keeps it busy"};
}

error store_lane::late(const waiting_append& a) const {
  if (a.failed.empty()) return busy_for(a.patience);
  return {errc::io, a.failed + "; it was tried until now"};
}

void store_lane::expire() {
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
  if (!appends.empty() && !trouble_) note(appends.front().second);
  pump();
  const auto busy = busy_for(max_wait_);
  callbacks called;
  for (auto& [done, why] : appends) called.call([&] { done(std::unexpected(std::move(why))); });
  for (auto& done : reads) called.call([&] { done(&busy); });
  called.rethrow();
}

}  // namespace mcpbx::daemon::store
