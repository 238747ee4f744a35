// mcpbx/sessions/*: params, pages, and errors.
#include "daemon/front/front_door.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::door;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::test;

namespace {

// One session of ten messages in two runs.
class kept_talk final : public journal {
 public:
  std::unique_ptr<run_journal> open_run(const std::string& run) override { return none.open_run(run); }
  bool keeps_sessions() const override { return true; }
  void list_sessions(session_query q, answer<std::vector<session_row>> then) override {
    asked = q;
    then(std::vector<session_row>(std::min<std::size_t>(q.limit, 2), row()));
  }
  void read_session(std::string session, answer<session_contents> then) override {
    if (session != "ses_1") return then(fail(errc::not_found, "there is no session \"" + session + "\""));
    session_contents all{row(), std::vector<kept_run>(2)};
    all.row.principal = owner;
    all.runs[0].row = {1, "a", "ses_1", "uid:1", "m", 10, 20, "final"};
    all.runs[1].row = {2, "b", "ses_1", "uid:1", "m", 30, 0, ""};
    for (int i = 0; i < 10; ++i)
      all.runs[i < 6 ? 0 : 1].folded.messages.push_back(providers::user_message("say " + std::to_string(i)));
    all.runs[1].folded.partial_text = partial;
    then(std::move(all));
  }
  void erase_session(std::string session, answer<void> then) override {
    ++erased;
    then(session == "ses_1" ? result<void>(fail(errc::unavailable, "the session ses_1 is in use")) : result<void>());
  }
  static session_row row() { return {"ses_1", "Title", "uid:1", "m", 10, 40, 2, 999, "b", ""}; }
  memory_journal none;
  session_query asked;
  std::string partial, owner = "uid:1";
  int erased = 0;
};

struct sessions_fixture {
  explicit sessions_fixture(const std::string& server = "")
      : door(io.get_executor(), time, backend, {},
             [server](const mcp::socket::peer_credentials&) -> result<std::string> { return server; }) {
    auto talk = std::make_unique<kept_talk>();
    store = talk.get();
    backend.kept = std::move(talk);
    door.accept(std::make_unique<fake_transport>(line), {1000, 100});
    io.poll();
  }
  ~sessions_fixture() {
    door.close();
    io.restart();
    io.poll();
  }
  std::string ask(const std::string& method, const std::string& params) {
    line.say(R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/sessions/)" + method + R"(","params":)" + params + "}");
    io.restart();
    io.poll();
    return line.sent.empty() ? "" : line.sent.back();
  }
  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  kept_talk* store = nullptr;
  fake_transport::line line;
  front_door door;
};

}  // namespace

TEST_CASE("L17: sessions/list tells each session and where the next page begins") {
  sessions_fixture f;
  const auto all = f.ask("list", "{}");
  CHECK(contains(all,
                 R"({"sessions":[{"session":"ses_1","title":"Title","model":"m","principal":"uid:1","createdMs":10,)"
                 R"("usedMs":40,"runCount":2,"bytes":999,"running":"b"},)"));
  CHECK_FALSE(contains(all, "next"));
  CHECK(contains(f.ask("list", R"({"limit":2,"before":"ses_9"})"), R"("next":"ses_1")"));
  CHECK((f.store->asked.limit == 2 && f.store->asked.before == "ses_9"));
  CHECK(contains(f.ask("list", R"({"limit":0})"), "params.limit: expected an integer from 1 to 1000"));
}

TEST_CASE("G42: sessions/list tells of one's own, and of all only the person who asks for them") {
  sessions_fixture f;
  f.ask("list", "{}");
  CHECK(f.store->asked.principal == "uid:1000");
  f.ask("list", R"({"all":true})");
  CHECK(f.store->asked.principal == "");
  sessions_fixture server("files");
  server.ask("list", "{}");
  CHECK(server.store->asked.principal == "server:files");
  CHECK(contains(server.ask("list", R"({"all":true})"), "only the person may see all"));
  CHECK(contains(server.ask("get", R"({"session":"ses_1"})"), "-32002"));
  CHECK(contains(server.ask("delete", R"({"session":"ses_1"})"), "-32002"));
  CHECK(server.store->erased == 0);
  server.store->owner = "server:files";
  CHECK(contains(server.ask("get", R"({"session":"ses_1"})"), R"("total":10)"));
  CHECK(contains(server.ask("delete", R"({"session":"ses_1"})"), "in use"));
  CHECK(server.store->erased == 1);
}

TEST_CASE("L17: sessions/get gives messages by number, page by page, and how each run ended") {
  sessions_fixture f;
  const auto page = f.ask("get", R"({"session":"ses_1","from":4,"limit":3})");
  CHECK(contains(page, R"("from":4,"total":10,"next":7,)"));
  for (const char* there : {"say 4", "say 5", "say 6"}) CHECK(contains(page, there));
  for (const char* not_there : {"say 3", "say 7"}) CHECK_FALSE(contains(page, not_there));
  CHECK(contains(page, R"({"run":"a","model":"m","startedMs":10,"endedMs":20,"stopReason":"final",)"));
  CHECK(contains(page, R"({"run":"b","model":"m","startedMs":30,"rounds":0,"messages":4,)"));
  CHECK_FALSE(contains(f.ask("get", R"({"session":"ses_1","from":7})"), "\"next\""));
  CHECK(contains(f.ask("get", R"({"session":"ses_1","from":50})"), R"("messages":[]})"));
  CHECK(contains(f.ask("get", R"({"session":"ses_2"})"), "-32002"));
  CHECK(contains(f.ask("get", "{}"), "params.session: expected the id of a session"));
}

TEST_CASE("G28: sessions/get tells what an answer that broke began with apart from the messages and within bounds") {
  sessions_fixture f;
  f.store->partial = "half an";
  const auto page = f.ask("get", R"({"session":"ses_1"})");
  CHECK(contains(page, R"({"run":"b","model":"m","startedMs":30,"partialText":"half an","rounds":0,"messages":4,)"));
  CHECK(contains(page, R"("endedMs":20,"stopReason":"final","rounds":0)"));
  f.store->partial = std::string(100'000, 'x');
  CHECK(f.ask("get", R"({"session":"ses_1"})").size() < 70'000);
}

TEST_CASE("L17: sessions/delete answers when it is gone, or why it is not") {
  sessions_fixture f;
  CHECK(contains(f.ask("delete", R"({"session":"ses_2"})"), R"("result":{})"));
  CHECK(contains(f.ask("delete", R"({"session":"ses_1"})"), "in use"));
}

TEST_CASE("L17: a run that its session refuses is answered with the error") {
  sessions_fixture f;
  f.line.say(R"({"jsonrpc":"2.0","id":7,"method":"mcpbx/chat","params":{"input":"q","session":"ses_9","run":"mine"}})");
  REQUIRE(f.backend.feeds.contains("mine"));
  CHECK(f.backend.started.back().session == "ses_9");
  f.backend.feeds["mine"]->refuse({errc::not_found, "there is no session \"ses_9\""});
  f.io.restart();
  f.io.poll();
  CHECK(contains(f.line.sent.back(), R"("id":7)"));
  CHECK(contains(f.line.sent.back(), "-32002"));
}
