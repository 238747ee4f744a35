// Follows the open calls of each run by its records and audits each call at its end.
#include "daemon/guard/audit/audited_journal.hpp"

#include "mcp/support/keyed_hash.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::audit {
namespace {

namespace asio = boost::asio;
using cause = stored::record::result_cause;

mcp::server::call_end end_of(const stored::record::call_result& r) {
  switch (r.cause) {
    case cause::server:
      return r.is_error ? mcp::server::call_end::tool_error : mcp::server::call_end::result;
    case cause::timed_out:
    case cause::unavailable:
    case cause::interrupted:
      return mcp::server::call_end::failed;
    case cause::cancelled:
      return mcp::server::call_end::cancelled;
    case cause::unknown_tool:
    case cause::bad_arguments:
    case cause::too_many_calls:
    case cause::refused:
      break;
  }
  return mcp::server::call_end::error;
}

// The open calls of a run, derived from its records.
class call_watch {
 public:
  explicit call_watch(std::string run) : run_(std::move(run)) {}

  /// Returns audit records for the calls that end in these records.
  std::vector<audit_record> take(const std::vector<stored::run_record>& records) {
    std::vector<audit_record> ended;
    for (const auto& r : records) {
      if (const auto* begun = std::get_if<stored::record::run_started>(&r)) {
        principal_ = begun->principal;
      } else if (const auto* reply = std::get_if<stored::record::assistant>(&r)) {
        for (const auto* call : reply->message->calls()) {
          open_call& one = open_[call->id] = {};
          one.call.name = call->name;
          one.call.arguments = call->arguments;
          one.arguments_known = true;
        }
      } else if (const auto* intent = std::get_if<stored::record::call_intent>(&r)) {
        if (intent->to_caller) continue;  // a tool of the caller, which no server of ours sees
        auto& one = open_[intent->call_id];
        one.call.name = intent->name;
        one.call.server = intent->server;
        one.call.decision = mcp::server::call_decision::called;
      } else if (const auto* result = std::get_if<stored::record::call_result>(&r)) {
        ended.push_back(end(*result));
      } else if (const auto* own = std::get_if<stored::record::caller_result>(&r)) {
        open_.erase(own->call_id);
      }
    }
    return ended;
  }

  /// Marks the calls begun by journalled records as sent.
  void let_go(const std::vector<std::string>& calls) {
    for (const auto& id : calls)
      if (auto found = open_.find(id); found != open_.end()) found->second.sent = true;
  }
  /// Returns audit records for the calls that were sent and have not ended, whose end is not journalled any more.
  std::vector<audit_record> rest() {
    std::vector<audit_record> all;
    stored::record::call_result none;
    none.cause = cause::interrupted;
    std::vector<std::string> ids;
    for (const auto& [id, one] : open_)
      if (one.sent) ids.push_back(id);
    std::ranges::sort(ids);
    for (auto& id : ids) {
      none.call_id = std::move(id);
      all.push_back(end(none));
    }
    return all;
  }

 private:
  struct open_call {
    mcp::server::finished_call call;
    bool arguments_known = false;  // false in a run that was resumed after a restart
    bool sent = false;             // sent by this process
  };

  audit_record end(const stored::record::call_result& r) {
    audit_record a;
    if (auto found = open_.extract(r.call_id); !found.empty()) {
      a.call = std::move(found.mapped().call);
      a.arguments_known = found.mapped().arguments_known;
    } else {
      a.arguments_known = false;
      if (r.cause == cause::interrupted) a.call.decision = mcp::server::call_decision::called;
    }
    a.principal = principal_;
    a.run = run_;
    if (r.cause == cause::unknown_tool) a.call.decision = mcp::server::call_decision::unknown;
    a.call.end = end_of(r);
    a.call.result_bytes = r.cause == cause::server ? r.result.text().size() : 0;
    return a;
  }

  std::string run_, principal_;
  text_map<open_call> open_;
};

class audited_run final : public store::run_journal {
 public:
  /// `known` are the records that the run has already; the calls that they end were audited before.
  audited_run(std::unique_ptr<store::run_journal> inner, const std::string& run, audit_log& log, time_source& time,
              const std::vector<stored::run_record>& known = {})
      : inner_(std::move(inner)), watch_(run), log_(log), time_(time) {
    watch_.take(known);
  }
  // A run whose journal fails ends in memory, and the fate of its open calls is not journalled any more.
  ~audited_run() override {
    for (auto& one : watch_.rest()) {
      one.wall_ms = time_.wall_ms();
      log_.append(std::move(one), [] {});
    }
  }

  void wait_at_most(milliseconds patience) override { inner_->wait_at_most(patience); }
  asio::awaitable<result<void>> append(std::vector<stored::run_record> records, bool synced) override {
    auto ended = watch_.take(records);
    std::vector<std::string> begun;
    for (const auto& r : records)
      if (const auto* intent = std::get_if<stored::record::call_intent>(&r)) begun.push_back(intent->call_id);
    // Audit even if the journal fails, since the calls were made.
    auto outcome = co_await inner_->append(std::move(records), synced);
    if (outcome) watch_.let_go(begun);
    if (!ended.empty()) co_await audit(std::move(ended));
    co_return outcome;
  }

 private:
  asio::awaitable<void> audit(std::vector<audit_record> ended) {
    const auto now = time_.wall_ms();
    auto start = [this, now](auto handler, std::vector<audit_record> all) {
      auto kept = std::make_shared<decltype(handler)>(std::move(handler));
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].wall_ms = now;
        const bool last = i + 1 == all.size();
        log_.append(std::move(all[i]), [kept = last ? kept : nullptr] {
          if (!kept) return;
          auto call = std::move(*kept);
          std::move(call)();
        });
      }
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(std::move(start), asio::use_awaitable,
                                                                         std::move(ended));
  }

  std::unique_ptr<store::run_journal> inner_;
  call_watch watch_;
  audit_log& log_;
  time_source& time_;
};

}  // namespace

std::function<void(const std::vector<stored::run_record>& before, const std::vector<stored::run_record>& closing)>
audit_of_closed_runs(asio::any_io_executor executor, audit_log& log, time_source& time) {
  return [executor = std::move(executor), &log, &time](const std::vector<stored::run_record>& before,
                                                       const std::vector<stored::run_record>& closing) {
    const auto* begun = before.empty() ? nullptr : std::get_if<stored::record::run_started>(&before.front());
    if (!begun) return;
    call_watch watch(begun->run);
    watch.take(before);  // the calls that these end were audited before
    auto ended = watch.take(closing);
    if (ended.empty()) return;
    asio::post(executor, [&log, &time, ended = std::move(ended)]() mutable {
      for (auto& one : ended) {
        one.wall_ms = time.wall_ms();
        log.append(std::move(one), [] {});
      }
    });
  };
}

std::unique_ptr<store::run_journal> audited_journal::open_run(const std::string& run) {
  return std::make_unique<audited_run>(inner_->open_run(run), run, log_, time_);
}

void audited_journal::take_unfinished(answer<std::vector<store::unfinished_run>> then) {
  inner_->take_unfinished([this, then = std::move(then)](result<std::vector<store::unfinished_run>> runs) {
    if (runs)
      for (auto& r : *runs)
        r.journal = std::make_unique<audited_run>(std::move(r.journal), r.run, log_, time_, r.records);
    then(std::move(runs));
  });
}

}  // namespace mcpbx::daemon::audit
