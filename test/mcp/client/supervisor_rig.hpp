// A supervisor with scripted tool servers and a manual clock.
#pragma once
#include "mcp/client/connect/process/process_connector.hpp"
#include "mcp/client/supervise/supervisor.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/scripted_process.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace mcpbx::test {

inline mcp::supervise::server_options server_named(const std::string& name) {
  mcp::supervise::server_options o;
  o.name = name;
  return o;
}

struct supervisor_rig {
  supervisor_rig()
      : launcher(time), supervisor(std::make_unique<mcp::supervise::supervisor>(time, random, options())) {}
  static mcp::supervise::supervisor::options options() {
    mcp::supervise::supervisor::options o;
    o.version = "0";
    return o;
  }

  manual_time time;
  counting_random random{0, 0x9E3779B97F4A7C15u};
  scripted_launcher launcher;
  std::unique_ptr<mcp::supervise::supervisor> supervisor;

  /// Returns a factory of connectors to a process of this name, started from the spec of `source`.
  mcp::connect::connector_factory process_of(const std::string& name, mcp::child::process_source source) {
    return [this, name, source] { return mcp::child::make_process_connector(name, launcher, time, source); };
  }
  /// Gives a process to each server that has no other connector.
  std::vector<mcp::supervise::server_options> with_processes(std::vector<mcp::supervise::server_options> servers) {
    for (auto& s : servers)
      if (!s.connect)
        s.connect = process_of(s.name, [name = s.name](const auto& then) {
          then(mcp::process::process_spec{name, {"/bin/" + name}, {}, "/", false});
        });
    return servers;
  }
  void start(std::vector<mcp::supervise::server_options> servers) {
    supervisor->apply(with_processes(std::move(servers)));
    turn();
  }
  void start(const std::string& name, script s) {
    launcher.add(name, std::move(s));
    start({server_named(name)});
  }
  /// Runs the work that is due now.
  void turn() { time.advance(milliseconds(0)); }
  void advance(int ms) { time.advance(milliseconds(ms)); }
  mcp::clients::server_status status(std::size_t i = 0) const { return supervisor->status().at(i); }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& e : supervisor->snapshot()->entries()) out.push_back(e->name);
    return out;
  }
  std::shared_ptr<mcp::clients::client> owner(const std::string& tool) const {
    const auto e = supervisor->snapshot()->find(tool);
    REQUIRE(e);
    auto c = e->owner.lock();
    REQUIRE(c);
    return c;
  }

  struct outcome_box {
    int times = 0;
    mcp::rpc::call_outcome last;
    std::string text() const {
      return last.type == mcp::rpc::call_outcome::kind::failed ? last.failure.message : std::string(last.value.text());
    }
    bool failed() const { return times == 1 && last.type == mcp::rpc::call_outcome::kind::failed; }
    bool answered() const { return times == 1 && last.type == mcp::rpc::call_outcome::kind::result; }
  };
  mcp::clients::client::ticket call(mcp::clients::client& c, outcome_box& box,
                                    std::string_view params = R"({"name":"echo"})",
                                    std::optional<mcp::rpc::call_limits> limits = {}, const void* asker = nullptr) {
    mcp::clients::server_call s;
    s.params = json::raw_json::own(params);
    s.name = "echo";
    s.limits = limits;
    s.asker = asker;
    s.done = [&box](mcp::rpc::call_outcome o) {
      ++box.times;
      box.last = std::move(o);
    };
    const auto t = c.call(std::move(s));
    return t;
  }
};

}  // namespace mcpbx::test
