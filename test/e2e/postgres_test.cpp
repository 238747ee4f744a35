// Daemons that keep their runs in one PostgreSQL, with a server of the test's own (test/support/postgres.sh).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

using namespace mcpbx::e2e;

namespace {

const char* database() {
  return std::getenv("MCPBX_TEST_POSTGRES");
}
doctest::skip postgres_only() {
  return doctest::skip(database() == nullptr);
}

config shared(const model_process& model) {
  return config()
      .server("slow", {"--log", "@DIR@/log"})
      .model("m", model.entry())
      .top("store", "{\"url\":\"" + std::string(database()) + "\"}");
}

void begin_night(daemon_under_test& d, caller& c, const std::string& run) {
  const auto begun = c.request(
      "mcpbx/chat", R"({"input":"q","run":")" + run + R"(","detach":true,"model":"m/rounds-1 slow__never-answer"})");
  REQUIRE(text_at(begun.value, "result.run") == run);
  REQUIRE(eventually([&] { return contains(read_file(d.file("log")), "call never-answer"); }));
}

std::string session_of(caller& c, const std::string& run) {
  for (const auto& s : c.request("mcpbx/sessions/list").get("result.sessions").as_array())
    if (text_at(s, "running") == run) return text_at(s, "session");
  return {};
}

// To the server's process for one connection. SIGTERM ends that; without it (SIGKILL) the server takes its memory for
// broken, ends all others, and begins again from its log.
bool signal_backend(int signal) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto words = read_file((entry.path() / "cmdline").string());
    if (!words.starts_with("postgres: mcpbx postgres ")) continue;
    return ::kill(std::atoi(entry.path().filename().c_str()), signal) == 0;
  }
  return false;
}

bool run_sql(const std::string& sql) {
  child psql({.argv = {"/usr/bin/psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", database(), "-c", sql}});
  return psql.wait().status == 0;
}

// A server counts silence from its own start on. This one has been up for an hour, as daemons see it that connect from
// now on.
bool has_been_up() {
  return run_sql(
      "DO $$ BEGIN EXECUTE format('CREATE OR REPLACE FUNCTION pg_catalog.pg_postmaster_start_time() RETURNS "
      "timestamptz "
      "LANGUAGE sql STABLE AS %L', format('SELECT %L::timestamptz', now() - interval '1 hour')); END $$");
}

// The daemon's connection ends, and a minute of silence goes by for the others.
bool make_silent(const daemon_under_test& d) {
  const auto number = "(SELECT number FROM mcpbx.daemons WHERE label LIKE 'mcpbxd " + std::to_string(d.pid()) + " %')";
  return run_sql(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND objid::bigint IN " +
      number + "; UPDATE mcpbx.daemons SET seen_ms = seen_ms - 60001 WHERE number IN " + number);
}

}  // namespace

TEST_CASE("L17 O5: two daemons share a PostgreSQL journal, and a run belongs to the one that began it" *
          postgres_only()) {
  model_process model;
  daemon_under_test one(shared(model)), two(shared(model));
  CHECK(run_cli(one, {"ask", "-m", "m/rounds-0", "first"}).status == 0);
  CHECK(contains(run_cli(two, {"sessions"}).out, "first"));
  const auto first = text_at(parse(run_cli(two, {"--json", "sessions"}).out).as_array().at(0), "session");
  CHECK(run_cli(two, {"ask", "-s", first, "-m", "m/rounds-0", "second"}).status == 0);

  caller c = one.connect(), other = two.connect();
  begin_night(one, c, "night");
  const auto owner = "owned by mcpbxd " + std::to_string(one.pid()) + " on ";
  const auto id = session_of(other, "night");
  CHECK(id.starts_with("ses_"));
  const auto all_refused = [&] {
    for (const auto& [method, params] : {std::pair<std::string, std::string>{"attach", R"({"run":"night"})"},
                                         {"cancel", R"({"run":"night"})"},
                                         {"answer", R"({"run":"night","question":"q","approve":true})"},
                                         {"chat", R"({"run":"night"})"},
                                         {"chat", R"({"session":")" + id + R"(","input":"x","model":"m/rounds-0"})"},
                                         {"sessions/delete", R"({"session":")" + id + "\"}"}}) {
      const auto said = other.request("mcpbx/" + method, params).message();
      CHECK_MESSAGE(contains(said, owner), method, ": ", said);
    }
  };
  all_refused();
  CHECK(one.stop(SIGKILL).signal == SIGKILL);
  all_refused();
  one.start();
  caller again = one.connect();
  reply r;
  CHECK(eventually([&] {
    r = again.request("mcpbx/attach", R"({"run":"night"})");
    return !r.failed();
  }));
  CHECK(contains(text_at(r.value, "result.text"), "it may have taken effect"));
  const auto next = other.request("mcpbx/chat", R"({"session":")" + id + R"(","input":"x","model":"m/rounds-0"})");
  CHECK_MESSAGE(text_at(next.value, "result.stopReason") == "final", next.line);
}

TEST_CASE("G25: runs go on whose connection to PostgreSQL is ended while they write" * postgres_only()) {
  model_process model;
  daemon_under_test d(shared(model));
  caller c = d.connect();
  for (int i = 0; i < 10; ++i) {
    const auto run = "cut-" + std::to_string(i);
    const auto begun = c.request(
        "mcpbx/chat", R"({"input":"q","run":")" + run + R"(","detach":true,"model":"m/rounds-3 slow__echo"})");
    REQUIRE_MESSAGE(text_at(begun.value, "result.run") == run, begun.line);
    REQUIRE(signal_backend(SIGTERM));
    const auto ended = c.request("mcpbx/attach", R"({"run":")" + run + "\"}");
    CHECK_MESSAGE(text_at(ended.value, "result.stopReason") == "final", ended.line);
  }
}

TEST_CASE("G25: when PostgreSQL crashes during a run, its caller gets a result, and what comes next is kept" *
          postgres_only()) {
  model_process model;
  daemon_under_test d(shared(model));
  caller c = d.connect();
  const auto run = c.start("mcpbx/chat", R"({"input":"q","run":"shaken","model":"m/rounds-1 slow__never-answer"})");
  REQUIRE(eventually([&] { return contains(read_file(d.file("log")), "call never-answer"); }));
  REQUIRE(signal_backend(SIGKILL));
  caller other = d.connect();
  (void)other.request("mcpbx/cancel", R"({"run":"shaken"})");
  const auto ended = c.wait(run);
  // Cancelled, unless the server lost records in its crash that it had taken and not yet on its disk.
  const auto how = text_at(ended.value, "result.stopReason");
  CHECK_MESSAGE((how == "cancelled" || (how == "store_error" && contains(ended.line, "lost the latest records"))),
                ended.line);
  CHECK(eventually([&] { return run_cli(d, {"ask", "-m", "m/rounds-0", "after the storm"}).status == 0; }));
  CHECK(eventually([&] { return session_of(other, "shaken").empty(); }));
  CHECK(contains(run_cli(d, {"sessions"}).out, "after the storm"));
}

TEST_CASE(
    "G24 G25 O5: a run goes on in another daemon while its own is stopped, which makes no call of it when it wakes" *
    postgres_only()) {
  REQUIRE(has_been_up());
  model_process model;
  daemon_under_test one(shared(model)), two(shared(model));
  const auto file = one.file("answer");
  caller c = one.connect();
  // The model asks for a call in each of two rounds: the first one's result comes while the daemon is stopped.
  const auto begun =
      c.request("mcpbx/chat", R"({"input":"q","run":"handed","detach":true,"model":"m/rounds-2 slow__wait_for_file )" +
                                  std::string(R"({\"path\":\")") + file + R"(\"}"})");
  REQUIRE_MESSAGE(text_at(begun.value, "result.run") == "handed", begun.line);
  const auto attached = c.start("mcpbx/attach", R"({"run":"handed"})");
  REQUIRE(eventually([&] { return contains(read_file(one.file("log")), "call wait_for_file"); }));
  one.process().signal(SIGSTOP);
  REQUIRE(make_silent(one));
  one.write("answer", "");

  caller other = two.connect();
  reply there;
  REQUIRE(eventually([&] {
    there = other.request("mcpbx/attach", R"({"run":"handed"})");
    return !there.failed();
  }));
  CHECK_MESSAGE(text_at(there.value, "result.stopReason") == "final", there.line);
  CHECK(contains(there.line, "it may have taken effect"));
  CHECK(count_of(read_file(two.file("log")), "call wait_for_file") == 1);

  one.process().signal(SIGCONT);
  const auto told = c.wait(attached);
  CHECK_MESSAGE(contains(told.line, "goes on in another daemon"), told.line);
  CHECK(eventually([&] { return contains(c.request("mcpbx/attach", R"({"run":"handed"})").line, "error"); }));
  CHECK(count_of(read_file(one.file("log")), "call wait_for_file") == 1);
}
