// Reading the configuration again: which keys wait for the next start, and requests that come together.
#include "daemon/app/reloading.hpp"

#include "test/support/temporary_directory.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace reloading_test {

using namespace mcpbx;
using namespace mcpbx::daemon::app;
using namespace mcpbx::daemon::front;
using namespace mcpbx::daemon::process;
using namespace mcpbx::daemon::references;

/// A daemon's base with a configuration in a folder.
struct rig {
  explicit rig(const std::string& text) {
    write(text);
    options.config = folder / "config.json";
    options.log_level = log::level::off;
    const auto loaded = load();
    base.emplace(options, loaded->config);
    busy.emplace(base->executor());
    current.emplace(loaded);
    world.emplace(conf::environment{}, files(), loaded->config, read, false);
    reload.emplace(*base, options, *current, *world);
    reload->carried_out_by([this](const configuration_ptr&) { ++followed; });
  }
  void write(const std::string& text) const { folder.write("config.json", text); }
  conf::file_options files() const {
    conf::file_options files;
    files.flag = options.config;
    return files;
  }
  configuration_ptr load() {
    auto loaded = conf::load_files({}, files());
    read = loaded.read;
    return std::make_shared<const configuration_snapshot>(std::move(loaded.config));
  }
  void ask() {
    reload->ask("a test", [this](const result<reload_report>& told) { outcomes.push_back(told); });
  }
  /// Runs the event loop until `n` outcomes are there.
  void run_until(std::size_t n) {
    while (outcomes.size() < n && base->io.run_one() > 0) {
    }
  }

  mcpbx::test::temporary_directory folder;
  command_line options;
  std::vector<conf::read_source> read;
  std::optional<base_parts> base;
  std::optional<current_configuration> current;
  std::optional<started_world> world;
  std::optional<boost::asio::executor_work_guard<boost::asio::any_io_executor>> busy;  // the loop waits for the lane
  std::vector<result<reload_report>> outcomes;
  int followed = 0;
  std::optional<reloading> reload;
};

TEST_CASE("reload: each key that holds from the start is named when it differs, and no other") {
  conf::model::configuration start;
  CHECK(waiting_for_start(start, start).empty());
  auto now = start;
  now.servers.emplace_back();
  now.loop.max_rounds = 3;
  now.log.level = conf::model::log_level::debug;
  now.limits.total_bytes = 1;
  CHECK(waiting_for_start(start, now).empty());
  now.store.url = conf::model::reference_string{"none", "store.url"};
  now.store.max_age_days = 1;
  now.store.max_bytes = 1;
  now.store.sync = conf::model::store_sync::call;
  now.audit.on = !now.audit.on;
  now.http.address = conf::model::reference_string{"127.0.0.1:0", "http.address"};
  now.http.token_file = conf::model::reference_string{"t", "http.tokenFile"};
  now.http.auth = conf::model::http_auth::none;
  now.limits.max_message_bytes = 1;
  now.limits.max_json_depth = 1;
  now.limits.callers = 1;
  now.limits.held_call_ms = 1;
  now.loop.resume_detached = !now.loop.resume_detached;
  now.idle_exit_ms = milliseconds(1);
  CHECK(waiting_for_start(start, now) ==
        std::vector<std::string>{"store.url", "store.maxAgeDays", "store.maxBytes", "store.sync", "audit",
                                 "http.address", "http.tokenFile", "http.auth", "limits.maxMessageBytes",
                                 "limits.maxJsonDepth", "limits.callers", "limits.heldCallMs", "loop.resumeDetached",
                                 "idleExitMs"});
}

TEST_CASE("reload: requests that come while the files are read wait for one more reading together") {
  rig r(R"({"mcpServers": {}})");
  r.ask();
  // The first reading has begun; the next requests want the files as they are written now.
  r.write(R"({"mcpServers": {}, "loop": {"maxRounds": 3}})");
  for (int i = 0; i < 100; ++i) r.ask();
  r.run_until(101);
  REQUIRE(r.outcomes.size() == 101);
  for (const auto& told : r.outcomes) CHECK(told.has_value());
  CHECK(r.followed == 2);
  CHECK(r.current->snapshot()->config.loop.max_rounds == 3);
}

TEST_CASE("reload: more requests than may wait are refused at once") {
  rig r("{}");
  for (std::size_t i = 0; i < 1 + reloading::most_waiting; ++i) r.ask();
  CHECK(r.outcomes.empty());
  r.ask();
  REQUIRE(r.outcomes.size() == 1);
  CHECK(r.outcomes[0].error().code == errc::limit);
}

TEST_CASE("reload: a stop ends those that wait, refuses others, and nothing follows") {
  rig r("{}");
  r.ask();
  r.ask();
  r.reload->stop();
  r.ask();
  REQUIRE(r.outcomes.size() == 3);
  for (const auto& told : r.outcomes) CHECK(told.error().code == errc::unavailable);
  r.reload.reset();
  r.base->io.poll();
  CHECK(r.followed == 0);
}

TEST_CASE("reload: a look at the files tells changes once, in a later turn, and none after the stop or the limit") {
  rig r("{}");
  std::vector<std::vector<std::string>> told;
  const auto look = [&](milliseconds at_most = reloading::look_limit) {
    r.reload->look([&](const std::vector<std::string>& changed) { told.push_back(changed); }, at_most);
  };
  const auto run_until = [&](std::size_t n) {
    while (told.size() < n && r.base->io.run_one() > 0) {
    }
  };
  look(milliseconds(60'000));
  CHECK(told.empty());
  run_until(1);
  CHECK(told.back().empty());
  r.write(R"({"mcpServers": {}})");
  look(milliseconds(60'000));
  run_until(2);
  CHECK(told.back() == std::vector<std::string>{r.options.config});
  // Whichever of the limit and the look comes first answers alone.
  look(milliseconds(0));
  look(milliseconds(60'000));
  run_until(4);
  r.base->io.poll();
  CHECK(told.size() == 4);
  look();
  r.reload->stop();
  CHECK(told.size() == 5);
  CHECK(told.back().empty());
  look();
  CHECK(told.size() == 6);
}

TEST_CASE("reload: looks that come while the files are looked at are answered by one more, together") {
  rig r("{}");
  int told = 0;
  for (int i = 0; i < 100; ++i) r.reload->look([&](const std::vector<std::string>&) { ++told; }, milliseconds(60'000));
  while (told == 0 && r.base->io.run_one() > 0) {
  }
  CHECK(told == 1);
  while (told == 1 && r.base->io.run_one() > 0) {
  }
  CHECK(told == 100);
  // Looks that have given up leave no work behind, however slow the files are.
  for (int i = 0; i < 100; ++i) r.reload->look([&](const std::vector<std::string>&) { ++told; }, milliseconds(0));
  while (told < 200 && r.base->io.run_one() > 0) {
  }
  CHECK(told == 200);
}

TEST_CASE("reload: one who looked may destroy the daemon's part from its answer") {
  rig r("{}");
  bool told = false;
  for (int i = 0; i < 2; ++i) r.reload->look([](const std::vector<std::string>&) {}, milliseconds(60'000));
  r.reload->look(
      [&](const std::vector<std::string>&) {
        if (!std::exchange(told, true)) r.reload.reset();
      },
      milliseconds(60'000));
  while (!told && r.base->io.run_one() > 0) {
  }
  CHECK(told);
}

TEST_CASE("reload: one who asked may destroy the daemon's part from its answer") {
  rig r("{}");
  r.reload->ask("a test", [&r](const result<reload_report>& told) {
    r.outcomes.push_back(told);
    r.reload.reset();
  });
  r.run_until(1);
  CHECK(r.outcomes.size() == 1);
}

}  // namespace reloading_test
