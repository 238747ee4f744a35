// Interface between the front door and the rest of the daemon (tool servers, runs, the daemon itself), so that the door
// can be tested without a process or a model.
#pragma once
#include "daemon/front/base/model_directory.hpp"
#include "daemon/front/base/reload_report.hpp"
#include "daemon/guard/pins/pin_register.hpp"
#include "daemon/logins/login_desk.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/client/supervise/supervisor.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::front {

class backend {
 public:
  virtual ~backend() = default;

  // Functions of mcp::supervise::supervisor.
  virtual mcp::catalogs::catalog_ptr tools() const = 0;
  virtual mcp::protocol::feature_list listed_tools(std::string_view) const { return {}; }
  virtual bool settled() const { return true; }
  virtual bool tried() const { return true; }
  virtual void when_settled(milliseconds at_most, std::function<void()> then) = 0;
  virtual std::vector<mcp::clients::server_status> servers() const = 0;
  virtual result<void> restart(std::string_view server) = 0;
  [[nodiscard]] virtual std::shared_ptr<void> on_catalog_change(
      std::function<void(const mcp::protocol::feature_kind&)> changed) = 0;

  // Functions of runner.
  virtual result<std::shared_ptr<run::run_feed>> start_run(run::run_request r, run::runner::recorded told) = 0;
  virtual void preview_run(run::run_request /*r*/, std::function<void(result<run::run_preview>)> then) {
    then(fail(errc::unavailable, "this daemon has no runs"));
  }
  virtual result<std::shared_ptr<run::run_feed>> find_run(std::string_view run) const = 0;
  virtual std::vector<std::string> run_names(std::string_view /*principal*/) const { return {}; }
  virtual void recall_run(std::string_view run, std::uint64_t likeness,
                          std::function<void(result<run::runner::recalled_run>)> then) = 0;
  virtual bool cancel_run(std::string_view run, std::string text, std::function<void(result<void>)> done) = 0;
  virtual void answer(std::string_view run, std::string question, json::raw_json body,
                      std::function<void(result<void>)> done) = 0;
  /// Calls `then` once, at once or in a later turn, when the runs that an earlier daemon left are known; before that
  /// find_run() and recall_run() do not find them. errc::unavailable, errc::limit: not known yet.
  using left_taken = std::function<void(result<void>)>;
  virtual void when_left_taken(left_taken then) = 0;
  virtual run::loop_counters run_counts() const = 0;
  /// Returns the journal with the sessions.
  virtual store::journal& store() = 0;

  /// Returns the pinned definitions, or null if there are none.
  virtual pins::pin_register* pins() { return nullptr; }
  /// Returns the logins to tool servers, or null if there are none.
  virtual logins::login_desk* logins() { return nullptr; }
  /// Returns the configured models, or null if there are none to list.
  virtual model_directory* models() { return nullptr; }

  /// Reads the configuration again (reloading::ask).
  virtual void reload(reload_answer then) = 0;
  /// Tells the configuration in force (reloading::tell). errc::unavailable: there is none to tell.
  virtual void config(config_answer then) { then(fail(errc::unavailable, "there is no configuration to tell")); }
  /// Stops the daemon gracefully. Called in a turn of its own.
  virtual void stop() = 0;
};

/// Backend of a running daemon: passes everything on.
class live_backend final : public backend {
 public:
  /// All references must outlive this object.
  live_backend(mcp::supervise::supervisor& servers, run::runner& runs, store::journal& store, pins::pin_register& pins,
               logins::login_desk& logins, model_directory& models, std::function<void(left_taken)> when_left_taken,
               std::function<void(reload_answer)> reload, std::function<void(config_answer)> config,
               std::function<void()> stop)
      : servers_(servers),
        runs_(runs),
        store_(store),
        pins_(pins),
        logins_(logins),
        models_(models),
        when_left_taken_(std::move(when_left_taken)),
        reload_(std::move(reload)),
        config_(std::move(config)),
        stop_(std::move(stop)) {}

  mcp::catalogs::catalog_ptr tools() const override { return servers_.snapshot(); }
  mcp::protocol::feature_list listed_tools(std::string_view server) const override {
    return servers_.listed_tools(server);
  }
  bool settled() const override { return servers_.settled(); }
  bool tried() const override { return servers_.tried(); }
  void when_settled(milliseconds at_most, std::function<void()> then) override {
    servers_.when_settled(at_most, std::move(then));
  }
  std::vector<mcp::clients::server_status> servers() const override { return servers_.status(); }
  result<void> restart(std::string_view server) override { return servers_.restart(server); }
  std::shared_ptr<void> on_catalog_change(std::function<void(const mcp::protocol::feature_kind&)> changed) override {
    return servers_.on_catalog_change(std::move(changed));
  }
  result<std::shared_ptr<run::run_feed>> start_run(run::run_request r, run::runner::recorded told) override {
    return runs_.start(std::move(r), std::move(told));
  }
  void preview_run(run::run_request r, std::function<void(result<run::run_preview>)> then) override {
    runs_.preview(std::move(r), std::move(then));
  }
  result<std::shared_ptr<run::run_feed>> find_run(std::string_view run) const override { return runs_.find(run); }
  std::vector<std::string> run_names(std::string_view principal) const override { return runs_.names(principal); }
  void recall_run(std::string_view run, std::uint64_t likeness,
                  std::function<void(result<run::runner::recalled_run>)> then) override {
    runs_.recall(run, likeness, std::move(then));
  }
  bool cancel_run(std::string_view run, std::string text, std::function<void(result<void>)> done) override {
    return runs_.cancel(run, std::move(text), std::move(done));
  }
  void answer(std::string_view run, std::string question, json::raw_json body,
              std::function<void(result<void>)> done) override {
    runs_.answer(run, std::move(question), std::move(body), std::move(done));
  }
  void when_left_taken(left_taken then) override { when_left_taken_(std::move(then)); }
  run::loop_counters run_counts() const override { return runs_.counts(); }
  store::journal& store() override { return store_; }
  pins::pin_register* pins() override { return &pins_; }
  logins::login_desk* logins() override { return &logins_; }
  model_directory* models() override { return &models_; }
  void reload(reload_answer then) override { reload_(std::move(then)); }
  void config(config_answer then) override { config_(std::move(then)); }
  void stop() override { stop_(); }

 private:
  mcp::supervise::supervisor& servers_;
  run::runner& runs_;
  store::journal& store_;
  pins::pin_register& pins_;
  logins::login_desk& logins_;
  model_directory& models_;
  std::function<void(left_taken)> when_left_taken_;
  std::function<void(reload_answer)> reload_;
  std::function<void(config_answer)> config_;
  std::function<void()> stop_;
};

}  // namespace mcpbx::daemon::front
