// Queue in front of the audit's file. Records gather while the lane writes; then it takes all of them. All code here
// runs on the speaking thread, except the jobs on the lane, which own all data that they touch.
#include "daemon/guard/audit/audit_log.hpp"

#include "daemon/guard/audit/audit_file.hpp"
#include "mcp/async/lane.hpp"
#include "mcp/support/log.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <deque>
#include <exception>
#include <utility>
#include <vector>

namespace mcpbx::daemon::audit {
namespace {

namespace asio = boost::asio;

/// Approximate cost of a record in bytes, beside its name and arguments.
constexpr std::size_t overhead = 512;

std::size_t cost(const audit_record& r) {
  return overhead + r.call.name.size() + r.call.arguments.text().size();
}

struct audit_batch {
  std::vector<audit_record> records;
  result<void> outcome;
};

void write(audit_file& file, audit_batch& batch) {
  try {
    std::string lines;
    for (const auto& r : batch.records) lines += to_line(r);
    batch.outcome = file.append(lines);
  } catch (const std::exception& e) {
    batch.outcome = fail(errc::internal, std::string("the audit: ") + e.what());
  }
}

}  // namespace

class audit_log::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(asio::any_io_executor executor, time_source& time, options o)
      : executor_(std::move(executor)),
        time_(time),
        path_(o.path.value_or("")),
        max_wait_(o.max_wait),
        max_bytes_(o.max_bytes),
        file_(std::make_shared<audit_file>(std::move(o.path), o.make_folder)) {}

  void append(audit_record r, std::function<void()> then) {
    const std::size_t size = cost(r);
    if (bytes_ + size > max_bytes_ && bytes_ > 0) {
      lose(1, "the disk of the audit's file " + path_ + " is too slow; see what keeps it busy");
    } else {
      bytes_ += size;
      queue_.push_back(std::move(r));
    }
    // Lost records wait as well, so that answers keep their order.
    waiting_.push_back({std::move(then), appended_ + queue_.size(), time_.now() + max_wait_});
    pump();
    if (!watching_) watch();
  }

  void stop() {
    stopped_ = true;
    watch_.reset();
    waiting_.clear();
    lane_.join();
    if (queue_.empty()) return;
    audit_batch rest{{queue_.begin(), queue_.end()}, {}};
    write(*file_, rest);
    if (!rest.outcome) lose(rest.records.size(), rest.outcome.error().message);
  }

  counters counts{};
  const std::string& path() const { return path_; }

 private:
  struct waiter {
    std::function<void()> then;
    std::uint64_t after;  // number of records that must be handled before
    time_point until;
  };

  void pump() {
    if (busy_ || stopped_) return;
    if (queue_.empty()) return release(appended_);
    busy_ = true;
    auto batch = std::make_shared<audit_batch>();
    batch->records.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end()));
    queue_.clear();
    appended_ += batch->records.size();
    // The guard keeps the context running until the lane has answered.
    auto posted =
        lane_.post([self = shared_from_this(), file = file_, batch, guard = asio::make_work_guard(executor_)] {
          write(*file, *batch);
          asio::post(guard.get_executor(), [self, batch] { self->finished(*batch); });
        });
    if (posted) return;
    batch->outcome = std::move(posted);
    asio::post(executor_, [self = shared_from_this(), batch] { self->finished(*batch); });
  }

  void finished(const audit_batch& batch) {
    for (const auto& r : batch.records) bytes_ -= cost(r);
    busy_ = false;
    if (stopped_) return;
    if (!batch.outcome) {
      lose(batch.records.size(), batch.outcome.error().message);
    } else {
      counts.records += batch.records.size();
      if (!std::exchange(counts.problem, {}).empty()) log::info("the audit is written again");
    }
    release(appended_);
    pump();
  }

  void lose(std::size_t n, const std::string& why) {
    counts.lost += n;
    if (counts.problem != why) log::error("calls are missing in the audit: " + why);
    counts.problem = why;
  }

  void release(std::uint64_t dealt_with) {
    const auto self = shared_from_this();
    while (!waiting_.empty() && waiting_.front().after <= dealt_with) {
      const auto then = std::move(waiting_.front().then);
      waiting_.pop_front();
      then();  // this may append further records
    }
  }

  // All answers wait equally long, so the first in the queue is the first to expire.
  void watch() {
    watching_ = !waiting_.empty();
    if (!watching_ || stopped_) return;
    if (!watch_) watch_ = time_.make_timer();
    watch_->arm(waiting_.front().until, [this] {
      const auto now = time_.now();
      const auto self = shared_from_this();
      if (!waiting_.empty() && waiting_.front().until <= now)
        lose(0, "the disk of the audit's file " + path_ + " did not take records for " +
                    std::to_string(max_wait_.count()) + " ms, so answers do not wait for it; see what keeps it busy");
      while (!waiting_.empty() && waiting_.front().until <= now) {
        const auto then = std::move(waiting_.front().then);
        waiting_.pop_front();
        then();
      }
      watch();
    });
  }

  asio::any_io_executor executor_;
  time_source& time_;
  std::string path_;
  milliseconds max_wait_;
  std::size_t max_bytes_;
  std::shared_ptr<audit_file> file_;
  std::vector<audit_record> queue_;
  std::deque<waiter> waiting_;
  std::uint64_t appended_ = 0;  // number of records given to the lane
  std::size_t bytes_ = 0;
  std::unique_ptr<timer> watch_;
  bool busy_ = false, watching_ = false, stopped_ = false;
  async::lane lane_{"audit", 1};
};

audit_log::audit_log(asio::any_io_executor executor, time_source& time, options o)
    : impl_(std::make_shared<impl>(std::move(executor), time, std::move(o))) {}

audit_log::~audit_log() {
  impl_->stop();
}

void audit_log::append(audit_record r, std::function<void()> then) {
  impl_->append(std::move(r), std::move(then));
}
const audit_log::counters& audit_log::counts() const {
  return impl_->counts;
}
const std::string& audit_log::path() const {
  return impl_->path();
}

}  // namespace mcpbx::daemon::audit
