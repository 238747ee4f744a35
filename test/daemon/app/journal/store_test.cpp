// Tests of the choice of the journal by store.url.
#include "daemon/app/journal/store.hpp"

#include "daemon/app/options/journal_options.hpp"
#include "daemon/store/lane_journal.hpp"
#include "mcp/redact/secret.hpp"
#include "test/daemon/app/loaded.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <cstdlib>
#include <exception>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::journals;
using namespace mcpbx::daemon::options;
using namespace mcpbx::daemon::references;
using namespace mcpbx::daemon::store;
using namespace mcpbx::redact;
using mcpbx::daemon::test::loaded;
using mcpbx::test::temporary_directory;

namespace {

struct store_fixture {
  explicit store_fixture(const std::string& url, const conf::environment& env = {})
      : store_fixture(loaded("{\"store\": {\"url\": \"" + url + "\"}}"), env) {}
  store_fixture(const conf::model::configuration& all, const conf::environment& env)
      : made(make_journal(all, start_values(all), env, io.get_executor(), time)) {}
  std::string refusal() {
    std::string message;
    auto run = made->open_run("r");
    boost::asio::co_spawn(
        io,
        [&]() -> boost::asio::awaitable<void> {
          auto done = co_await run->append({daemon::stored::record::run_ended{}}, false);
          if (!done) message = done.error().message;
        },
        [](std::exception_ptr e) {
          if (e) std::rethrow_exception(e);
        });
    io.run();
    return message;
  }
  template <class T>
  bool is() const {
    return dynamic_cast<T*>(made.get()) != nullptr;
  }
  boost::asio::io_context io{1};
  mcpbx::test::manual_time time;
  std::unique_ptr<journal> made;
};

}  // namespace

TEST_CASE("G23: the intents of calls are synced where store.sync says so, and nowhere else") {
  CHECK_FALSE(journal_options(loaded("{}")).sync_calls);
  CHECK_FALSE(journal_options(loaded(R"({"store": {"sync": "turn"}})")).sync_calls);
  CHECK(journal_options(loaded(R"({"store": {"sync": "call", "maxBytes": 7}})")).sync_calls);
  CHECK(journal_options(loaded(R"({"store": {"sync": "call", "maxBytes": 7}})")).keep.max_bytes == 7);
}

TEST_CASE("store: none is the journal in memory, also where a variable says so") {
  CHECK(store_fixture("none").is<memory_journal>());
  CHECK_FALSE(store_fixture("none").made->trouble().has_value());
  ::setenv("MCPBX_TEST_STORE", "none", 1);
  CHECK(store_fixture("${env:MCPBX_TEST_STORE}").is<memory_journal>());
  ::setenv("MCPBX_TEST_STORE", "nonesuch-secret", 1);
  store_fixture wrong("${env:MCPBX_TEST_STORE}");
  const auto refused = wrong.refusal();
  CHECK(refused == "store.url: its value is neither none nor a URL with sqlite: or postgresql://");
  REQUIRE(wrong.made->trouble().has_value());
  CHECK(wrong.made->trouble()->problem == refused);
  CHECK(wrong.made->trouble()->since_ms == wrong.time.wall_ms());
  ::unsetenv("MCPBX_TEST_STORE");
}

TEST_CASE("store: a PostgreSQL URL may refer to variables, files and programs, and shows none of them") {
  temporary_directory home;
  conf::environment env;
  env.values = {{"HOME", home.path()}};
  const auto password = home.write("pg", "hush-hush\n");
  const auto at = [&](const std::string& user) {
    store_fixture f("postgresql://" + user + "@/talk?host=" + home.path(), env);
    CHECK(f.is<lane_journal>());
    return f.refusal();
  };
  const std::string away = "the journal postgresql://" + home.path() + "/talk cannot be reached (";
  CHECK(at("me").starts_with(away));
  CHECK(at("me:${file:" + password + "}").starts_with(away));
  CHECK(at("me:${cmd:cat " + password + "}").starts_with(away));
  CHECK(at("me:${env:MCPBX_TEST_UNSET}").find("MCPBX_TEST_UNSET") != std::string::npos);
  CHECK(at("me:${file:/nonesuch}").find("/nonesuch") != std::string::npos);
  CHECK(at("me:hush-hush@[").starts_with("store.url: it cannot be read as a PostgreSQL URL"));
  redactor::clear();
}

TEST_CASE("store: its whole URL may come from a file or a program, whatever it then names") {
  temporary_directory home;
  conf::environment env;
  env.values = {{"HOME", home.path()}};
  const auto url = [&](const std::string& text) { return "${file:" + home.write("url", text + "\n") + "}"; };
  CHECK(store_fixture(url("none")).is<memory_journal>());
  CHECK(store_fixture("${cmd:printf none}").is<memory_journal>());
  CHECK(store_fixture("sqlite:" + url("/dev/null/a.db"))
            .refusal()
            .starts_with("the journal /dev/null/a.db cannot be opened"));
  CHECK(store_fixture(url("nonesuch-secret")).refusal() ==
        "store.url: its value is neither none nor a URL with sqlite: or postgresql://");
  CHECK(store_fixture("${file:" + home.path() + "/none}").refusal().starts_with("in \"store.url\": ${file:"));
  store_fixture database(url("postgresql://me@/talk?host=" + home.path()), env);
  REQUIRE(database.is<lane_journal>());
  // Asked again for each connection: a password may have changed since the start.
  home.write("url", "postgresql://me@/other?host=" + home.path());
  CHECK(database.refusal().starts_with("the journal postgresql://" + home.path() + "/other cannot be reached ("));
  redactor::clear();
}

TEST_CASE("store: without the key it is sqlite: where there is a place, unless the daemon is a private one") {
  boost::asio::io_context io;
  mcpbx::test::manual_time time;
  conf::environment env;
  const auto keeps = [&](const std::string& text, bool by_default) {
    const auto all = loaded(text);
    return make_journal(all, start_values(all), env, io.get_executor(), time, by_default)->keeps_sessions();
  };
  CHECK_FALSE(keeps("{}", true));  // no HOME, no place
  env.values = {{"HOME", "/nowhere/home"}};
  CHECK(keeps("{}", true));
  CHECK_FALSE(keeps("{}", false));
  CHECK(keeps(R"({"store": {"url": "sqlite:"}})", false));
}

TEST_CASE("store: sqlite is a file in the state directory or where its path says") {
  conf::environment env;
  env.values = {{"HOME", "/nowhere/home"}, {"XDG_STATE_HOME", "/dev/null/state"}};
  CHECK(store_fixture("sqlite:", env).is<lane_journal>());
  CHECK(store_fixture("sqlite:", env)
            .refusal()
            .starts_with("the journal /dev/null/state/mcpbx/mcpbx.db cannot be opened"));
  CHECK(store_fixture("sqlite:~/a.db", env).refusal().starts_with("the journal /nowhere/home/a.db cannot be opened"));
  CHECK(store_fixture("sqlite:a.db", env).refusal().starts_with("the journal /nowhere/home/a.db cannot be opened"));
}

TEST_CASE("store: a place that cannot be told fails the runs with the reason") {
  CHECK(store_fixture("sqlite:").refusal().find("set HOME") != std::string::npos);
  CHECK(store_fixture("sqlite:${env:MCPBX_TEST_UNSET}").refusal().find("MCPBX_TEST_UNSET") != std::string::npos);
}
