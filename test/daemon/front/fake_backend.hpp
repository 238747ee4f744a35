// The daemon behind the door, as a script.
#pragma once
#include "daemon/front/base/backend.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::test {

class fake_backend : public daemon::front::backend {
 public:
  mcp::catalogs::catalog_ptr tools() const override {
    call();
    return catalog;
  }
  mcp::protocol::feature_list listed_tools(std::string_view server) const override {
    const auto found = lists.find(std::string(server));
    return found == lists.end() ? nullptr : found->second;
  }
  void when_settled(milliseconds, std::function<void()> then) override {
    call();
    waiting.push_back(std::move(then));
  }
  bool tried() const override { return all_tried; }
  std::vector<mcp::clients::server_status> servers() const override {
    call();
    return status;
  }
  result<void> restart(std::string_view server) override {
    call();
    if (server != "files") return fail(errc::not_found, "no tool server is named \"" + std::string(server) + "\"");
    return {};
  }
  std::shared_ptr<void> on_catalog_change(std::function<void(const mcp::protocol::feature_kind&)> changed) override {
    list_changed = std::move(changed);
    return {this, [](fake_backend* b) { b->list_changed = {}; }};
  }
  result<std::shared_ptr<daemon::run::run_feed>> start_run(daemon::run::run_request r,
                                                           daemon::run::runner::recorded t) override {
    call();
    if (r.model == "nope") return fail(errc::not_found, "no model is named \"nope\"");
    if (const auto known = feeds.find(r.run); known != feeds.end()) return known->second;
    const std::string run = r.run.empty() ? "run-" + std::to_string(started.size() + 1) : r.run;
    auto feed = std::exchange(r.feed, nullptr);
    if (!feed)
      feed = std::make_shared<daemon::run::run_feed>(run,
                                                     daemon::run::run_feed::options{.bound = bound, .keep = r.detach});
    feed->when_abandoned([this, run](std::string why) {
      abandoned.push_back(run + ": " + why);
      call();
    });
    feeds.emplace(run, feed);
    if (t) told = std::move(t);
    started.push_back(std::move(r));
    call();
    return feed;
  }
  result<std::shared_ptr<daemon::run::run_feed>> find_run(std::string_view run) const override {
    call();
    if (const auto known = feeds.find(std::string(run)); known != feeds.end()) return known->second;
    return fail(errc::not_found, "no run is named \"" + std::string(run) + "\"; it may have ended");
  }
  void recall_run(std::string_view run, std::uint64_t likeness,
                  std::function<void(result<daemon::run::runner::recalled_run>)> then) override {
    call();
    recalled.push_back(std::string(run) + (likeness == 0 ? "" : " with its likeness"));
    looking.then = std::move(then);
    if (!looks_long) looking(fail(errc::not_found, "no run is named \"" + std::string(run) + "\"; it may have ended"));
  }
  bool cancel_run(std::string_view run, std::string, std::function<void(result<void>)> done) override {
    call();
    cancelled.emplace_back(run);
    if (!run.starts_with("run-")) return false;
    if (cancels_long)
      cancel_kept = std::move(done);
    else if (done)
      done({});
    return true;
  }
  void reload(daemon::front::reload_answer then) override {
    call();
    reloads.push_back(std::move(then));
  }
  void answer(std::string_view run, std::string question, json::raw_json body,
              std::function<void(result<void>)> done) override {
    call();
    answers.push_back(std::string(run) + " " + question + " " + std::string(body.text()));
    answered = std::move(done);
  }
  void when_left_taken(left_taken then) override {
    call();
    if (!left_behind) return then({});
    for_left.push_back(std::move(then));
  }
  daemon::run::loop_counters run_counts() const override { return counts; }
  daemon::store::journal& store() override { return *kept; }
  daemon::pins::pin_register* pins() override { return register_of_pins; }
  daemon::logins::login_desk* logins() override { return desk_of_logins; }
  daemon::front::model_directory* models() override { return directory_of_models; }
  void stop() override {
    call();
    ++stops;
  }

  bool cancels_long = false;  ///< `cancel_kept` waits
  std::function<void(result<void>)> cancel_kept;

  void settle() {
    for (auto& then : std::exchange(waiting, {})) then();
  }

  mcp::catalogs::catalog_ptr catalog =
      std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>(), 1);
  std::map<std::string, mcp::protocol::feature_list> lists;  ///< tools that servers list, by the servers' names
  std::vector<std::function<void()>> waiting;
  std::function<void(const mcp::protocol::feature_kind&)> list_changed;
  std::function<void()> called;  ///< in everything that the door asks, and when a run is abandoned
  std::vector<mcp::clients::server_status> status;
  bool all_tried = true;  ///< each server that starts by itself has had its first try
  std::vector<daemon::run::run_request> started;
  std::map<std::string, std::shared_ptr<daemon::run::run_feed>> feeds;  ///< by the run's name
  std::size_t bound = 4u << 20;                                         ///< of each
  daemon::run::runner::recorded told;                                   ///< of the last detached run
  std::vector<std::string> abandoned;                                   ///< runs that nobody reads any more, and why
  std::vector<std::string> cancelled, answers;
  std::vector<daemon::front::reload_answer> reloads;
  std::vector<std::string> recalled;  ///< names that were looked for in the journal
  /// As a journal does, it forgets who asked when it answers.
  struct {
    std::function<void(result<daemon::run::runner::recalled_run>)> then;
    void operator()(result<daemon::run::runner::recalled_run> found) { std::exchange(then, nullptr)(std::move(found)); }
  } looking;
  bool looks_long = false;  ///< the journal answers when the test calls `looking`
  std::function<void(result<void>)> answered;
  bool left_behind = false;          ///< the runs of an earlier daemon are not here yet
  std::vector<left_taken> for_left;  ///< waiting requests, answered by the test
  int stops = 0;
  daemon::pins::pin_register* register_of_pins = nullptr;
  daemon::logins::login_desk* desk_of_logins = nullptr;
  daemon::front::model_directory* directory_of_models = nullptr;
  daemon::run::loop_counters counts;
  std::unique_ptr<daemon::store::journal> kept = std::make_unique<daemon::store::memory_journal>();

 private:
  void call() const {
    if (called) called();
  }
};

}  // namespace mcpbx::test
