// Group commit: while the lane writes, appends gather; when it is free it takes all of them. Everything here happens on
// the speaking thread but what `group` does, which owns all that it touches.
#include "daemon/store/sqlite_journal.hpp"

#include "daemon/store/record_format.hpp"
#include "mcp/async/lane.hpp"
#include "mcp/support/log.hpp"

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

struct waiting_append {
  run_batch batch;
  bool synced = false;
  time_point until;
  on_appended done;
};

// What the lane does in one go.
struct group {
  std::vector<waiting_append> appends;
  std::vector<result<void>> outcomes;
  std::vector<std::shared_ptr<run_place>> left_open;  // runs to be closed, their journals are gone
  bool recovered = false;
};

// The lane's side: the file and what is done with it.
class store_worker {
 public:
  store_worker(sqlite_file::options file, recovery_rule rule) : file_(std::move(file)), rule_(std::move(rule)) {}

  void work(group& g) {
    const std::int64_t now = g.appends.empty() ? 0 : g.appends.front().batch.at_ms;
    auto ready = get_ready(now);
    if (!ready) return g.outcomes.assign(g.appends.size(), ready);
    write(g);
    const bool written = std::ranges::all_of(g.outcomes, [](const auto& o) { return o.has_value(); });
    if (written) close_left(g, now);
    if (!written) file_.close();  // the next append opens it anew, whatever state it is in now
  }

 private:
  result<void> get_ready(std::int64_t now) {
    if (auto opened = file_.open(); !opened) return opened;
    if (recovered_) return {};
    auto unfinished = file_.runs(true);
    auto done = unfinished ? result<void>() : result<void>(std::unexpected(unfinished.error()));
    if (unfinished)
      for (const auto& row : *unfinished)
        if (done) done = close_run(row.id, row.run, now);
    if (!done) {
      file_.close();
      return done;
    }
    if (!unfinished->empty())
      log::warn("closed " + std::to_string(unfinished->size()) + " runs that an earlier daemon left without an end");
    recovered_ = true;
    return {};
  }

  result<void> close_run(std::int64_t id, const std::string& run, std::int64_t now) {
    auto known = file_.records(id);
    if (!known && known.error().code == errc::io) return std::unexpected(known.error());
    if (!known) {
      log::error("the records of run " + run + " cannot be read and stay as they are: " + known.error().message);
      return file_.mark_damaged(id, now);
    }
    run_batch rest;
    rest.place = std::make_shared<run_place>(run_place{run, id, static_cast<std::int64_t>(known->size())});
    rest.records = rule_ ? rule_(*known) : std::vector<run_record>();
    rest.at_ms = now;
    const bool ends = !rest.records.empty() && std::holds_alternative<record::run_ended>(rest.records.back());
    if (!ends) rest.records.emplace_back(record::run_ended{stop_reason::interrupted, ""});
    for (const auto& r : rest.records) rest.texts.push_back(to_text(r));
    run_batch* const one = &rest;
    return file_.append({&one, 1}, true);
  }

  void write(group& g) {
    std::vector<run_batch*> all;
    bool synced = false;
    for (auto& a : g.appends) {
      all.push_back(&a.batch);
      synced = synced || a.synced;
    }
    g.outcomes.assign(g.appends.size(), file_.append(all, synced));
    if (g.outcomes.front() || g.appends.size() == 1) return;
    // One of them may be at fault; the others must not fail with it.
    for (std::size_t i = 0; i < g.appends.size(); ++i) g.outcomes[i] = file_.append({&all[i], 1}, g.appends[i].synced);
  }

  // Taken out of the group as they are closed; those that stay are tried again with the next one.
  void close_left(group& g, std::int64_t now) {
    std::erase_if(g.left_open, [&](const auto& place) {
      if (place->id == 0) return true;
      const auto closed = close_run(place->id, place->run, now);
      if (!closed) log::warn("run " + place->run + " could not be closed yet: " + closed.error().message);
      return closed.has_value();
    });
  }

  sqlite_file file_;
  recovery_rule rule_;
  bool recovered_ = false;
};

}  // namespace

class sqlite_journal::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(asio::any_io_executor executor, time_source& time, options o)
      : executor_(std::move(executor)),
        time_(time),
        max_batch_bytes_(o.max_batch_bytes),
        max_wait_(o.max_wait),
        path_(o.file.path),
        worker_(std::make_shared<store_worker>(std::move(o.file), std::move(o.recovery))) {}

  void append(std::shared_ptr<run_place> place, std::vector<run_record> records, bool synced, on_appended done) {
    if (records.empty()) return asio::post(executor_, [done = std::move(done)] { done({}); });
    waiting_append a;
    a.batch.place = std::move(place);
    a.batch.records = std::move(records);
    a.batch.at_ms = time_.wall_ms();
    a.synced = synced;
    a.until = time_.now() + max_wait_;
    a.done = std::move(done);
    queue_.push_back(std::move(a));
    pump();
  }

  void left_open(std::shared_ptr<run_place> place) { left_open_.push_back(std::move(place)); }

  void stop() {
    stopped_ = true;
    lane_.join();
    queue_.clear();
    watch_.reset();
  }

 private:
  void pump() {
    if (queue_.empty() || stopped_) return watching(false);
    if (busy_) return watching(true);
    busy_ = true;
    auto g = std::make_shared<group>();
    std::size_t bytes = 0;
    while (!queue_.empty() && bytes < max_batch_bytes_) {
      auto& next = queue_.front();
      for (const auto& r : next.batch.records) {
        next.batch.texts.push_back(to_text(r));
        bytes += next.batch.texts.back().size();
      }
      g->appends.push_back(std::move(next));
      queue_.pop_front();
    }
    g->left_open = std::exchange(left_open_, {});
    watching(!queue_.empty());
    // The guard keeps the context running until the lane has answered.
    lane_.post([self = shared_from_this(), worker = worker_, g, guard = asio::make_work_guard(executor_)] {
      try {
        worker->work(*g);
      } catch (const std::exception& e) {
        g->outcomes.assign(g->appends.size(), fail(errc::internal, std::string("the journal: ") + e.what()));
      }
      asio::post(guard.get_executor(), [self, g] { self->finished(*g); });
    });
  }

  void finished(group& g) {
    left_open_.insert(left_open_.end(), g.left_open.begin(), g.left_open.end());
    auto self = shared_from_this();
    // Still busy: what these runs append next becomes one group.
    for (std::size_t i = 0; i < g.appends.size(); ++i) g.appends[i].done(std::move(g.outcomes[i]));
    busy_ = false;
    pump();
  }

  // Every append waits equally long, so the first in the queue is the first whose time is up.
  void watching(bool on) {
    if (on == watching_ || (on && stopped_)) return;
    watching_ = on;
    if (!on) return watch_ ? watch_->cancel() : void();
    if (!watch_) watch_ = time_.make_timer();
    watch_->arm(queue_.front().until, [this] { expire(); });
  }

  void expire() {
    watching_ = false;
    std::vector<on_appended> late;
    for (const auto now = time_.now(); !queue_.empty() && queue_.front().until <= now; queue_.pop_front())
      late.push_back(std::move(queue_.front().done));
    if (!queue_.empty()) watching(true);
    auto self = shared_from_this();
    for (auto& done : late)
      done(fail(errc::io, "the disk of the journal " + path_ + " did not take records for " +
                              std::to_string(max_wait_.count()) + " ms; see what keeps it busy"));
  }

  asio::any_io_executor executor_;
  time_source& time_;
  std::size_t max_batch_bytes_;
  milliseconds max_wait_;
  std::string path_;
  std::shared_ptr<store_worker> worker_;
  std::deque<waiting_append> queue_;
  std::vector<std::shared_ptr<run_place>> left_open_;
  std::unique_ptr<timer> watch_;
  bool busy_ = false, watching_ = false, stopped_ = false;
  lane lane_{"store", 1};
};

// Between its appends a run's place belongs to this thread, while one goes on to the lane.
class sqlite_journal::one_run final : public run_journal {
 public:
  one_run(std::shared_ptr<impl> owner, const std::string& run)
      : owner_(std::move(owner)), place_(std::make_shared<run_place>(run_place{run, 0, 0})) {}
  ~one_run() override {
    if (begun_ && !ended_) owner_->left_open(std::move(place_));
  }

  asio::awaitable<result<void>> append(std::vector<run_record> records, bool synced) override {
    const bool last = !records.empty() && std::holds_alternative<record::run_ended>(records.back());
    begun_ = true;
    auto start = [this, synced](auto handler, std::vector<run_record> all) {
      auto kept = std::make_shared<decltype(handler)>(std::move(handler));
      owner_->append(place_, std::move(all), synced, [kept](result<void> outcome) {
        auto call = std::move(*kept);
        std::move(call)(std::move(outcome));
      });
    };
    auto outcome = co_await asio::async_initiate<const asio::use_awaitable_t<>, void(result<void>)>(
        std::move(start), asio::use_awaitable, std::move(records));
    ended_ = ended_ || (last && outcome.has_value());
    co_return outcome;
  }

 private:
  std::shared_ptr<impl> owner_;
  std::shared_ptr<run_place> place_;
  bool begun_ = false, ended_ = false;
};

sqlite_journal::sqlite_journal(asio::any_io_executor executor, time_source& time, options o)
    : impl_(std::make_shared<impl>(std::move(executor), time, std::move(o))) {}

sqlite_journal::~sqlite_journal() {
  impl_->stop();
}

std::unique_ptr<run_journal> sqlite_journal::open_run(const std::string& run) {
  return std::make_unique<one_run>(impl_, run);
}

}  // namespace mcpbx::daemon
