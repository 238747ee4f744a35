// Runs of other daemons that share the journal: what is asked about them is answered with their owner.
#include "daemon/front/front_door.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/mcp/server/fake_host.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::door;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::store;
using namespace mcpbx::test;

namespace {

// Answers when the test says so, as a journal on a lane does.
class shared_journal final : public journal {
 public:
  std::unique_ptr<run_journal> open_run(const std::string& run) override { return none.open_run(run); }
  void find_owner(std::string run, answer<std::optional<std::string>> then) override {
    asked.emplace_back(std::move(run), std::move(then));
  }
  memory_journal none;
  std::vector<std::pair<std::string, answer<std::optional<std::string>>>> asked;
};

struct owned_runs_fixture {
  owned_runs_fixture() : door(io.get_executor(), time, backend, {}, {}) {
    auto made = std::make_unique<shared_journal>();
    shared = made.get();
    backend.kept = std::move(made);
    door.accept(std::make_unique<fake_transport>(line), {1000, 100});
    turn();
  }
  ~owned_runs_fixture() {
    door.close();
    turn();
  }
  void turn() {
    io.restart();
    io.poll();
  }
  /// Returns the answer about the run "theirs" if the journal gives this owner.
  std::string ask(const std::string& method, const std::string& params, result<std::optional<std::string>> owner) {
    const auto before = line.sent.size();
    line.say(R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/)" + method + R"(","params":)" + params + "}");
    turn();
    CHECK(line.sent.size() == before);
    REQUIRE(shared->asked.size() == 1);
    // A chat is looked for before it is begun, and again when it cannot be.
    for (; !shared->asked.empty(); turn())
      for (const auto& [run, then] : std::exchange(shared->asked, {})) {
        CHECK(run == "theirs");
        then(owner);
      }
    REQUIRE(line.sent.size() == before + 1);
    return line.sent.back();
  }
  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  shared_journal* shared = nullptr;
  fake_transport::line line;
  front_door door;
};

constexpr std::pair<const char*, const char*> requests[]{
    {"attach", R"({"run":"theirs"})"},
    {"cancel", R"({"run":"theirs"})"},
    {"answer", R"({"run":"theirs","question":"q","approve":true})"},
    {"chat", R"({"run":"theirs","input":"go","model":"nope"})"},
    {"chat", R"({"run":"theirs","input":"go","model":"nope","detach":true})"},
};

}  // namespace

TEST_CASE("L17: what is asked about a run of another daemon is answered with its owner") {
  owned_runs_fixture f;
  for (const auto& [method, params] : requests) {
    CAPTURE(method);
    const auto said = f.ask(method, params, std::optional<std::string>("mcpbxd 7 on web1"));
    CHECK(text_of(said) == "the run \"theirs\" is owned by mcpbxd 7 on web1; ask that daemon");
  }
  // Also where it could be begun here.
  const auto said = f.ask("chat", R"({"run":"theirs","input":"go"})", std::optional<std::string>("mcpbxd 7 on web1"));
  CHECK(contains(said, "is owned by mcpbxd 7 on web1"));
}

TEST_CASE("L17: a run that nobody has, or a journal that cannot tell, is answered as before") {
  owned_runs_fixture f;
  for (const auto& [method, params] : requests) {
    CAPTURE(method);
    CHECK(code_of(f.ask(method, params, std::nullopt)) == -32002);
    CHECK(code_of(f.ask(method, params, fail(errc::io, "it is away"))) == -32002);
  }
}

TEST_CASE("L17: a run that this daemon takes over while its owner is looked for is attached to and cancelled") {
  for (const auto& [method, params] : requests) {
    if (std::string_view(method) == "chat") continue;
    CAPTURE(method);
    owned_runs_fixture f;
    f.line.say(R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/)" + std::string(method) + R"(","params":)" + params + "}");
    f.turn();
    REQUIRE(f.shared->asked.size() == 1);
    f.backend.feeds.emplace("theirs", std::make_shared<run_feed>("theirs", run_feed::options{.keep = true}));
    for (const auto& [run, then] : std::exchange(f.shared->asked, {})) then(std::optional<std::string>());
    f.turn();
    if (std::string_view(method) == "attach") CHECK(f.line.sent.empty());  // it follows the run
    if (std::string_view(method) == "cancel") CHECK(f.backend.cancelled == std::vector<std::string>{"theirs"});
  }
}
