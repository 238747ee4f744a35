// Pinned tool definitions, from the server to every door (G37).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace mcpbx::e2e;

namespace {

/// A server whose descriptions change after the first list.
config rug_pull(std::string_view pin) {
  return config().server("s", {"--behave", "list-rug-pull", "--only", "echo,add"},
                         R"("pin":")" + std::string(pin) + "\"");
}

std::string pins_file(const world& w) {
  return w.file(".local/state/mcpbx/pins.json");
}

/// Waits until the changed list has been looked at.
void wait_changed(caller& c) {
  REQUIRE(eventually([&] { return contains(text_at(c.server("s"), "pins"), "as pinned"); }));
}

}  // namespace

TEST_CASE("G37: in mode block a changed definition reaches no caller and no model until it is approved") {
  model_process model;
  daemon_under_test d(
      rug_pull("block").server("other", {"--only", "fail"}).model("m", model.entry()).top("defaultModel", "\"m\""));
  d.wait_ready({"s", "other"});
  caller c = d.session();
  wait_changed(c);
  CHECK(text_at(c.server("s"), "withheldTools") == "2");
  CHECK(c.tool_names() == std::vector<std::string>{"other__fail"});
  for (const std::string_view params : {"{}", R"({"format":"openai"})", R"({"pattern":"*"})"})
    CHECK_FALSE(contains(c.request("mcpbx/tools", params).line, "CHANGED"));
  const auto refused = c.call("s__echo", R"({"text":"x"})");
  CHECK(refused.failed());
  CHECK(contains(refused.message(), "is not offered"));
  CHECK(contains(refused.message(), "mcpbx pins accept"));
  CHECK(text_at(refused.value, "error.data.server") == "s");
  // A model that calls it all the same gets no further.
  const auto ask = run_cli(d, {"--json", "ask", "-m", R"(m/rounds-1 s__echo {"text":"reached"})", "question"});
  CHECK(contains(ask.out, R"("isError":true)"));
  CHECK(model.count("request") == 2);
  CHECK_FALSE(contains(model.log() + ask.out, "CHANGED"));

  const auto servers = run_cli(d, {"servers"});
  CHECK(contains(servers.out, "2 definitions are not as pinned (echo, add)"));
  const auto listed = run_cli(d, {"pins"});
  CHECK(listed.status == 0);
  CHECK(contains(listed.out, "changed, not offered"));
  CHECK_FALSE(contains(listed.out, "other"));
  CHECK_MESSAGE(contains(listed.err, "1 tool is as pinned or gone (`mcpbx pins --all`)"), listed.err);
  const auto all = run_cli(d, {"pins", "--all"}).out;
  CHECK_MESSAGE(all.find("  changed") < all.find("other "), all);
  CHECK(contains(all, "  ok  "));
  const auto shown = run_cli(d, {"pins", "show", "s__echo"});
  CHECK(shown.status == 0);
  CHECK(contains(shown.out, "+ CHANGED"));
  CHECK(contains(shown.out, "\n  - "));
  CHECK_FALSE(contains(shown.out, "s__add"));

  const auto one = run_cli(d, {"pins", "accept", "s__echo"});
  CHECK_MESSAGE(one.status == 0, one.err);
  CHECK(contains(one.err, "approved 1 tool"));
  CHECK(c.tool_names() == std::vector<std::string>{"s__echo", "other__fail"});
  CHECK(c.call("s__echo", R"({"text":"x"})").text() == "x");
  CHECK(contains(c.request("tools/list").line, "CHANGED"));
  CHECK(c.call("s__add", "{}").failed());
  CHECK(run_cli(d, {"pins", "accept", "s"}).status == 0);
  CHECK(c.tool_names().size() == 3);
  CHECK(contains(run_cli(d, {"pins", "accept", "s"}).err, "as pinned already"));
  CHECK(run_cli(d, {"pins", "accept", "nobody"}).status == 5);
  CHECK(run_cli(d, {"pins", "show", "nobody"}).status == 5);
}

TEST_CASE("G37: an approval is of what was shown, by its hash or on the same connection") {
  daemon_under_test d(rug_pull("block"));
  d.wait_ready({"s"});
  caller c = d.session();
  wait_changed(c);
  CHECK(contains(c.request("mcpbx/pins/accept", R"({"name":"s"})").message(), "was not shown on this connection"));
  const auto report = c.request("mcpbx/pins/list", R"({"name":"s","definitions":true})");
  const auto hash = text_at(report.value, "result.sha256");
  CHECK(hash.size() == 64);
  CHECK(c.request("mcpbx/pins/accept", R"({"name":"s","sha256":")" + std::string(64, 'a') + "\"}").failed());
  CHECK(c.tool_names().empty());
  const auto shown = run_cli(d, {"pins", "show", "s"});
  CHECK(contains(shown.err, "mcpbx pins accept s --sha256 " + hash));
  CHECK(run_cli(d, {"pins", "accept", "s", "--sha256", hash}).status == 0);
  CHECK(c.tool_names().size() == 2);
}

TEST_CASE("G37: accepting shows what is approved") {
  daemon_under_test d(rug_pull("block"));
  d.wait_ready({"s"});
  caller c = d.session();
  wait_changed(c);
  const auto done = run_cli(d, {"pins", "accept", "s"});
  CHECK(done.status == 0);
  CHECK(contains(done.out, "\"s__echo\": changed, not offered (pin: block)"));
  CHECK(contains(done.out, "  + CHANGED"));
  CHECK(contains(done.err, "approved 2 tools"));
}

TEST_CASE("G37: in mode warn, the default of programs, it is offered, logged once and shown") {
  daemon_under_test d(
      config().server("s", {"--behave", "list-rug-pull", "--only", "echo"}).server("quiet", {"--only", "echo"}));
  d.wait_ready({"s", "quiet"});
  caller c = d.session();
  wait_changed(c);
  CHECK(c.tool_names().size() == 2);
  CHECK(contains(c.request("tools/list").line, "CHANGED"));
  CHECK(c.call("s__echo", R"({"text":"x"})").text() == "x");
  CHECK(text_at(c.server("s"), "withheldTools") == "0");
  CHECK(text_at(c.server("quiet"), "pins") == "");
  CHECK(d.logs("1 definition is not as pinned (echo)"));
  CHECK(d.stop().status == 0);
  CHECK(count_of(d.log(), "1 definition is not as pinned (echo)") == 1);
}

TEST_CASE("G37: pins outlive the daemon: another command, other arguments and renamed tools wait for approval") {
  daemon_under_test d(config().server("s", {"--only", "echo,add"}, R"("pin":"block")"));
  d.wait_ready({"s"});
  CHECK(d.session().tool_names().size() == 2);
  const std::string before = read_file(pins_file(d));
  CHECK(contains(before, "\"echo\":{\"sha256\":"));
  CHECK((static_cast<unsigned>(std::filesystem::status(pins_file(d)).permissions()) & 0777U) == 0600U);
  d.stop();
  d.start();
  d.wait_ready({"s"});
  CHECK(d.session().tool_names().size() == 2);
  // The entry goes by the same name and starts something else.
  d.stop();
  d.write("config.json", config().server("s", {"--only", "echo,add", "--name", "other"}, R"("pin":"block")").str());
  d.start();
  d.wait_ready({"s"});
  CHECK(d.session().tool_names().empty());
  CHECK(contains(text_at(d.session().server("s"), "pins"), "its command, arguments, environment or address"));
  CHECK(contains(run_cli(d, {"pins", "show", "s"}).out, "the definition is the same"));
  CHECK(read_file(pins_file(d)) == before);
  REQUIRE(run_cli(d, {"pins", "accept", "s"}).status == 0);
  CHECK(d.session().tool_names().size() == 2);
}

TEST_CASE("G37: a tool that is new or renamed waits in mode block, and one that is gone is told") {
  daemon_under_test d(config().server("s", {"--only", "echo,change_tools"}, R"("pin":"block")"));
  d.wait_ready({"s"});
  caller c = d.session();
  CHECK(c.tool_names().size() == 2);
  CHECK_FALSE(c.call("s__change_tools").failed());
  REQUIRE(eventually([&] { return contains(text_at(c.server("s"), "pins"), "new (added_0001"); }));
  CHECK(c.tool_names().size() == 2);
  CHECK(contains(c.call("s__added_0001").message(), "it is new since"));
  REQUIRE(run_cli(d, {"pins", "accept", "s__added_0001"}).status == 0);
  CHECK(c.call("s__added_0001").text() == "added_0001");
  // Started again, the server has forgotten them.
  REQUIRE_FALSE(c.request("mcpbx/restart", R"({"server":"s"})").failed());
  REQUIRE(eventually([&] { return contains(run_cli(d, {"pins", "--all"}).out, "gone"); }));
}

TEST_CASE("G37: a corrupt file of pins blocks, is left as it is, and what to do is told") {
  daemon_under_test d(config().server("s", {"--only", "echo"}, R"("pin":"block")").server("w", {"--only", "echo"}));
  d.wait_ready({"s", "w"});
  CHECK(d.session().tool_names().size() == 2);
  d.stop();
  const std::string broken = read_file(pins_file(d)).substr(0, 100);
  std::ofstream(pins_file(d)) << broken;
  d.start();
  d.wait_ready({"s", "w"});
  caller c = d.session();
  CHECK(c.tool_names() == std::vector<std::string>{"w__echo"});
  const auto refused = c.call("s__echo", R"({"text":"x"})").message();
  CHECK(contains(refused, pins_file(d)));
  CHECK(contains(refused, "delete it"));
  const auto pins = run_cli(d, {"pins"});
  CHECK(pins.status == 1);
  CHECK(contains(pins.err, pins_file(d)));
  CHECK(run_cli(d, {"pins", "accept", "s"}).status == 1);
  CHECK(read_file(pins_file(d)) == broken);
  std::filesystem::remove(pins_file(d));
  REQUIRE(run_cli(d, {"pins", "accept", "s"}).status == 0);
  CHECK(c.tool_names().size() == 2);
  CHECK(c.call("s__echo", R"({"text":"x"})").text() == "x");
}

TEST_CASE("G37: with pinning off nothing is looked at and nothing is written") {
  daemon_under_test d(rug_pull("off"));
  d.wait_ready({"s"});
  caller c = d.session();
  REQUIRE(eventually([&] { return contains(c.request("tools/list").line, "CHANGED"); }));
  CHECK_FALSE(std::filesystem::exists(pins_file(d)));
  CHECK(text_at(c.server("s"), "pins") == "");
}

TEST_CASE("G37: ten thousand tools are pinned and compared") {
  daemon_under_test d(config().server("s", {"--tools", "10000", "--only", "echo"}, R"("pin":"block")"));
  d.wait_ready({"s"});
  const auto tools = d.session().tool_names().size();
  CHECK(tools >= 10'000);
  d.stop();
  d.start();
  d.wait_ready({"s"});
  caller c = d.session();
  REQUIRE(eventually([&] { return c.tool_names().size() == tools; }));
  CHECK(text_at(c.server("s"), "withheldTools") == "0");
}
