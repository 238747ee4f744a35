// Queue in front of pin_worker. Lists to judge, reports and approvals gather while the lane works; then it takes all of
// them as one job. All code here runs on the speaking thread.
#include "daemon/guard/pins/pin_guard.hpp"

#include "daemon/guard/pins/pin_worker.hpp"
#include "daemon/guard/state_file.hpp"
#include "mcp/async/lane.hpp"
#include "mcp/support/heap.hpp"
#include "mcp/support/log.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::pins {
namespace {

namespace asio = boost::asio;
using on_decided = std::function<void(mcp::catalogs::definition_decision)>;

constexpr milliseconds first_wait{1000}, longest_wait{60'000};  // between attempts to use a broken file

}  // namespace

class pin_guard::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(asio::any_io_executor executor, time_source& time, options o)
      : executor_(std::move(executor)), time_(time), worker_(std::make_shared<pin_worker>(std::move(o.path))) {
    set_servers(std::move(o.servers));
  }

  void set_servers(std::vector<pinned_server> servers) {
    auto before = std::exchange(servers_, {});
    std::vector<on_decided> free;  // of servers that are not judged any more
    for (auto& s : servers) {
      const auto known = find(before, s.name);
      watched w = known == before.end() ? watched() : std::move(*known);
      const bool was_judged = w.is_judged();
      w.about = std::move(s);
      if (was_judged && !w.is_judged() && w.tools) {
        w.generation = ++lists_taken_;
        free.push_back(w.decided);
      }
      servers_.push_back(std::move(w));
    }
    judge_again();
    for (const auto& decided : free) decided({});
  }

  void judge(const std::string& name, mcp::protocol::feature_list tools, on_decided decided) {
    const auto s = find(servers_, name);
    if (s == servers_.end()) return decided({});
    s->tools = std::move(tools);
    s->decided = std::move(decided);
    s->generation = ++lists_taken_;
    s->judge = s->is_judged();
    if (!s->judge) return on_decided(s->decided)({});
    if (s->about.plain_name && !settled_) judge_names();
    pump();
  }

  void settled() {
    settled_ = true;
    judge_names();
    pump();
  }

  void list(pin_list_request r) {
    lists_.push_back(std::move(r));
    judge_again();
  }

  void accept(pin_accept_request r) {
    accepts_.push_back(std::move(r));
    judge_again();
  }

  void stop() {
    stopped_ = true;
    again_.reset();
    lane_.join();
  }

 private:
  struct watched {
    pinned_server about;
    mcp::protocol::feature_list tools{};
    std::uint64_t generation = 0;  // generation of its list
    bool judge = false;
    on_decided decided{};
    std::string logged{};
    bool is_judged() const { return about.mode != pin_mode::off || about.plain_name; }
  };

  static std::vector<watched>::iterator find(std::vector<watched>& all, std::string_view name) {
    return std::ranges::find(all, name, [](const watched& w) { return std::string_view(w.about.name); });
  }

  // Judges all servers again: an approval, or another daemon's change of the file, may concern any of them, and a
  // report must agree with the tools that are offered.
  void judge_again() {
    for (auto& s : servers_) s.judge = s.judge || (s.is_judged() && s.tools != nullptr);
    pump();
  }

  // Judges servers with plain names again, because the owner of a name may depend on another server's list.
  void judge_names() {
    for (auto& s : servers_) s.judge = s.judge || (s.about.plain_name && s.tools != nullptr);
  }

  void pump() {
    const bool work = !lists_.empty() || !accepts_.empty() || std::ranges::any_of(servers_, &watched::judge);
    if (!work || busy_ || stopped_) return;
    busy_ = true;
    auto job = std::make_shared<pin_job>();
    job->now = guard::utc_text(time_.wall_ms());
    job->settled = settled_;
    for (auto& s : servers_)
      job->servers.push_back({.server = s.about,
                              .tools = s.is_judged() ? s.tools : nullptr,
                              .generation = s.generation,
                              .judge = std::exchange(s.judge, false)});
    job->accepts = std::exchange(accepts_, {});
    job->lists = std::exchange(lists_, {});
    // The guard keeps the context running until the lane has answered.
    auto posted =
        lane_.post([self = shared_from_this(), worker = worker_, job, guard = asio::make_work_guard(executor_)] {
          try {
            worker->work(*job);
          } catch (const std::exception& e) {
            worker->failed(*job, std::string("the pins: ") + e.what());
          }
          asio::post(guard.get_executor(), [self, job] { self->finished(*job); });
        });
    if (posted) return;
    worker_->failed(*job, "the pins: " + posted.error().message);
    asio::post(executor_, [self = shared_from_this(), job] { self->finished(*job); });
  }

  void finished(pin_job& job) {
    busy_ = false;
    if (stopped_) return;
    for (pin_listing& done : job.servers) {
      const auto s = find(servers_, done.server.name);
      if (!done.judge || s == servers_.end() || done.generation != s->generation) continue;
      tell(*s, done.decision.notice);
      const auto decided = s->decided;  // a copy: the callback may bring the next list
      decided(std::move(done.decision));
    }
    try_again_later(job.failed);
    for (auto& a : job.accepts) a.then(std::move(a.outcome));
    for (auto& l : job.lists) l.then(std::move(l.report));
    pump();
    if (busy_) return;
    job = {};
    give_back_free_memory();
  }

  // Repeats a failed comparison later: descriptors, threads and disks run out only for a while, and files get fixed.
  // Until then the decision made without the pins stays.
  void try_again_later(bool failed) {
    if (!failed) {
      again_.reset();
      wait_ = first_wait;
      return;
    }
    if (again_) return;
    again_ = time_.make_timer();
    again_->arm(time_.now() + wait_, [this] {
      const auto spent = std::move(again_);
      wait_ = std::min(wait_ * 2, longest_wait);
      judge_again();
    });
  }

  static void tell(watched& s, const std::string& notice) {
    if (notice != s.logged && !notice.empty()) log::warn(notice);
    s.logged = notice;
  }

  asio::any_io_executor executor_;
  time_source& time_;
  std::shared_ptr<pin_worker> worker_;
  std::vector<watched> servers_;
  std::uint64_t lists_taken_ = 0;
  std::vector<pin_list_request> lists_;
  std::vector<pin_accept_request> accepts_;
  std::unique_ptr<timer> again_;
  milliseconds wait_ = first_wait;
  bool busy_ = false, stopped_ = false, settled_ = false;
  async::lane lane_{"pins", 1};
};

pin_guard::pin_guard(asio::any_io_executor executor, time_source& time, options o)
    : impl_(std::make_shared<impl>(std::move(executor), time, std::move(o))) {}

pin_guard::~pin_guard() {
  impl_->stop();
}

void pin_guard::set_servers(std::vector<pinned_server> servers) {
  impl_->set_servers(std::move(servers));
}
void pin_guard::judge(const std::string& server, const mcp::protocol::feature_kind& kind,
                      mcp::protocol::feature_list list, on_decided decided) {
  if (kind.id != mcp::protocol::kind_id::tools) return decided({});  // only tools have pins
  impl_->judge(server, std::move(list), std::move(decided));
}
void pin_guard::settled() {
  impl_->settled();
}
void pin_guard::list(pin_choice which, bool definitions, std::function<void(pin_report)> then) {
  impl_->list({.which = std::move(which), .definitions = definitions, .then = std::move(then)});
}
void pin_guard::accept(pin_choice which, std::string sha256, std::function<void(result<std::size_t>)> then) {
  impl_->accept({.which = std::move(which), .sha256 = std::move(sha256), .then = std::move(then)});
}

}  // namespace mcpbx::daemon::pins
