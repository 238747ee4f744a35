// What the front door stands on: the tool servers, the runs, and the daemon itself. One seam, so that the door is
// tested without a process or a model.
#pragma once
#include "daemon/front/base/model_directory.hpp"
#include "daemon/guard/pins/pin_register.hpp"
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

namespace mcpbx::daemon {

class backend {
 public:
  virtual ~backend() = default;

  // As mcp::supervisor has them.
  virtual mcp::catalog_ptr tools() const = 0;
  virtual void when_settled(milliseconds at_most, std::function<void()> then) = 0;
  virtual std::vector<mcp::server_status> servers() const = 0;
  virtual result<void> restart(std::string_view server) = 0;
  [[nodiscard]] virtual std::shared_ptr<void> on_catalog_change(
      std::function<void(const mcp::feature_kind&)> changed) = 0;

  // As runner has them.
  virtual result<std::shared_ptr<run_feed>> start_run(run_request r, runner::recorded told) = 0;
  virtual result<std::shared_ptr<run_feed>> find_run(std::string_view run) const = 0;
  virtual void recall_run(std::string_view run, std::uint64_t likeness,
                          std::function<void(result<runner::recalled_run>)> then) = 0;
  virtual bool cancel_run(std::string_view run, std::string text, std::function<void(result<void>)> done) = 0;
  virtual void answer(std::string_view run, std::string question, raw_json body,
                      std::function<void(result<void>)> done) = 0;
  /// Whether the runs are here that an earlier daemon left: until then find_run() and recall_run() do not know of them.
  /// `then` comes once, at once or in a later turn. errc::unavailable, errc::limit: that cannot be told yet.
  using left_taken = std::function<void(result<void>)>;
  virtual void when_left_taken(left_taken then) = 0;
  virtual loop_counters run_counts() const = 0;
  /// Where sessions are.
  virtual journal& store() = 0;

  /// The pinned definitions; null where none are kept.
  virtual pin_register* pins() { return nullptr; }
  /// The configured models; null where there are none to be listed.
  virtual model_directory* models() { return nullptr; }

  /// The daemon is to stop gracefully. Called in a turn of its own.
  virtual void stop() = 0;
};

/// The real one: passes everything on.
class live_backend final : public backend {
 public:
  /// Those given by reference must outlive it.
  live_backend(mcp::supervisor& servers, runner& runs, journal& store, pin_register& pins, model_directory& models,
               std::function<void(left_taken)> when_left_taken, std::function<void()> stop)
      : servers_(servers),
        runs_(runs),
        store_(store),
        pins_(pins),
        models_(models),
        when_left_taken_(std::move(when_left_taken)),
        stop_(std::move(stop)) {}

  mcp::catalog_ptr tools() const override { return servers_.snapshot(); }
  void when_settled(milliseconds at_most, std::function<void()> then) override {
    servers_.when_settled(at_most, std::move(then));
  }
  std::vector<mcp::server_status> servers() const override { return servers_.status(); }
  result<void> restart(std::string_view server) override { return servers_.restart(server); }
  std::shared_ptr<void> on_catalog_change(std::function<void(const mcp::feature_kind&)> changed) override {
    return servers_.on_catalog_change(std::move(changed));
  }
  result<std::shared_ptr<run_feed>> start_run(run_request r, runner::recorded told) override {
    return runs_.start(std::move(r), std::move(told));
  }
  result<std::shared_ptr<run_feed>> find_run(std::string_view run) const override { return runs_.find(run); }
  void recall_run(std::string_view run, std::uint64_t likeness,
                  std::function<void(result<runner::recalled_run>)> then) override {
    runs_.recall(run, likeness, std::move(then));
  }
  bool cancel_run(std::string_view run, std::string text, std::function<void(result<void>)> done) override {
    return runs_.cancel(run, std::move(text), std::move(done));
  }
  void answer(std::string_view run, std::string question, raw_json body,
              std::function<void(result<void>)> done) override {
    runs_.answer(run, std::move(question), std::move(body), std::move(done));
  }
  void when_left_taken(left_taken then) override { when_left_taken_(std::move(then)); }
  loop_counters run_counts() const override { return runs_.counts(); }
  journal& store() override { return store_; }
  pin_register* pins() override { return &pins_; }
  model_directory* models() override { return &models_; }
  void stop() override { stop_(); }

 private:
  mcp::supervisor& servers_;
  runner& runs_;
  journal& store_;
  pin_register& pins_;
  model_directory& models_;
  std::function<void(left_taken)> when_left_taken_;
  std::function<void()> stop_;
};

}  // namespace mcpbx::daemon
