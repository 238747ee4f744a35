// Tests of the file of pins with lists of tools: first sight, changes, approval, and a file that cannot be trusted.
#include "daemon/guard/pins/pin_worker.hpp"

#include "test/daemon/guard/pins/pinned_tools.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::pins;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

using tools = std::vector<mcp::protocol::feature_item>;

struct pinned_world {
  temporary_directory dir;
  std::string file = dir / "state/pins.json";
  pin_worker worker{result<std::string>(file)};

  std::string text() const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(std::string_view text) const {
    std::filesystem::create_directories(dir / "state");
    std::ofstream(file, std::ios::binary) << text;
  }
  /// Returns the decision about a server that lists these tools.
  mcp::catalogs::definition_decision see(const pinned_server& s, tools listed) {
    pin_job job;
    job.now = "now";
    job.servers.push_back({.server = s, .tools = list_of(std::move(listed)), .judge = true});
    worker.work(job);
    return job.servers[0].decision;
  }
  struct approval {
    result<std::size_t> outcome = std::size_t{0};
    mcp::catalogs::definition_decision decision;
  };
  approval accept(const pinned_server& s, tools listed, pin_choice which, std::string sha256 = {}) {
    pin_job job;
    job.now = "later";
    job.servers.push_back({.server = s, .tools = list_of(std::move(listed)), .judge = true});
    job.accepts.push_back({.which = std::move(which), .sha256 = std::move(sha256), .then = {}});
    worker.work(job);
    return {job.accepts[0].outcome, job.servers[0].decision};
  }
  pin_report list(const pinned_server& s, mcp::protocol::feature_list listed, pin_choice which = {},
                  bool definitions = false) {
    pin_job job;
    job.servers.push_back({.server = s, .tools = std::move(listed)});
    job.lists.push_back({.which = std::move(which), .definitions = definitions, .then = {}});
    worker.work(job);
    return job.lists[0].report;
  }
};

std::set<std::string> withheld(const mcp::catalogs::definition_decision& d) {
  std::set<std::string> names;
  if (d.withheld)
    for (const auto& [name, why] : *d.withheld) names.insert(name);
  return names;
}

std::string states(const pin_report& r) {
  std::string out;
  for (const auto& row : r.rows)
    out += (out.empty() ? "" : " ") + row.tool + ":" + std::string(daemon::pins::to_string(row.state)) +
           (row.withheld ? "!" : "");
  return out;
}

const auto blocking = server_of("s", pin_mode::block), warning = server_of("s", pin_mode::warn);

}  // namespace

TEST_CASE("G37: first sight pins every tool and offers it, an empty list is no first sight") {
  pinned_world w;
  auto d = w.see(blocking, {});
  CHECK_FALSE(d.withheld);
  CHECK_FALSE(std::filesystem::exists(w.file));
  d = w.see(blocking, {tool_of("a"), tool_of("b")});
  CHECK_FALSE(d.withheld);
  CHECK(d.notice == "");
  const std::string text = w.text();
  CHECK(text.find("\"a\":{\"sha256\":") != std::string::npos);
  d = w.see(blocking, {tool_of("b"), tool_of("a")});
  CHECK_FALSE(d.withheld);
  CHECK(w.text() == text);
}

TEST_CASE("G37: a changed definition is withheld in mode block and offered with a notice in mode warn") {
  pinned_world w;
  w.see(blocking, {tool_of("a"), tool_of("b")});
  const std::string text = w.text();
  const auto blocked = w.see(blocking, {tool_of("a", "CHANGED"), tool_of("b")});
  CHECK(withheld(blocked) == std::set<std::string>{"a"});
  CHECK(blocked.withheld->at("a")->find("mcpbx pins accept") != std::string::npos);
  CHECK(blocked.notice.find("not offered") != std::string::npos);
  const auto warned = w.see(warning, {tool_of("a", "CHANGED"), tool_of("b")});
  CHECK_FALSE(warned.withheld);
  CHECK(warned.notice.find("1 definition is not as pinned (a)") != std::string::npos);
  CHECK(w.text() == text);
  // Back to what was pinned, nothing is wrong with it.
  CHECK(w.see(blocking, {tool_of("a"), tool_of("b")}).notice == "");
}

TEST_CASE("G37: a new tool and a renamed one wait for approval, and one that is gone keeps its pin") {
  pinned_world w;
  w.see(blocking, {tool_of("a"), tool_of("b")});
  CHECK(withheld(w.see(blocking, {tool_of("a"), tool_of("renamed")})) == std::set<std::string>{"renamed"});
  CHECK(w.see(warning, {tool_of("a"), tool_of("renamed")}).notice.find("1 tool is new (renamed)") != std::string::npos);
  // b comes back, changed: it was pinned.
  CHECK(withheld(w.see(blocking, {tool_of("a"), tool_of("b", "CHANGED")})) == std::set<std::string>{"b"});
}

TEST_CASE("G37: another command behind the same name withholds every tool") {
  pinned_world w;
  w.see(blocking, {tool_of("a"), tool_of("b")});
  const auto d = w.see(server_of("s", pin_mode::block, "swapped"), {tool_of("a"), tool_of("b")});
  CHECK(withheld(d) == std::set<std::string>{"a", "b"});
  CHECK(d.notice.find("command, arguments, environment or address") != std::string::npos);
}

TEST_CASE("G37: a corrupt file blocks everything in mode block, is never written over, and says what to do") {
  for (const std::string_view text : {"", "{", "{\"version\":1,\"servers\":{\"s\":{\"a\":{}}}}", "{\"version\":9}"}) {
    CAPTURE(text);
    pinned_world w;
    w.write(text);
    const auto blocked = w.see(blocking, {tool_of("a"), tool_of("b")});
    CHECK(withheld(blocked) == std::set<std::string>{"a", "b"});
    CHECK(blocked.withheld->at("a")->find(w.file) != std::string::npos);
    CHECK(blocked.withheld->at("a")->find("delete it") != std::string::npos);
    CHECK(blocked.notice.find("its tools are not offered") != std::string::npos);
    const auto warned = w.see(warning, {tool_of("a")});
    CHECK_FALSE(warned.withheld);
    CHECK(warned.notice.find("not watched") != std::string::npos);
    CHECK_FALSE(w.accept(blocking, {tool_of("a")}, {"s", ""}).outcome);
    CHECK(w.list(blocking, list_of({tool_of("a")})).problem.find(w.file) != std::string::npos);
    CHECK(w.text() == text);
    // Mended, it is looked at again.
    std::filesystem::remove(w.file);
    const auto mended = w.accept(blocking, {tool_of("a")}, {"s", ""});
    CHECK(mended.outcome.value() == 1);
    CHECK_FALSE(mended.decision.withheld);
  }
}

TEST_CASE("G37: what cannot be pinned is not offered in mode block, and what cannot be approved is not approved") {
  pinned_world w;
  std::filesystem::create_directories(w.file + ".new/in the way");
  const auto blocked = w.see(blocking, {tool_of("a")});
  CHECK(withheld(blocked) == std::set<std::string>{"a"});
  CHECK(blocked.withheld->at("a")->find("could not be pinned") != std::string::npos);
  const auto warned = w.see(warning, {tool_of("a")});
  CHECK_FALSE(warned.withheld);
  CHECK(warned.notice.find("could not be pinned") != std::string::npos);
  std::filesystem::remove_all(w.file + ".new");
  CHECK_FALSE(w.see(blocking, {tool_of("a")}).withheld);

  std::filesystem::create_directories(w.file + ".new/in the way");
  const auto approval = w.accept(blocking, {tool_of("a", "CHANGED")}, {"s", ""});
  CHECK_FALSE(approval.outcome);
  CHECK(withheld(approval.decision) == std::set<std::string>{"a"});
  std::filesystem::remove_all(w.file + ".new");
  CHECK(withheld(w.see(blocking, {tool_of("a", "CHANGED")})) == std::set<std::string>{"a"});
}

TEST_CASE("G37: where there is no place for the file nothing is trusted either") {
  pin_worker worker(fail(errc::config, "set HOME"));
  pin_job job;
  job.servers.push_back({.server = blocking, .tools = list_of({tool_of("a")}), .judge = true});
  worker.work(job);
  CHECK(withheld(job.servers[0].decision) == std::set<std::string>{"a"});
  CHECK(job.servers[0].decision.withheld->at("a")->find("set HOME") != std::string::npos);
}

TEST_CASE("G37: approving a server or a tool offers it from then on") {
  pinned_world w;
  w.see(blocking, {tool_of("a"), tool_of("b")});
  const tools now{tool_of("a", "CHANGED"), tool_of("new"), tool_of("b", "CHANGED")};
  auto one = w.accept(blocking, now, {"s", "a"});
  CHECK(one.outcome.value() == 1);
  CHECK(withheld(one.decision) == std::set<std::string>{"b", "new"});
  auto all = w.accept(blocking, now, {"s", ""});
  CHECK(all.outcome.value() == 2);
  CHECK_FALSE(all.decision.withheld);
  CHECK(all.decision.notice == "");
  CHECK(w.accept(blocking, now, {"s", ""}).outcome.value() == 0);
  CHECK(withheld(w.see(blocking, {tool_of("a", "CHANGED")})).empty());
  CHECK(withheld(w.see(blocking, {tool_of("a", "once more")})) == std::set<std::string>{"a"});
}

TEST_CASE("G37: an approval can be bound to the definition that was looked at") {
  pinned_world w;
  w.see(blocking, {tool_of("a")});
  const auto report = w.list(blocking, list_of({tool_of("a", "CHANGED")}), {"s", "a"}, true);
  REQUIRE(report.rows.size() == 1);
  const auto& row = report.rows[0];
  CHECK(member_text(row.pinned, "description") == "does it");
  CHECK(member_text(row.listed, "description") == "CHANGED");
  CHECK(row.sha256 != row.pinned_sha256);
  const auto raced = w.accept(blocking, {tool_of("a", "CHANGED AGAIN")}, {"s", "a"}, row.sha256);
  REQUIRE_FALSE(raced.outcome);
  CHECK(raced.outcome.error().message.find("another one by now") != std::string::npos);
  CHECK(withheld(raced.decision) == std::set<std::string>{"a"});
  CHECK(w.accept(blocking, {tool_of("a", "CHANGED")}, {"s", "a"}, row.sha256).outcome.value() == 1);
}

TEST_CASE("G37: an approval of a whole server is bound to all that was shown of it") {
  pinned_world w;
  w.see(blocking, {tool_of("a"), tool_of("b")});
  const tools now{tool_of("a", "CHANGED"), tool_of("c")};
  const auto shown = w.list(blocking, list_of(now), {"s", ""}, true).sha256;
  for (const auto& other : {tools{tool_of("a", "CHANGED")}, tools{tool_of("a", "CHANGED"), tool_of("c"), tool_of("d")},
                            tools{tool_of("a", "CHANGED AGAIN"), tool_of("c")},
                            tools{tool_of("a", "CHANGED"), tool_of("c"), tool_of("b")}}) {
    const auto raced = w.accept(blocking, other, {"s", ""}, shown);
    REQUIRE_FALSE(raced.outcome);
    CHECK(raced.outcome.error().code == errc::invalid_argument);
  }
  CHECK(w.list(blocking, list_of({tool_of("c"), tool_of("a", "CHANGED")}), {"s", ""}).sha256 == shown);
  CHECK(w.accept(blocking, now, {"s", ""}, shown).outcome.value() == 3);
}

TEST_CASE("G37: pins of an older version are taken over when their server lists the same tools, and kept") {
  pinned_world w;
  const auto a = tool_of("a");
  w.write(R"({"version":1,"servers":{"s":{"a":{"sha256":")" +
          pin_hash(first_pinned_part(a.definition), blocking.origin) + R"(","pinnedAt":"then"}}}})");
  CHECK_FALSE(w.see(blocking, {a}).withheld);
  CHECK(w.text().find(R"("version":2)") != std::string::npos);
  CHECK(w.text().find(R"("pinnedAt":"then","whole":true)") != std::string::npos);
  auto titled = a;
  titled.definition = raw_json::own(R"({"_meta":{"x":1},)" + std::string(a.definition.text().substr(1)));
  CHECK(withheld(w.see(blocking, {titled})) == std::set<std::string>{"a"});
}

TEST_CASE("G38: a plain name stays with the server that had it first, also without pins and when it is not up") {
  pinned_world w;
  const auto plain = [](std::string name, pin_mode mode) {
    auto s = server_of(std::move(name), mode);
    s.plain_name = [](std::string_view tool) { return std::string(tool); };
    return s;
  };
  const auto prefixed = [](const mcp::catalogs::definition_decision& d) {
    return d.prefixed ? std::set<std::string>(d.prefixed->begin(), d.prefixed->end()) : std::set<std::string>();
  };
  const auto b = plain("b", pin_mode::off), thief = plain("a", pin_mode::off);
  CHECK(prefixed(w.see(b, {tool_of("read")})).empty());
  pin_job job;
  job.servers.push_back({.server = thief, .tools = list_of({tool_of("read"), tool_of("x")}), .judge = true});
  job.servers.push_back({.server = b, .tools = nullptr});
  w.worker.work(job);
  CHECK(prefixed(job.servers[0].decision) == std::set<std::string>{"read"});
  CHECK_FALSE(job.servers[0].decision.withheld);
  CHECK(w.text().find(R"("read":[{"server":"b","tool":"read"}])") != std::string::npos);
  CHECK(w.text().find(R"("x":[{"server":"a","tool":"x"}])") != std::string::npos);
  // A book that cannot be read gives nobody a plain name, and so does one that cannot be written.
  const std::string good = w.text();
  w.write(good.substr(0, good.size() / 2));
  const auto unknown = w.see(b, {tool_of("read")});
  CHECK(prefixed(unknown) == std::set<std::string>{"read"});
  CHECK(unknown.notice.find("plain names") != std::string::npos);
  w.write(good);
  const auto lock = w.file + ".lock";
  std::filesystem::remove(lock);
  std::filesystem::create_directory(lock);  // no lock can be taken
  CHECK(prefixed(w.see(b, {tool_of("read"), tool_of("new")})) == std::set<std::string>{"new"});
}

TEST_CASE("G38: before all servers have settled, a plain name without an owner is lent by the file's order") {
  pinned_world w;
  const auto plain = [](std::string name) {
    auto s = server_of(std::move(name), pin_mode::off);
    s.plain_name = [](std::string_view tool) { return std::string(tool); };
    return s;
  };
  const auto job_of = [&](bool settled, mcp::protocol::feature_list of_a) {
    pin_job job;
    job.settled = settled;
    job.servers.push_back({.server = plain("a"), .tools = of_a, .judge = of_a != nullptr});
    job.servers.push_back({.server = plain("b"), .tools = list_of({tool_of("read")}), .judge = true});
    w.worker.work(job);
    return std::pair(job.servers[0].decision.prefixed != nullptr, job.servers[1].decision.prefixed != nullptr);
  };
  CHECK(job_of(false, nullptr) == std::pair(false, false));
  CHECK_FALSE(std::filesystem::exists(w.file));
  CHECK(job_of(false, list_of({tool_of("read")})) == std::pair(false, true));
  CHECK(job_of(true, nullptr) == std::pair(false, false));
  CHECK(job_of(true, list_of({tool_of("read")})) == std::pair(true, false));
}

TEST_CASE("G37: what cannot be approved is told in a sentence") {
  pinned_world w;
  w.see(blocking, {tool_of("a")});
  CHECK(w.accept(blocking, {tool_of("a")}, {"t", ""}).outcome.error().code == errc::not_found);
  CHECK(w.accept(blocking, {tool_of("a")}, {"s", "b"}).outcome.error().code == errc::not_found);
  CHECK(w.accept(blocking, {tool_of("a")}, {"s", ""}, std::string(64, 'a')).outcome.error().code ==
        errc::invalid_argument);
  CHECK(w.accept(server_of("s", pin_mode::off), {tool_of("a")}, {"s", ""}).outcome.error().message.find("\"off\"") !=
        std::string::npos);
  pin_job silent;
  silent.servers.push_back({.server = blocking, .tools = nullptr});
  silent.accepts.push_back({.which = {"s", ""}, .sha256 = {}, .then = {}});
  w.worker.work(silent);
  CHECK(silent.accepts[0].outcome.error().message.find("has not listed its tools") != std::string::npos);
}

TEST_CASE("G37: the list tells the state of every pin, also of servers that are silent or not configured any more") {
  pinned_world w;
  w.see(blocking, {tool_of("a"), tool_of("b"), tool_of("c")});
  w.see(server_of("old", pin_mode::warn), {tool_of("x")});
  CHECK(states(w.list(blocking, list_of({tool_of("c"), tool_of("a", "CHANGED"), tool_of("d")}))) ==
        "c:ok a:changed! d:new! b:gone x:gone");
  CHECK(states(w.list(blocking, nullptr, {"s", ""})) == "a:unseen b:unseen c:unseen");
  CHECK(states(w.list(warning, list_of({tool_of("a", "CHANGED")}), {"s", "a"})) == "a:changed");
  CHECK(w.accept(blocking, {tool_of("a")}, {"old", "x"}).outcome.value() == 1);
  CHECK(states(w.list(blocking, nullptr, {"old", ""})) == "");
}

TEST_CASE("G37: two daemons with one file keep each other's pins") {
  pinned_world w;
  pin_worker other{result<std::string>(w.file)};
  w.see(blocking, {tool_of("a")});
  pin_job job;
  job.servers.push_back({.server = server_of("t", pin_mode::block), .tools = list_of({tool_of("b")}), .judge = true});
  other.work(job);
  w.see(server_of("u", pin_mode::block), {tool_of("c")});
  CHECK(states(w.list(blocking, list_of({tool_of("a")}))) == "a:ok b:gone c:gone");
}
