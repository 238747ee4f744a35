// Each part's options from a configuration alone, without a daemon.
#include "daemon/app/options/door_options.hpp"
#include "daemon/app/options/framing.hpp"
#include "daemon/app/options/journal_options.hpp"
#include "daemon/app/options/process_settings.hpp"
#include "daemon/app/options/runner_options.hpp"
#include "daemon/app/options/server_entries.hpp"
#include "test/daemon/app/loaded.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <sched.h>

#include <memory>

using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::daemon::options;
using namespace mcpbx::daemon::process;
using mcpbx::daemon::test::loaded;

TEST_CASE("framing: both sides have the configured bounds, and only servers have their UTF-8 repaired") {
  const auto all = loaded(R"({"limits": {"maxMessageBytes": 70000, "maxJsonDepth": 40}})");
  for (const auto& o : {server_framing(all), caller_framing(all)}) {
    CHECK(o.max_message_bytes == 70'000);
    CHECK(o.max_depth == 40);
    CHECK(o.keep_deep_answers == o.repair_utf8);
    CHECK(o.max_message_bytes_key == "limits.maxMessageBytes");
  }
  CHECK(server_framing(all).repair_utf8);
  CHECK_FALSE(caller_framing(all).repair_utf8);
}

TEST_CASE("door_options: the number of callers and the framing are those of the configuration") {
  const auto o = door_options(loaded(R"({"limits": {"callers": 7, "maxMessageBytes": 70000, "heldCallMs": 5000}})"));
  CHECK(o.held.expiry == milliseconds(5000));
  CHECK(o.max_callers == 7);
  CHECK(o.framing.max_message_bytes == 70'000);
  CHECK_FALSE(o.framing.repair_utf8);
  CHECK(o.version == MCPBX_VERSION);
}

TEST_CASE("runner_options: detached runs are left for the next process unless the configuration says no") {
  CHECK(runner_options(loaded("{}")).resume_detached);
  CHECK_FALSE(runner_options(loaded(R"({"loop": {"resumeDetached": false}})")).resume_detached);
}

TEST_CASE("process_settings: no run waits awake where there is one CPU only") {
  cpu_set_t usable;
  REQUIRE(::sched_getaffinity(0, sizeof usable, &usable) == 0);
  CHECK(awake_runs_here() == (CPU_COUNT(&usable) > 1 ? awake_runs : 0));
  int first = 0;
  while (!CPU_ISSET(first, &usable)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(journal_options(loaded("{}"), {}).awake_runs == 0);
  CHECK(runner_options(loaded("{}")).awake_runs == 0);
  REQUIRE(::sched_setaffinity(0, sizeof usable, &usable) == 0);
}

TEST_CASE("process_settings: the command line wins over the configuration, and a port keeps a daemon from idling out") {
  const auto all = loaded(R"({"log": {"level": "error"}, "idleExitMs": 5000, "limits": {"totalBytes": 90000000}})");
  command_line o;
  CHECK(log_level_of(o, all) == log::level::error);
  o.log_level = log::level::debug;
  CHECK(log_level_of(o, all) == log::level::debug);
  CHECK(idle_exit_of(o, all, false) == milliseconds(0));
  o.idle_exit = true;
  CHECK(idle_exit_of(o, all, false) == milliseconds(5000));
  CHECK(idle_exit_of(o, all, true) == milliseconds(0));
  CHECK(byte_limit_of(all) == 90'000'000);
}

TEST_CASE("supervised_servers: one for each entry, in the order of the file, also those that do not run at the start") {
  struct no_launcher final : mcp::process::process_launcher {
    std::unique_ptr<mcp::process::server_process> launch(mcp::process::process_spec,
                                                         mcp::process::process_events&) override {
      return nullptr;
    }
  } launcher;
  boost::asio::io_context io;
  mcpbx::test::manual_time time;
  keyed_lanes references(io.get_executor(), "references");
  lane compute{"compute", 1};
  http::clients::client client(io.get_executor(), time, compute, {});
  const auto list = supervised_servers(loaded(R"({"mcpServers": {"b": {"command": "x", "disabled": true},
    "a": {"command": "y", "maxConcurrency": 1}, "far": {"url": "https://example.com/mcp"}}})"),
                                       {"/opt",
                                        references,
                                        io.get_executor(),
                                        launcher,
                                        time,
                                        client,
                                        std::make_shared<mcp::remote::remote_verdicts>(),
                                        {}});
  REQUIRE(list.size() == 3);
  CHECK(list[0].name == "b");
  CHECK(list[0].disabled);
  CHECK(list[1].name == "a");
  CHECK(list[1].max_concurrency == 1);
  CHECK(list[2].unusable.empty());
  CHECK(list[2].max_concurrency == 256);
}
