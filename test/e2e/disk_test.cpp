// A daemon whose disk has no room for its journal (G25): what needs the journal fails with the mend, what does not goes
// on, and room is all that it takes to go on as before.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <string_view>

using namespace mcpbx::e2e;

namespace {

constexpr std::string_view hello_by_tool = R"("model":"m/rounds-1 s__echo {\"text\":\"hello\"}"})";

class full_disk_daemon : public daemon_under_test {
 public:
  explicit full_disk_daemon(config c, std::string_view url = "sqlite:")
      : daemon_under_test(c.top("store", R"({"url":")" + std::string(url) + "\"}"),
                          {.env = {std::string("LD_PRELOAD=") + FULL_DISK}}) {
    wait_ready({"s"});
  }
  void fill() const { write("disk-is-full", ""); }
  void make_room() const { CHECK(::unlink(file("disk-is-full").c_str()) == 0); }
  std::string server_log() const { return read_file(file("log")); }
};

config logging(const model_process& model) {
  return config().server("s", {"--log", "@DIR@/log"}).model("m", model.entry()).top("defaultModel", "\"m\"");
}

void check_sentence(const full_disk_daemon& d, std::string_view text) {
  CHECK_MESSAGE(contains(text, "there is no room on the disk for the journal " + d.file(".local/state/mcpbx/mcpbx.db") +
                                   "; make room, and the next run is kept again"),
                std::string(text));
}

std::string chat_in(caller& c, const std::string& input) {
  const auto r = c.request("mcpbx/chat", "{\"input\":" + json_string(input) + "," + std::string(hello_by_tool));
  CHECK_MESSAGE(text_at(r.value, "result.stopReason") == "final", r.line);
  return text_at(r.value, "result.session");
}

}  // namespace

TEST_CASE("G25: on a full disk runs fail with the mend, nothing is acknowledged, and room is enough to go on") {
  model_process model;
  full_disk_daemon d(logging(model));
  caller c = d.connect();
  const auto before = chat_in(c, "before");
  CHECK(count_of(d.server_log(), "call echo") == 1);

  d.fill();
  const auto lost = c.request("mcpbx/chat", R"({"input":"lost",)" + std::string(hello_by_tool));
  check_sentence(d, lost.failed() ? lost.message() : text_at(lost.value, "result.reason"));
  const auto detached =
      c.request("mcpbx/chat", R"({"input":"lost too","run":"night","detach":true,)" + std::string(hello_by_tool));
  REQUIRE_MESSAGE(detached.failed(), detached.line);
  check_sentence(d, detached.message());
  const auto asked = run_cli(d, {"ask", "-s", before, "lost as well"});
  CHECK(asked.status != 0);
  CHECK(asked.out.empty());
  check_sentence(d, asked.err);
  CHECK(count_of(d.server_log(), "call echo") == 1);

  // Calls that need no journal still work.
  CHECK(d.session().call("s__echo", R"({"text":"direct"})").text() == "direct");
  const auto status = c.request("mcpbx/status");
  check_sentence(d, text_at(status.value, "result.store.problem"));
  CHECK(status.get("result.store.sinceMs").to_number<std::int64_t>() > 1'700'000'000'000);
  check_sentence(d, run_cli(d, {"status"}).out);
  CHECK(contains(run_cli(d, {"sessions"}).out, before));

  d.make_room();
  const auto pid = d.pid();
  const auto after = chat_in(c, "after");
  CHECK_FALSE(contains(c.request("mcpbx/status").line, R"("store":)"));
  const auto night =
      c.request("mcpbx/chat", R"({"input":"not lost","run":"night","detach":true,)" + std::string(hello_by_tool));
  CHECK_MESSAGE(!night.failed(), night.line);
  CHECK(text_at(c.request("mcpbx/attach", R"({"run":"night"})").value, "result.stopReason") == "final");
  CHECK(d.pid() == pid);

  // After a crash acknowledged records are there, and no other run continues.
  CHECK(d.stop(SIGKILL).signal == SIGKILL);
  const auto calls = count_of(d.server_log(), "call echo");
  CHECK(calls == 4);
  d.start();
  caller later = d.connect();
  for (const auto& session : {before, after}) {
    const auto found = later.request("mcpbx/sessions/get", "{\"session\":" + json_string(session) + "}");
    CHECK(text_at(found.value, "result.runs.0.stopReason") == "final");
  }
  const auto shown = run_cli(d, {"sessions", "show", before}).out;
  CHECK(contains(shown, "before"));
  CHECK_FALSE(contains(shown, "lost as well"));
  CHECK(contains(text_at(later.request("mcpbx/attach", R"({"run":"night"})").value, "result.text"), "hello"));
  CHECK(count_of(d.server_log(), "call echo") == calls);
}

TEST_CASE("G25: a run in whose middle the disk fills up ends with store_error, and its result is not told") {
  model_process model;
  full_disk_daemon d(logging(model));
  caller c = d.connect();
  const auto run =
      c.start("mcpbx/chat", d.filled(R"({"input":"q","model":"m/rounds-2 s__wait_for_file {\"path\":\"@DIR@/go\"}"})"));
  CHECK(eventually([&] { return contains(d.server_log(), "call wait_for_file"); }));
  d.fill();
  d.write("go", "");
  const auto r = c.wait(run);
  CHECK_MESSAGE(text_at(r.value, "result.stopReason") == "store_error", r.line);
  check_sentence(d, text_at(r.value, "result.reason"));
  for (const auto& n : c.notifications) CHECK(text_at(n, "params.type") != "tool_result");
  CHECK(count_of(d.server_log(), "call wait_for_file") == 1);
  d.make_room();
  const auto id = chat_in(c, "after");
  const auto all = run_cli(d, {"--json", "sessions", "list"}).out;
  CHECK(contains(all, id));
  for (const auto& s : parse(all).as_array()) {
    const auto found = c.request("mcpbx/sessions/get", "{\"session\":" + json_string(text_at(s, "session")) + "}");
    for (const auto& one : found.get("result.runs").as_array()) CHECK_FALSE(text_at(one, "stopReason").empty());
  }
}

TEST_CASE("G24 G25: a detached run goes on after a start on a full disk, once there is room and its name is said") {
  model_process model;
  full_disk_daemon d(logging(model));
  const auto start = d.filled(
      R"({"input":"q","run":"night","detach":true,"model":"m/rounds-1 s__wait_for_file {\"path\":\"@DIR@/go\"}"})");
  caller c = d.connect();
  CHECK_FALSE(c.request("mcpbx/chat", start).failed());
  CHECK(eventually([&] { return contains(d.server_log(), "call wait_for_file"); }));
  CHECK(d.stop(SIGKILL).signal == SIGKILL);
  d.fill();
  d.start();
  caller later = d.connect();
  for (const auto& refused : {later.request("mcpbx/attach", R"({"run":"night"})"), later.request("mcpbx/chat", start),
                              later.request("mcpbx/cancel", R"({"run":"night"})")}) {
    REQUIRE_MESSAGE(refused.failed(), refused.line);
    CHECK(contains(refused.line, R"("retryable":true)"));
    check_sentence(d, refused.message());
  }
  d.make_room();
  d.write("go", "");
  CHECK(text_at(later.request("mcpbx/chat", start).value, "result.run") == "night");
  const auto ended = later.request("mcpbx/attach", R"({"run":"night"})");
  CHECK_MESSAGE(text_at(ended.value, "result.stopReason") == "final", ended.line);
  CHECK(later.request("mcpbx/sessions/list", "{}").get("result.sessions").as_array().size() == 1);
}

TEST_CASE("G25: a limit on the size of files does not end the daemon, and is told with the mend") {
  model_process model;
  daemon_under_test d(logging(model));
  d.wait_ready({"s"});
  caller c = d.connect();
  (void)chat_in(c, "before");
  rlimit small{8'192, RLIM_INFINITY}, before{};  // of which the journal's log needs more, and the daemon's does not
  REQUIRE(::prlimit(d.pid(), RLIMIT_FSIZE, nullptr, &before) == 0);
  small.rlim_max = before.rlim_max;
  REQUIRE(::prlimit(d.pid(), RLIMIT_FSIZE, &small, nullptr) == 0);
  const auto lost = c.request("mcpbx/chat", R"({"input":"lost",)" + std::string(hello_by_tool));
  const auto said = lost.failed() ? lost.message() : text_at(lost.value, "result.reason");
  CHECK_MESSAGE(contains(said, "could not be read or written (disk I/O error"), said);
  CHECK(d.session().call("s__echo", R"({"text":"direct"})").text() == "direct");
  REQUIRE(::prlimit(d.pid(), RLIMIT_FSIZE, &before, nullptr) == 0);
  (void)chat_in(c, "after");
}

TEST_CASE("G25: without a store a full disk is nobody's business") {
  model_process model;
  full_disk_daemon d(logging(model), "none");
  d.fill();
  caller c = d.connect();
  CHECK(chat_in(c, "q").empty());
  CHECK(run_cli(d, {"ask", "-m", "m", "q"}).status == 0);
  CHECK(d.session().call("s__echo", R"({"text":"direct"})").text() == "direct");
}
