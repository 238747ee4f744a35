// Runs that ask a person, and runs that hand calls back to their caller, through the socket and the CLI.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

using namespace mcpbx::e2e;

namespace {

config guarded(const model_process& model) {
  return config()
      .server("s", {"--log", "@DIR@/log"}, R"("approve":["ec*"])")
      .model("m", model.entry())
      .top("defaultModel", "\"m\"");
}

constexpr std::string_view one_echo = R"({"input":"q","model":"m/rounds-1 s__echo {\"text\":\"hello\"}"})";

// The same of a caller that answers questions.
std::string answering() {
  return R"({"answers":true,)" + std::string(one_echo.substr(1));
}

std::string answer_to(const json::value& question, bool yes) {
  return "{\"run\":" + json_string(text_at(question, "params.run")) +
         ",\"question\":" + json_string(text_at(question, "params.question")) +
         (yes ? ",\"approve\":true}" : ",\"approve\":false}");
}

}  // namespace

TEST_CASE("L19: the caller is asked with tool, arguments and reason, and its yes lets the call be made") {
  model_process model;
  daemon_under_test d(guarded(model));
  caller c = d.connect();
  const auto chat = c.start("mcpbx/chat", answering());
  const auto q = c.wait_event("question");
  CHECK(text_at(q, "params.kind") == "approval");
  CHECK(text_at(q, "params.tool") == "s__echo");
  CHECK(text_at(q, "params.arguments.text") == "hello");
  CHECK_FALSE(text_at(q, "params.reason").empty());
  CHECK_FALSE(contains(read_file(d.file("log")), "call echo"));
  CHECK_FALSE(c.request("mcpbx/answer", answer_to(q, true)).failed());
  const auto r = c.wait(chat);
  CHECK(text_at(r.value, "result.text") == "Final: hello");
  CHECK(count_of(read_file(d.file("log")), "call echo") == 1);
}

TEST_CASE("L19: the run of a caller that has not said that it answers questions gets no at once, with the mend") {
  model_process model;
  daemon_under_test d(guarded(model));
  d.wait_ready({"s"});
  const auto refused = [](const reply& r) {
    CHECK(text_at(r.value, "result.stopReason") == "final");
    CHECK(r.get("result.toolCalls.0.isError") == json::value(true));
    CHECK(contains(json::serialize(r.value),
                   "needs a yes of the user, and nobody who follows this run can be asked: a program that "
                   "answers questions says"));
  };
  caller by_request = d.connect();
  const std::string mute(R"({"answers":false,)" + std::string(one_echo.substr(1)));
  refused(by_request.request("mcpbx/chat", mute));
  refused(by_request.request("mcpbx/chat", one_echo));
  caller by_hello = d.connect();
  CHECK_FALSE(by_hello.request("mcpbx/hello", R"({"name":"script","answers":true})").failed());
  CHECK_FALSE(by_hello.request("mcpbx/hello", R"({"name":"script"})").failed());
  refused(by_hello.request("mcpbx/chat", mute));
  CHECK(by_request.request("mcpbx/chat", R"({"input":"q","answers":1})").failed());
  // A request may say otherwise than its hello.
  const auto chat = by_hello.start("mcpbx/chat", one_echo);
  const auto q = by_hello.wait_event("question");
  CHECK_FALSE(by_hello.request("mcpbx/answer", answer_to(q, true)).failed());
  CHECK(text_at(by_hello.wait(chat).value, "result.text") == "Final: hello");
  CHECK(count_of(read_file(d.file("log")), "call echo") == 1);
}

TEST_CASE("L19: the question of a run is over when the last caller that answers has left it") {
  model_process model;
  daemon_under_test d(guarded(model));
  d.wait_ready({"s"});
  caller mute = d.connect();
  auto person = std::make_unique<caller>(d.connect());
  person->start("mcpbx/chat", R"({"run":"shared",)" + answering().substr(1));
  person->wait_event("question");
  const auto attached = mute.start("mcpbx/attach", R"({"run":"shared","answers":false})");
  mute.wait_event("snapshot");
  person.reset();
  const auto r = mute.wait(attached);
  CHECK(r.get("result.toolCalls.0.isError") == json::value(true));
  CHECK_FALSE(contains(read_file(d.file("log")), "call echo"));
}

TEST_CASE("G39: an answer of somebody else, of another kind or given twice makes no call") {
  model_process model;
  daemon_under_test d(guarded(model));
  caller c = d.connect(), other = d.connect();
  const auto chat = c.start("mcpbx/chat", answering());
  const auto q = c.wait_event("question");
  const auto stolen = other.request("mcpbx/answer", answer_to(q, true));
  CHECK(stolen.failed());
  CHECK(contains(stolen.message(), "was started by this connection"));
  const auto vague = c.request("mcpbx/answer", R"({"run":"r","question":"q"})");
  CHECK(contains(vague.message(), "params.approve: expected true or false"));
  CHECK_FALSE(contains(read_file(d.file("log")), "call echo"));
  CHECK_FALSE(c.request("mcpbx/answer", answer_to(q, false)).failed());
  CHECK(c.request("mcpbx/answer", answer_to(q, true)).failed());
  const auto r = c.wait(chat);
  CHECK(contains(text_at(r.value, "result.text"), "the user refused this call"));
  CHECK_FALSE(contains(read_file(d.file("log")), "call echo"));
}

TEST_CASE("L19 G39: a yes to what was asked before a restart makes no call of another command of the same name") {
  model_process model;
  daemon_under_test d(guarded(model));
  std::string before;
  {
    caller c = d.connect();
    CHECK_FALSE(c.request("mcpbx/chat", R"({"input":"q","run":"night","detach":true,)"
                                        R"("model":"m/rounds-1 s__echo {\"text\":\"hello\"}"})")
                    .failed());
    (void)c.start("mcpbx/attach", R"({"run":"night"})");
    before = text_at(c.wait_event("question"), "params.question");
    CHECK(d.stop(SIGKILL).signal == SIGKILL);
  }
  d.write("config.json", config()
                             .server("s", {"--log", "@DIR@/log", "--name", "another"}, R"("approve":["ec*"])")
                             .model("m", model.entry())
                             .top("defaultModel", "\"m\"")
                             .str());
  d.start();
  caller c = d.connect();
  const auto attached = c.start("mcpbx/attach", R"({"run":"night"})");
  const auto first = c.wait_event("question");
  CHECK(text_at(first, "params.question") == before);
  CHECK_FALSE(c.request("mcpbx/answer", answer_to(first, true)).failed());
  const auto second = c.wait_event("question");
  CHECK(text_at(second, "params.question") != before);
  CHECK_FALSE(contains(read_file(d.file("log")), "call echo"));
  CHECK_FALSE(c.request("mcpbx/answer", answer_to(second, true)).failed());
  CHECK(text_at(c.wait(attached).value, "result.text") == "Final: hello");
  CHECK(count_of(read_file(d.file("log")), "call echo") == 1);
}

TEST_CASE("G24 L19: a run that a restart resumes keeps to what its servers' entries said when it began") {
  model_process model(R"({"models":{"two":[{"calls":[{"name":"s__echo","arguments":{"text":"first"}}]},)"
                      R"({"calls":[{"name":"s__log","arguments":{"text":"denied"}}]},)"
                      R"({"calls":[{"name":"s__echo","arguments":{"text":"second"}}]},{"text":"done"}]}})");
  daemon_under_test d(config()
                          .server("s", {"--log", "@DIR@/log"}, R"("approve":["echo"],"tools":{"deny":["log"]})")
                          .model("m", model.entry()));
  {
    caller c = d.connect();
    CHECK_FALSE(c.request("mcpbx/chat", R"({"input":"q","run":"night","detach":true,"model":"m/two"})").failed());
    (void)c.start("mcpbx/attach", R"({"run":"night"})");
    (void)c.wait_event("question");
    CHECK(d.stop(SIGKILL).signal == SIGKILL);
  }
  d.write("config.json", config().server("s", {"--log", "@DIR@/log"}).model("m", model.entry()).str());
  d.start();
  caller c = d.connect();
  const auto attached = c.start("mcpbx/attach", R"({"run":"night"})");
  for (int asked = 0; asked < 2; ++asked)
    CHECK_FALSE(c.request("mcpbx/answer", answer_to(c.wait_event("question"), true)).failed());
  CHECK(text_at(c.wait(attached).value, "result.text") == "done");
  const auto log = read_file(d.file("log"));
  CHECK(count_of(log, "call echo") == 2);
  CHECK_FALSE(contains(log, "denied"));
  CHECK(d.session().call("s__log", R"({"text":"now"})").text() == "logged");  // permitted by the entry by now
}

TEST_CASE("L19: where nobody can be asked, what needs a yes is refused with the reason, unless --approve all") {
  model_process model;
  daemon_under_test d(guarded(model));
  const auto no = run_cli(d, {"ask", "-m", R"(m/rounds-1 s__echo {"text":"hello"})", "q"});
  CHECK(no.status == 0);
  CHECK(contains(no.out, "needs a yes of the user, and this run may not ask"));
  CHECK(contains(no.err, "mcpbx: a call needed your yes, and there is no terminal to ask at; `--approve all`"));
  const auto told = run_cli(d, {"ask", "--approve", "none", "-m", R"(m/rounds-1 s__echo {"text":"hello"})", "q"});
  CHECK_FALSE(contains(told.err, "--approve all"));  // that was decided
  CHECK_FALSE(contains(read_file(d.file("log")), "call echo"));
  const auto yes = run_cli(d, {"ask", "--approve", "all", "-m", R"(m/rounds-1 s__echo {"text":"hello"})", "q"});
  CHECK(yes.out == "Final: hello\n");
  const auto ask = run_cli(d, {"ask", "--approve", "ask", "q"});
  CHECK(ask.status == 2);
  CHECK(contains(ask.err, "--approve ask needs a terminal"));
}

namespace {

/// A daemon that answers one caller as the test says: for what a real one says only after ten minutes.
class one_caller {
 public:
  explicit one_caller(const std::string& socket) : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(socket.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, socket.data(), socket.size());
    REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
  }
  ~one_caller() {
    ::close(fd_);
    ::close(listener_);
  }
  one_caller(const one_caller&) = delete;
  one_caller& operator=(const one_caller&) = delete;

  /// Waits for the next request, which must be of this method, and answers it; gives the request.
  json::value answer(std::string_view method, std::string_view result) {
    if (fd_ < 0) {
      wait_for(listener_);
      fd_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      REQUIRE(fd_ >= 0);
    }
    for (char c = 0; !in_.ends_with('\n'); in_ += c) {
      wait_for(fd_);
      REQUIRE(::read(fd_, &c, 1) == 1);
    }
    auto request = parse(std::exchange(in_, {}));
    REQUIRE(text_at(request, "method") == method);
    const auto line =
        R"({"jsonrpc":"2.0","id":)" + text_at(request, "id") + ",\"result\":" + std::string(result) + "}\n";
    REQUIRE(::write(fd_, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    return request;
  }

 private:
  static void wait_for(int fd) {
    pollfd one{fd, POLLIN, 0};
    REQUIRE(::poll(&one, 1, 30'000) == 1);
  }
  int listener_, fd_ = -1;
  std::string in_;
};

}  // namespace

TEST_CASE("L11 L19: a run that ends with needs_approval is status 1, and its sentence says how to be asked again") {
  const std::string why =
      "Unable to complete task: the call of \"s__echo\" needs approval, and nobody was there to give it; continue the "
      "session ses_1 to be asked again.";
  for (const bool json_too : {false, true}) {
    world w;
    one_caller daemon(w.socket());
    const auto cli = start_cli(w, json_too ? config::words{"--json", "ask", "q"} : config::words{"ask", "q"});
    cli->close_stdin();
    daemon.answer("mcpbx/hello", R"({"version":"0.0.1"})");
    const auto asked =
        daemon.answer("mcpbx/chat", R"({"run":"r","session":"ses_1","text":"Let me see.","stopReason":)"
                                    R"("needs_approval","reason":)" +
                                        json_string(why) + R"(,"rounds":1,"toolCalls":[],"usage":{},"messages":[]})");
    CHECK(text_at(asked, "params.approve") == "none");  // there is no terminal here
    const auto end = cli->wait();
    CHECK(end.status == 1);
    CHECK(contains(cli->err, "mcpbx: " + why.substr(0, why.find_last_not_of('.') + 1)));
    CHECK(cli->out == (json_too ? "" : "Let me see.\n"));
  }
}

TEST_CASE("L19: a direct tools/call is the caller's own decision") {
  model_process model;
  daemon_under_test d(guarded(model));
  d.wait_ready({"s"});
  CHECK(d.session().call("s__echo", R"({"text":"direct"})").text() == "direct");
}

TEST_CASE("L21: the caller's own tool is offered, its call handed back, and the run goes on with the result") {
  model_process model;
  daemon_under_test d(guarded(model));
  caller c = d.connect();
  const auto first = c.request(
      "mcpbx/chat",
      R"({"input":"q","run":"talk","model":"m/rounds-1 mine {\"text\":\"for you\"}",)"
      R"("clientTools":[{"name":"mine","description":"d","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]})");
  CHECK(text_at(first.value, "result.stopReason") == "caller_tools");
  CHECK(text_at(first.value, "result.toolCalls.0.name") == "mine");
  CHECK(at(first.value, "result.toolCalls.0.pending") == json::value(true));
  CHECK(text_at(first.value, "result.toolCalls.0.arguments.text") == "for you");
  const auto id = text_at(first.value, "result.toolCalls.0.id");
  const auto second =
      c.request("mcpbx/chat", R"({"run":"talk","messages":[{"role":"tool","content":[{"type":"tool_result","id":)" +
                                  json_string(id) + R"(,"result":{"content":[{"type":"text","text":"mine!"}]}}]}]})");
  CHECK(text_at(second.value, "result.stopReason") == "final");
  CHECK(text_at(second.value, "result.text") == "Final: mine!");
  CHECK(text_at(second.value, "result.run") == "talk");
}
