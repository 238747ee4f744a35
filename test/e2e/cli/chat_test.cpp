// `mcpbx chat` at a pseudo-terminal and in a pipe.
#include "test/e2e/harness/harness.hpp"
#include "test/e2e/harness/pseudo_terminal.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx::e2e;

namespace {

// `talk` answers its n-th question with a word of its own, `stuck` never ends, `marked` answers in Markdown.
constexpr std::string_view talk_script =
    R"({"models":{"talk":[{"text":"answer one"},{"text":"answer two"},{"text":"answer three"}],)"
    R"("stuck":[{"text":"a few words that stop","fault":"hang-mid-stream"}],)"
    R"("marked":[{"text":"# Head\nso **strong** \u001b]0;evil\u0007 and `code`\n"}]}})";

config talking(const model_process& model) {
  return config()
      .server("s", {"--log", "@DIR@/log"}, R"("approve":["ec*"])")
      .model("m", model.entry())
      .top("defaultModel", "\"m\"");
}

// The prompt as the editor writes it, and where there is none.
constexpr std::string_view prompt = "\x1b[?2004h> ", plain_prompt = "\n> ", bye = "\x04";

std::string last_request(const model_process& model) {
  const auto log = model.log();
  return log.substr(log.rfind(R"("event":"request")"));
}

}  // namespace

TEST_CASE("chat: questions share a session, the arrow keys bring them back, and Ctrl-D ends") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  {
    pseudo_terminal chat(d, {"chat", "-m", "m/talk"});
    chat.read_on_until(prompt);
    chat.type("first question\r");
    chat.read_on_until("answer one");
    chat.read_on_until(prompt);
    chat.type("second question\r");
    chat.read_on_until("answer two");
    chat.read_on_until(prompt);
    chat.type("\x1b[A\x1b[A\r");  // the first one again
    chat.read_on_until("answer three");
    chat.read_on_until(prompt);
    chat.type(" not for the history\r");
    chat.read_on_until(prompt);
    chat.type(bye);
    CHECK(chat.wait() == 0);
  }
  CHECK(count_of(model.log(), "first question") >= 2);
  const auto sessions = run_cli(d, {"--json", "sessions"}).out;
  CHECK(count_of(sessions, "\"session\"") == 1);
  CHECK(contains(sessions, R"("runCount":4)"));
  const auto history = d.file(".local/state/mcpbx/chat-history");
  CHECK(read_file(history) == "\"second question\"\n\"first question\"\n");
  struct stat about{};
  REQUIRE(::stat(history.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
  pseudo_terminal again(d, {"chat", "-c", "-m", "m/talk"});
  again.read_on_until("(first question)");
  again.read_on_until(prompt);
  again.type(bye);
  CHECK(again.wait() == 0);
}

TEST_CASE("chat: Ctrl-C ends the answer that is coming or the line, and not the program") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  pseudo_terminal chat(d, {"chat", "-m", "m/stuck"});
  chat.read_on_until(prompt);
  chat.type("question\r");
  chat.read_on_until("a few");
  chat.type("\x03");
  chat.read_on_until("cancelled");
  chat.read_on_until(prompt);
  CHECK(eventually([&] { return contains(run_cli(d, {"--json", "status"}).out, R"("active":0)"); }));
  chat.type("half a line\x03");
  chat.read_on_until("^C");
  chat.read_on_until(prompt);
  chat.type("/model m/talk\r");
  chat.read_on_until("the next questions go to m/talk");
  chat.read_on_until(prompt);
  chat.type("another\r");
  chat.read_on_until("answer");
  chat.read_on_until(prompt);
  chat.type(bye);
  CHECK(chat.wait() == 0);
  CHECK_FALSE(contains(model.log(), "half a line"));
}

TEST_CASE("chat: a signal that ends it leaves the terminal as it was") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  for (const int how : {SIGTERM, SIGHUP, SIGQUIT}) {
    pseudo_terminal chat(d, {"chat", "-m", "m/talk"});
    chat.read_on_until(prompt);
    CHECK_FALSE(chat.is_plain());
    REQUIRE(::kill(chat.pid(), how) == 0);
    CHECK_MESSAGE(eventually([&] { return chat.is_plain(); }), how);
    CHECK(chat.wait() == 130);
  }
}

TEST_CASE("chat: a pasted text of several lines is one input, and so are lines that go on") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  pseudo_terminal chat(d, {"chat", "-m", "m/talk"});
  chat.read_on_until(prompt);
  chat.type("\x1b[200~pasted\rtwo\nthree\x1b[31m\r\x1b[201~");
  chat.type("\r");
  chat.read_on_until("answer one");
  chat.read_on_until(prompt);
  chat.type("up \\\r");
  chat.read_on_until(". ");
  chat.type("down\r");
  chat.read_on_until("answer two");
  chat.read_on_until(prompt);
  chat.type(bye);
  CHECK(chat.wait() == 0);
  CHECK(contains(model.log(), R"(pasted\ntwo\nthree[31m")"));
  CHECK(contains(model.log(), R"(up \ndown")"));
}

TEST_CASE("chat: Markdown is styled where colours are, and no escape sequence of a model reaches the terminal") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  {
    pseudo_terminal plain(d, {"chat", "-m", "m/marked"});
    plain.read_on_until(prompt);
    plain.type("q\r");
    plain.read_on_until("so **strong** ]0;evil and `code`");
    plain.read_on_until(prompt);
    plain.type(bye);
    CHECK(plain.wait() == 0);
    CHECK_FALSE(contains(plain.shown, "\x1b]0;evil"));
  }
  d.env.push_back("NO_COLOR=");
  pseudo_terminal chat(d, {"chat", "-m", "m/marked"});
  chat.read_on_until(prompt);
  chat.type("q\r");
  chat.read_on_until("\x1b[1m Head");
  chat.read_on_until("\x1b[1mstrong\x1b[0m");
  chat.read_on_until("\x1b[36mcode\x1b[0m");
  chat.read_on_until(prompt);
  chat.type(bye);
  CHECK(chat.wait() == 0);
  CHECK_FALSE(contains(chat.shown, "\x1b]0;evil"));
}

TEST_CASE("chat: a call that needs a yes is asked about in place") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  d.wait_ready({"s"});
  pseudo_terminal chat(d, {"chat", "-m", R"(m/rounds-1 s__echo {"text":"hello"})"});
  chat.read_on_until(prompt);
  chat.type("q\r");
  chat.read_on_until("[y/N/a/s] ");
  chat.type("y\r");
  chat.read_on_until("Final: hello");
  chat.read_on_until(prompt);
  chat.type(bye);
  CHECK(chat.wait() == 0);
}

TEST_CASE("chat: undo goes on from before the last question in a new session, and the old one stays") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  pseudo_terminal chat(d, {"chat", "-m", "m/talk"});
  for (const std::string question : {"kept question", "wrong question"}) {
    chat.read_on_until(prompt);
    chat.type(question + "\r");
    chat.read_on_until("answer ");
  }
  chat.read_on_until(prompt);
  chat.type("/undo\r");
  chat.read_on_until("taken back: wrong question");
  chat.read_on_until(prompt);
  chat.type("right question\r");
  chat.read_on_until("answer two");
  chat.read_on_until(prompt);
  const auto sent = last_request(model);
  CHECK(contains(sent, "kept question"));
  CHECK(contains(sent, "right question"));
  CHECK_FALSE(contains(sent, "wrong question"));
  chat.type("/undo\r");
  chat.read_on_until("taken back: right question");
  chat.read_on_until(prompt);
  chat.type("/undo\r");
  chat.read_on_until("taken back: kept question");
  chat.read_on_until(prompt);
  chat.type("/undo\r");
  chat.read_on_until("nothing to take back");
  chat.read_on_until(prompt);
  chat.type(bye);
  CHECK(chat.wait() == 0);
  const auto sessions = run_cli(d, {"--json", "sessions"}).out;
  CHECK(count_of(sessions, "\"session\"") == 2);
  CHECK(contains(sessions, R"("runCount":2)"));
}

TEST_CASE("chat: when the daemon dies in the middle of an answer, the next question goes on with the session") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  pseudo_terminal chat(d, {"chat", "-m", "m/stuck"});
  chat.read_on_until(prompt);
  chat.type("lost question\r");
  chat.read_on_until("a few");
  CHECK(d.stop(SIGKILL).signal == SIGKILL);
  chat.read_on_until("the daemon closed the connection");
  chat.read_on_until(prompt);
  chat.type("too early\r");
  chat.read_on_until("mcpbx: ");
  chat.read_on_until(prompt);
  d.start();
  chat.type("/model m/text\r");
  chat.read_on_until("(interrupted)");
  chat.read_on_until(prompt);
  chat.type("next question\r");
  chat.read_on_until("Hello from the scripted model.");
  chat.read_on_until(prompt);
  CHECK(contains(last_request(model), "lost question"));
  chat.type(bye);
  CHECK(chat.wait() == 0);
}

TEST_CASE("chat: a terminal that can little gets plain lines and no sequences") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  d.env.push_back("TERM=dumb");
  pseudo_terminal chat(d, {"chat", "-m", "m/talk"});
  chat.read_on_until(plain_prompt);
  chat.type("question\n");
  chat.read_on_until("answer one");
  chat.read_on_until(plain_prompt);
  chat.type("/tolls\n");
  chat.read_on_until("did you mean \"/tools\"?");
  chat.read_on_until(plain_prompt);
  chat.type("/exit\n");
  CHECK(chat.wait() == 0);
  CHECK_FALSE(contains(chat.shown, "\x1b[?2004"));
}

TEST_CASE("chat: in a pipe each line or block is a question, and only answers go to standard output") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  const auto r = run_cli(d, {"chat", "-m", "m/talk"}, "first\n\n\"\"\"\nsecond\nlines\n\"\"\"\nthird");
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == "answer one\nanswer two\nanswer three\n");
  CHECK_FALSE(contains(r.out + r.err, "\x1b"));
  CHECK(contains(model.log(), R"(second\nlines")"));
  const auto events = run_cli(d, {"--json", "chat", "-m", "m/talk"}, "first\n/session\n");
  CHECK(events.status == 0);
  CHECK(contains(events.out, R"("type":"done")"));
  for (std::size_t at = 0; at < events.out.size(); at = events.out.find('\n', at) + 1) CHECK(events.out[at] == '{');
  CHECK(contains(events.err, "the session is ses_"));
  const auto wrong = run_cli(d, {"chat", "-m", "m/talk"}, "/tolls\nfirst\n");
  CHECK(wrong.status == 2);
  CHECK(wrong.out == "answer one\n");
  CHECK(run_cli(d, {"chat", "-m", "none"}, "first\n").status == 2);
  CHECK(run_cli(d, {"chat", "-s", "none"}, "first\n").status == 5);
}

TEST_CASE("chat: files go with the next question, and one that cannot be sent is refused at once") {
  model_process model(talk_script);
  daemon_under_test d(talking(model));
  d.write("notes.txt", "the notes");
  d.write("bad.bin", "\xff\xfe");
  const auto r =
      run_cli(d, {"chat", "-m", "m/talk"}, "/file bad.bin\n/file missing.txt\n/file \"notes.txt\"\nfirst\nsecond\n");
  CHECK(r.status == 2);
  CHECK(r.out == "answer one\nanswer two\n");
  CHECK(contains(r.err, "the file bad.bin is neither text"));
  CHECK(contains(r.err, "missing.txt cannot be read"));
  CHECK(contains(r.err, "notes.txt goes with the next question"));
  CHECK(contains(model.log(), R"(File notes.txt:\n\nthe notes)"));
}

TEST_CASE("chat: the example of its help does what it says") {
  daemon_under_test d(config()
                          .entry("toolbox", R"({"command":"mcpbx-toolbox","args":["@DIR@"]})")
                          .model("demo", R"({"api":"rehearsal"})"));
  d.wait_ready({"toolbox"});
  CHECK(contains(run_cli(d, {"chat", "--help"}).out, R"(printf 'What is 6 * 7?\nAnd 6 * 8?\n' | mcpbx chat -m demo)"));
  const auto r = run_cli(d, {"chat", "-m", "demo"}, "What is 6 * 7?\nAnd 6 * 8?\n");
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(contains(r.out, "calculate: 42"));
  CHECK(contains(r.out, "calculate: 48"));
  CHECK(contains(run_cli(d, {"ask", "--help"}).out, R"(mcpbx ask -m demo --dry-run "What is 6 * 7?")"));
  const auto dry = run_cli(d, {"ask", "-m", "demo", "--dry-run", "What is 6 * 7?"});
  CHECK(dry.status == 0);
  CHECK(contains(dry.out, "none: no endpoint is asked"));
  CHECK(contains(dry.out, "toolbox__calculate"));
}

TEST_CASE("chat: without sessions the conversation is carried along") {
  model_process model(talk_script);
  daemon_under_test d(talking(model).top("store", R"({"url":"none"})"));
  const auto r = run_cli(d, {"chat", "-m", "m/talk"}, "first\nsecond\n/undo\nother\n");
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == "answer one\nanswer two\nanswer two\n");
  CHECK_FALSE(contains(last_request(model), "second"));
  CHECK(contains(r.err, "taken back: second"));
}
