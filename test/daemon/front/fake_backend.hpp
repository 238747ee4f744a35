// The daemon behind the door, as a script.
#pragma once
#include "daemon/front/backend.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::test {

class fake_backend final : public daemon::backend {
 public:
  mcp::catalog_ptr tools() const override { return catalog; }
  void when_settled(milliseconds, std::function<void()> then) override { waiting.push_back(std::move(then)); }
  std::vector<mcp::server_status> servers() const override { return status; }
  result<void> restart(std::string_view server) override {
    if (server != "files") return fail(errc::not_found, "no tool server is named \"" + std::string(server) + "\"");
    return {};
  }
  std::shared_ptr<void> on_tools_change(std::function<void()> changed) override {
    tools_changed = std::move(changed);
    return std::make_shared<int>(0);
  }
  result<std::string> start_run(daemon::run_request r, daemon::run_events& events) override {
    if (r.model == "nope") return fail(errc::not_found, "no model is named \"nope\"");
    std::string run = r.run.empty() ? "run-" + std::to_string(started.size() + 1) : r.run;
    started.push_back(std::move(r));
    sink = &events;
    return run;
  }
  bool cancel_run(std::string_view run, std::string) override {
    cancelled.emplace_back(run);
    return run.starts_with("run-");
  }
  void answer(std::string_view run, std::string question, raw_json body,
              std::function<void(result<void>)> done) override {
    answers.push_back(std::string(run) + " " + question + " " + std::string(body.text()));
    answered = std::move(done);
  }
  void forget_runs(daemon::run_events&) override { ++forgotten; }
  daemon::loop_counters run_counts() const override { return counts; }
  daemon::journal& store() override { return *kept; }
  void stop() override { ++stops; }

  void settle() {
    for (auto& then : std::exchange(waiting, {})) then();
  }

  mcp::catalog_ptr catalog = std::make_shared<mcp::catalog>(std::vector<mcp::entry_ptr>(), 1);
  std::vector<std::function<void()>> waiting;
  std::function<void()> tools_changed;
  std::vector<mcp::server_status> status;
  std::vector<daemon::run_request> started;
  daemon::run_events* sink = nullptr;
  std::vector<std::string> cancelled, answers;
  std::function<void(result<void>)> answered;
  int forgotten = 0, stops = 0;
  daemon::loop_counters counts;
  std::unique_ptr<daemon::journal> kept = std::make_unique<daemon::memory_journal>();
};

}  // namespace mcpbx::test
