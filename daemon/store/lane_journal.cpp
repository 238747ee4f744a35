// Connects runs with the queue of a store's lane. Each run has a place, which travels to the lane with its appends.
#include "daemon/store/lane_journal.hpp"

#include "daemon/store/store_lane.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::store {
namespace {

namespace asio = boost::asio;

// Journal of one run. Between appends the place belongs to this thread, during one to the lane. After a failed append
// the lane may still use it, so no further append follows.
class one_run final : public run_journal {
 public:
  one_run(std::shared_ptr<store_lane> owner, run_place place)
      : owner_(std::move(owner)), place_(std::make_shared<run_place>(std::move(place))), begun_(place_->id != 0) {
    owner_->opened();
  }
  ~one_run() override {
    owner_->closed();
    if (begun_ && !ended_) owner_->left_open(std::move(place_));
  }

  asio::awaitable<result<void>> append(std::vector<stored::run_record> records, bool synced) override {
    if (failed_)
      co_return fail(errc::io, "earlier records of this run could not be written to " + owner_->store_name() +
                                   "; begin a new run");
    const bool last = !records.empty() && std::holds_alternative<stored::record::run_ended>(records.back());
    begun_ = true;
    auto start = [this, synced](auto handler, std::vector<stored::run_record> all) {
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
  std::shared_ptr<store_lane> owner_;
  std::shared_ptr<run_place> place_;
  milliseconds patience_ = longest_outage;
  bool begun_ = false, ended_ = false, failed_ = false;
};

}  // namespace

lane_journal::lane_journal(asio::any_io_executor executor, time_source& time, std::unique_ptr<run_store> file,
                           options o)
    : lane_(std::make_shared<store_lane>(std::move(executor), time, std::move(file), std::move(o))) {}

lane_journal::~lane_journal() {
  lane_->stop();
}

std::size_t lane_journal::held_bytes() const {
  return lane_->held_bytes();
}

std::unique_ptr<run_journal> lane_journal::open_run(const std::string& run) {
  return std::make_unique<one_run>(lane_, run_place{run});
}

bool lane_journal::is_shared() const {
  return lane_->is_shared();
}

std::optional<journal_trouble> lane_journal::trouble() const {
  return lane_->trouble();
}

void lane_journal::load_history(std::string session, answer<history> then) {
  lane_->read<history>([session = std::move(session)](auto& w, auto now) { return w.load_history(session, now); },
                       std::move(then));
}

void lane_journal::list_sessions(stored::session_query q, answer<std::vector<stored::session_row>> then) {
  lane_->read<std::vector<stored::session_row>>(
      [q = std::move(q)](auto& w, auto now) { return w.list_sessions(q, now); }, std::move(then));
}

void lane_journal::read_session(std::string session, answer<stored::session_contents> then) {
  lane_->read<stored::session_contents>(
      [session = std::move(session)](auto& w, auto now) { return w.read_session(session, now); }, std::move(then));
}

void lane_journal::erase_session(std::string session, answer<void> then) {
  lane_->read<void>([session = std::move(session)](auto& w, auto now) { return w.erase_session(session, now); },
                    std::move(then));
}

void lane_journal::take_unfinished(answer<std::vector<unfinished_run>> then) {
  lane_->take_unfinished([owner = lane_, then = std::move(then)](result<store_lane::unfinished_rows> found) {
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

void lane_journal::find_ended(std::string run, answer<std::vector<stored::run_record>> then) {
  lane_->read<std::vector<stored::run_record>>(
      [run = std::move(run)](auto& w, auto now) { return w.find_ended(run, now); }, std::move(then));
}

void lane_journal::find_owner(std::string run, answer<std::optional<std::string>> then) {
  lane_->read<std::optional<std::string>>([run = std::move(run)](auto& w, auto now) { return w.find_owner(run, now); },
                                          std::move(then));
}

void lane_journal::count_usage(stored::look_back where, answer<usage_page> then) {
  lane_->read<usage_page>([where](auto& w, auto now) { return w.count_usage(where, now); }, std::move(then));
}

void lane_journal::find_words(stored::look_back where, std::string words, std::size_t most, answer<found_page> then) {
  lane_->read<found_page>(
      [where, words = std::move(words), most](auto& w, auto now) { return w.find_words(where, words, most, now); },
      std::move(then));
}

}  // namespace mcpbx::daemon::store
