// Runs that resume after a restart under two configurations, that of their start and the present one: of
// each rule the stricter version holds.
#include "mcp/client/catalog/tool_names.hpp"
#include "test/daemon/loop/next_process.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;

namespace runner_terms_test {
namespace {

/// Returns the records of a detached run that waits for the first answer of its model.
std::vector<run_record> left_thinking() {
  fixture f;
  f.offer({"lookup", "locked", "precious"});
  f.model->script = {silent()};
  f.run(detached("long"));
  return f.written();
}

record::run_started& beginning(std::vector<run_record>& records) {
  return std::get<record::run_started>(records.front());
}

/// Returns the records of a detached run that began while the catalog named the tools of `srv` as `naming` says.
std::vector<run_record> left_thinking_under(tool_naming naming, const std::function<void(record::run_started&)>& with) {
  auto records = left_thinking();
  beginning(records).servers = std::make_shared<const std::vector<server_terms>>(
      std::vector<server_terms>{{"srv", {}, {}, {}, std::move(naming)}});
  with(beginning(records));
  return records;
}

}  // namespace

TEST_CASE("G24: what the servers' entries said is kept with runs that may go on after a restart, and with no others") {
  auto records = left_thinking();
  REQUIRE(beginning(records).servers);
  CHECK(*beginning(records).servers == std::vector<server_terms>{{"srv", {}, {"locked"}, {"precious", "guarded"}}});
  fixture f;
  f.model->script = {says("done")};
  f.run(fixture::ask());
  CHECK_FALSE(std::get<record::run_started>(f.written().front()).servers);
}

TEST_CASE("G24: a run that goes on uses no tool that its server's entry withheld when it began") {
  next_process f;
  f.offer({"lookup", "locked", "precious"});  // the server's entry denies nothing any more
  f.model->script = {calls({call("a", "srv__locked")}), calls({call("b", "srv__lookup")}), says("done")};
  f.resume(left_thinking());
  CHECK(f.called() == lines{"lookup"});
  REQUIRE_FALSE(f.model->requests.empty());
  for (const auto& tool : f.model->requests.front().tools->tools) CHECK(tool.name != "srv__locked");
  CHECK(std::get<record::run_ended>(f.added().back()).reason == stop_reason::final);
}

TEST_CASE("G24: a run that goes on uses no tool of a server that was not there when it began") {
  auto records = left_thinking();
  beginning(records).servers = std::make_shared<const std::vector<server_terms>>();
  next_process f;
  f.model->script = {calls({call("a", "srv__lookup")}), says("done")};
  f.resume(std::move(records));
  CHECK(f.called().empty());
  CHECK(std::get<record::run_ended>(f.added().back()).reason == stop_reason::final);
}

TEST_CASE("G24: a run of an older mcpbx, which kept nothing of the servers, goes on under what holds now") {
  auto records = left_thinking();
  beginning(records).servers.reset();
  next_process f;
  f.offer({"locked"});
  f.model->script = {calls({call("a", "srv__locked")}), says("done")};
  f.resume(std::move(records));
  CHECK(f.called() == lines{"locked"});
}

TEST_CASE("G24 L19: a run that goes on asks about what needed a yes when it began") {
  auto records = left_thinking();
  beginning(records).servers =
      std::make_shared<const std::vector<server_terms>>(std::vector<server_terms>{{"srv", {}, {}, {"other"}}});
  next_process f;  // its server's entry wants approval for other tools
  f.offer({"lookup", "other"});
  f.model->script = {calls({call("a", "srv__other")}), says("done")};
  f.resume(std::move(records));
  CHECK(f.called().empty());
  CHECK(name_of(f.added().back()) == "question");
}

TEST_CASE("G24: a run that goes on is bound by what its profile says now, of tools, of questions and of numbers") {
  next_process f;
  f.offer({"lookup", "other", "third"});
  f.hold = [](run_request& r) {
    kept_terms kept = *r.tools.beside;
    kept.deny = {"*other"};
    r.tools.beside = std::make_shared<const kept_terms>(std::move(kept));
    r.approve.emplace_back("*third");
    r.limits.max_calls = 2;
    return result<void>();
  };
  f.model->script = {calls({call("a", "srv__other")}), calls({call("b", "srv__third")})};
  f.resume(left_thinking());
  CHECK(f.called().empty());
  CHECK(name_of(f.added().front()) == "limits_lowered");
  CHECK(std::get<record::limits_lowered>(f.added().front()).limits.max_calls == 2);
  CHECK(name_of(f.added().back()) == "question");
}

TEST_CASE("G24: a run whose profile is gone is closed after the restart, and says why") {
  next_process f;
  f.hold = [](run_request&) -> result<void> { return fail(errc::invalid_argument, "there is no profile \"p\""); };
  f.resume(left_thinking());
  CHECK(f.runs->active() == 0);
  CHECK(f.model->requests.empty());
  REQUIRE(name_of(f.added().back()) == "run_ended");
  const auto& end = std::get<record::run_ended>(f.added().back());
  CHECK(end.reason == stop_reason::interrupted);
  CHECK(end.text.find("there is no profile \"p\"") != std::string::npos);
}

TEST_CASE("G24: what a profile denied when the run began stays denied under any name that the tool has now") {
  next_process f;
  const auto deny = [](record::run_started& r) { r.tools.deny = {"srv__erase"}; };
  f.model->script = {calls({call("a", "srv__wipe"), call("b", "erase"), call("c", "srv__lookup")}), says("done")};
  SUBCASE("the server's entry renames it now") {
    f.list({{"erase", "srv__wipe"}, {"lookup", "srv__lookup"}});
    f.resume(left_thinking_under({"srv"}, deny));
  }
  SUBCASE("names are plain now") {
    f.list({{"erase", "erase"}, {"lookup", "srv__lookup"}});
    f.resume(left_thinking_under({"srv"}, deny));
  }
  SUBCASE("the entry renamed it then") {
    f.list({{"wipe", "srv__wipe"}, {"lookup", "srv__lookup"}});
    f.resume(left_thinking_under({"srv", false, {{"wipe", "erase"}}}, deny));
  }
  SUBCASE("names were plain then") {
    f.list({{"erase", "srv__wipe"}, {"lookup", "srv__lookup"}});
    f.resume(left_thinking_under({"srv", true}, [](record::run_started& r) { r.tools.deny = {"erase"}; }));
  }
  SUBCASE("the server had another prefix then") {
    f.list({{"erase", "srv__wipe"}, {"lookup", "srv__lookup"}});
    f.resume(left_thinking_under({"srv_1a2b3c"}, [](record::run_started& r) { r.tools.deny = {"srv_1a2b3c__erase"}; }));
  }
  CHECK(f.called() == lines{"lookup"});
  CHECK(std::get<record::run_ended>(f.added().back()).reason == stop_reason::final);
}

TEST_CASE("G24: what a profile allowed, or a request asked for, is that tool, and not the one that has its name now") {
  next_process f;
  f.list({{"erase", "srv__read"}, {"read", "srv__get"}});
  f.model->script = {calls({call("a", "srv__read"), call("b", "srv__get")}), says("done")};
  SUBCASE("allowed") {
    f.resume(left_thinking_under({"srv"}, [](record::run_started& r) { r.tools.allow = {"srv__read"}; }));
  }
  SUBCASE("asked for") {
    f.resume(left_thinking_under({"srv"}, [](record::run_started& r) { r.tools.only = {"srv__read"}; }));
  }
  SUBCASE("asked for by the profile's name") {
    f.model->script = {calls({call("a", "srv__read"), call("b", "first")}), says("done")};
    f.resume(left_thinking_under({"srv"}, [](record::run_started& r) {
      r.tools.only = {"first"};
      r.tools.rename = {{"srv__read", "first"}};
    }));
  }
  CHECK(f.called() == lines{"read"});
}

TEST_CASE("G24: a plain name that another server may have had then allows nothing, where nobody noted whose it was") {
  next_process f;
  f.list({{"read", "read"}});
  f.model->script = {calls({call("a", "read")}), says("done")};
  const auto allow = [](record::run_started& r) { r.tools.allow = {"read"}; };
  SUBCASE("nobody") {
    f.resume(left_thinking_under({"srv", true}, allow));
    CHECK(f.called().empty());
  }
  SUBCASE("it had the prefixed one") {
    f.resume(left_thinking_under({"srv", true, {}, {{"read", "srv__read"}}}, allow));
    CHECK(f.called().empty());
  }
  SUBCASE("it was this one's") {
    f.resume(left_thinking_under({"srv", true, {}, {{"read", "read"}}}, allow));
    CHECK(f.called() == lines{"read"});
  }
}

TEST_CASE("G24 G38: rules hold for the tool that they were about, though one that clashed with it has come or gone") {
  const auto hashed = mcp::catalogs::prefixed_names("srv", std::array<std::string_view, 2>{"a.b", "a_b"}, {}).names[0];
  REQUIRE(hashed.starts_with("srv__a_b_"));
  next_process f;
  f.model->script = {calls({call("a", "srv__a_b"), call("b", hashed)}), says("done")};
  const auto with = [](std::string deny, std::string allow) {
    return [deny, allow](record::run_started& r) {
      if (!deny.empty()) r.tools.deny = {deny};
      if (!allow.empty()) r.tools.allow = {allow};
    };
  };
  SUBCASE("denied beside the other, which has gone") {
    f.list({{"a.b", "srv__a_b"}});
    f.resume(left_thinking_under({"srv", false, {}, {{"a.b", hashed}}}, with(hashed, "")));
  }
  SUBCASE("denied alone, and the other has come") {
    f.list({{"a.b", hashed}});
    f.resume(left_thinking_under({"srv", false, {}, {{"a.b", "srv__a_b"}}}, with("srv__a_b", "")));
  }
  SUBCASE("the other was allowed and has gone") {
    f.list({{"a.b", "srv__a_b"}});
    f.resume(left_thinking_under({"srv", false, {}, {{"a.b", hashed}}}, with("", "srv__a_b")));
  }
  CHECK(f.called().empty());
}

TEST_CASE("G24: where nothing is configured otherwise, a run keeps tools whose names nobody noted when it began") {
  next_process f;
  f.model->script = {calls({call("a", "srv__a_b"), call("b", "read")}), says("done")};
  f.list({{"a.b", "srv__a_b"}, {"read", "read"}});
  const auto resume = [&](bool plain, const char* allow) {
    const std::vector<server_terms> terms{{"srv", {}, {}, {}, {"srv", plain}}};
    f.hold = [terms](run_request& r) {
      kept_terms kept = *r.tools.beside;
      kept.servers_now = std::make_shared<const std::vector<server_terms>>(terms);
      r.tools.beside = std::make_shared<const kept_terms>(std::move(kept));
      return result<void>();
    };
    f.resume(left_thinking_under({"srv", plain}, [&](record::run_started& r) { r.tools.allow = {allow}; }));
  };
  SUBCASE("prefixed") {
    resume(false, "srv__*");
    CHECK(f.called() == lines{"a.b"});
  }
  SUBCASE("plain") {
    resume(true, "read");
    CHECK(f.called() == lines{"read"});
  }
}

TEST_CASE("G24: where an older mcpbx noted no naming, what was denied is denied by the usual names too") {
  next_process f;
  f.list({{"erase", "srv__wipe"}, {"lookup", "srv__lookup"}});
  f.model->script = {calls({call("a", "srv__wipe"), call("b", "srv__lookup")}), says("done")};
  const auto deny = [](record::run_started& r) { r.tools.deny = {"srv__erase"}; };
  SUBCASE("of servers that it noted") {
    f.resume(left_thinking_under({}, deny));
  }
  SUBCASE("of none") {
    auto records = left_thinking_under({}, deny);
    beginning(records).servers.reset();
    f.resume(std::move(records));
  }
  CHECK(f.called() == lines{"lookup"});
}

TEST_CASE("G24: a tool that a request did not ask for is not offered because the catalog has a name of the profile") {
  next_process f;
  f.list({{"read", "srv__get"}, {"x", "srv__x"}});
  f.model->script = {calls({call("a", "srv__get"), call("b", "srv__read")}), says("done")};
  f.resume(left_thinking_under({"srv"}, [](record::run_started& r) {
    r.tools.only = {"srv__read"};
    r.tools.rename = {{"srv__read", "srv__get"}, {"srv__x", "srv__read"}};
  }));
  CHECK(f.called() == lines{"x"});
}

TEST_CASE("G24: the names of tools that do not follow from their own are noted when a run begins") {
  fixture f;
  auto odd = std::make_shared<mcp::catalogs::catalog_entry>(*f.entry("a.b"));
  odd->name = "srv__a_b";
  odd->rules.other = "srv__a_b_123456";
  f.tools.catalog =
      std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{f.entry("lookup"), odd}, 3);
  f.model->script = {silent()};
  auto r = detached("long");
  r.tools.allow = {"*"};
  f.run(std::move(r));
  auto records = f.written();
  CHECK(beginning(records).servers->front().naming.named == std::map<std::string, std::string>{{"a.b", "srv__a_b"}});
}

TEST_CASE("G24 L19: a run that goes on asks about what its profile wanted a yes for, whatever the tool's name is now") {
  next_process f;
  f.list({{"pay", "srv__send"}});
  f.model->script = {calls({call("a", "srv__send")}), says("done")};
  f.resume(left_thinking_under({"srv"}, [](record::run_started& r) { r.approve = {"srv__pay"}; }));
  CHECK(f.called().empty());
  CHECK(name_of(f.added().back()) == "question");
}

}  // namespace runner_terms_test
