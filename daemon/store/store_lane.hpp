// Queue in front of a store for the appends of all runs and for reads, bounded in bytes, number and time.
#pragma once
#include "daemon/store/lane_journal.hpp"
#include "daemon/store/store_worker.hpp"
#include "mcp/async/lane.hpp"
#include "mcp/async/short_wait.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::store {

/// The queue. Use it on the speaking thread; call stop() last.
class store_lane : public std::enable_shared_from_this<store_lane> {
 public:
  using on_appended = std::function<void(result<void>)>;
  using unfinished_rows = std::vector<store_worker::unfinished>;

  /// Takes the parameters of lane_journal.
  store_lane(boost::asio::any_io_executor executor, time_source& time, std::unique_ptr<run_store> file,
             lane_journal::options o);

  /// Queues an append and calls `done` in a later turn. `patience` is the time for which a begun run waits while the
  /// store cannot be reached.
  void append(std::shared_ptr<run_place> place, std::vector<stored::run_record> records, bool synced,
              milliseconds patience, on_appended done);
  /// Returns the size in bytes of records that wait or are being written.
  std::size_t held_bytes() const noexcept { return held_bytes_; }
  const std::string& store_name() const noexcept { return name_; }
  bool is_shared() const noexcept { return shared_; }
  const std::optional<journal_trouble>& trouble() const noexcept { return trouble_; }

  void opened() { ++open_runs_; }
  void closed() { --open_runs_; }
  void left_open(std::shared_ptr<run_place> place) { left_open_.push_back(std::move(place)); }

  /// Runs `work(worker, now)` on the lane and gives its result<T> to `then` here. If `then` has already got an error,
  /// because the lane was too slow, `unclaimed` gets the late result.
  template <class T, class Work>
  void read(Work work, std::function<void(result<T>)> then, std::function<void(result<T>)> unclaimed = {}) {
    auto slot = std::make_shared<result<T>>(fail(errc::internal, name_ + " gave no answer; ask again"));
    auto done = [slot, then = std::move(then)](const error* late) {
      then(late ? result<T>(std::unexpected(*late)) : std::move(*slot));
    };
    if (reads_.size() >= max_reads_) {
      *slot = fail(errc::limit, std::to_string(max_reads_) + " requests wait for " + name_ + "; try again later");
      return boost::asio::post(executor_, [done = std::move(done)] { done(nullptr); });
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

  /// Hands out runs that will be continued, each once. Runs that come too late for `then` stay for the next call.
  void take_unfinished(std::function<void(result<unfinished_rows>)> then);

  /// Waits for the present job of the lane and drops the queue.
  void stop();

 private:
  struct waiting_append {
    store_worker::append what;
    milliseconds patience;
    time_point until;
    on_appended done;           // empty once it was called
    std::size_t bytes = 0;      // size of its texts, once they are made
    bool may_be_again = false;  // may be repeated if the store cannot be reached
    std::string failed;         // reason of the last failure

    bool is_to_be_again() const {
      return done && may_be_again && !what.outcome && what.outcome.error().code == errc::io;
    }
  };
  struct waiting_read {
    std::function<void(store_worker&, std::int64_t now_ms)> work;
    time_point until;
    std::function<void(const error* late)> done;  // empty once it was called
    std::function<void()> unclaimed;              // called instead for a late result; or empty
  };
  struct job;

  static std::unexpected<error> fault_in(const std::string& store, const std::exception& what);
  void admit();
  void pump();
  bool may_write() const { return !queue_.empty() && !pausing_; }
  void put_back(std::vector<waiting_append>& appends);
  void begin();
  void failed(job& j, const std::string& what);
  void finished(job& j, const error* refused = nullptr);
  bool is_waited_for() const;
  void watch();
  void watch_also(time_point until);
  time_point next_due() const;
  void note(const std::optional<error>& fault);
  error busy_for(milliseconds waited) const;
  error late(const waiting_append& a) const;
  void expire();

  boost::asio::any_io_executor executor_;
  time_source& time_;
  bool sync_calls_;
  std::size_t max_bytes_;
  milliseconds max_wait_;
  std::size_t max_reads_, awake_runs_;
  std::string name_;
  bool shared_;
  async::short_wait commit_;  // for commits that do not wait for the disk
  std::size_t open_runs_ = 0;
  std::shared_ptr<store_worker> worker_;
  std::deque<waiting_append> queue_;
  std::size_t admitted_ = 0;    // number of appends at the front of the queue whose texts are made
  byte_share held_;             // share for held_bytes_
  std::size_t held_bytes_ = 0;  // size of texts that wait or are being written
  std::shared_ptr<job> current_;
  std::deque<waiting_read> reads_;
  std::vector<std::shared_ptr<run_place>> left_open_;
  unfinished_rows unclaimed_;
  std::optional<journal_trouble> trouble_;
  std::unique_ptr<timer> watch_, pause_;
  time_point watched_until_{};
  bool watching_ = false, stopped_ = false;
  bool pausing_ = false;  // pause after the store could not be reached
  async::lane lane_{"store", 1};
};

}  // namespace mcpbx::daemon::store
