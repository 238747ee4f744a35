// The configured models as rows, and what endpoints that the test plays offer.
#include "daemon/app/models/model_lists.hpp"

#include "mcp/redact/secret.hpp"
#include "providers/wire/registry/registry.hpp"
#include "test/daemon/app/loaded.hpp"
#include "test/fixtures/model/http_peer.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/captured_output.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::daemon::front;
using namespace mcpbx::daemon::models;
using namespace mcpbx::daemon::references;
using namespace mcpbx::redact;
using mcpbx::daemon::test::loaded;
using mcpbx::test::contains;
using mcpbx::test::http_listener;
using mcpbx::test::http_peer;

namespace {

struct lists_fixture {
  explicit lists_fixture(const std::string& text) { replace(text); }
  void replace(const std::string& text) {
    models = std::make_shared<model_set>(
        std::make_shared<const configuration_snapshot>(loaded(text)),
        model_surroundings{loop.context.get_executor(), *loop.client, loop.real, random, keys});
  }
  std::vector<model_row> rows(bool remote, const std::string& name = "") {
    std::optional<result<std::vector<model_row>>> got;
    lists.list(name, remote, [&](result<std::vector<model_row>> r) { got = std::move(r); });
    REQUIRE(loop.until([&] { return got.has_value(); }));
    REQUIRE(*got);
    return **got;
  }
  mcpbx::test::http_loop loop;
  system_random random;
  keyed_lanes keys{loop.context.get_executor(), "keys"};
  std::shared_ptr<model_set> models;
  model_lists lists{[this] { return models; }, loop.context.get_executor(), *loop.client, loop.real};
};

}  // namespace

TEST_CASE("the configuration and the table of APIs know the same APIs in the same order") {
  std::vector<std::string_view> described;
  for (const auto* api : providers::registry::all_apis()) described.push_back(api->name);
  CHECK(described ==
        std::vector<std::string_view>(conf::model::endpoint_apis.begin(), conf::model::endpoint_apis.end()));
}

TEST_CASE("model_lists: each entry with its API, id and address, the default, the fallback, and what is wrong") {
  lists_fixture f(R"({"models": {
    "gpt": {"api": "openai-chat", "model": "gpt-x", "fallbackModel": "local/small"},
    "local": {"api": "openai-chat", "model": "m", "baseUrl": "http://127.0.0.1:1/v1?key=canary"},
    "unset": {"api": "openai-chat", "model": "${env:MCPBX_TEST_A}"}}, "defaultModel": "gpt/other"})");
  const mcpbx::test::changed_variable unset("MCPBX_TEST_A", nullptr);
  const auto rows = f.rows(false);
  REQUIRE(rows.size() == 4);  // with demo
  CHECK(rows[0].name == "gpt");
  CHECK(rows[0].api == "openai-chat");
  CHECK(rows[0].model == "gpt-x");
  CHECK(rows[0].endpoint == "https://api.openai.com/v1");
  CHECK(rows[0].fallback == "local/small");
  CHECK(rows[0].is_default);
  CHECK(rows[0].problem.empty());
  CHECK_FALSE(rows[1].is_default);
  CHECK(rows[1].endpoint == "http://127.0.0.1:1/v1");
  CHECK(contains(rows[2].problem, "MCPBX_TEST_A"));
  CHECK(rows[3].name == "demo");
  CHECK(rows[3].endpoint.empty());
  CHECK(f.rows(false, "local").size() == 1);
  f.lists.list("locla", true, [](result<std::vector<model_row>> r) {
    REQUIRE_FALSE(r);
    CHECK(r.error().code == errc::not_found);
    CHECK(contains(r.error().message, "did you mean \"local\"?"));
  });
}

TEST_CASE("G35: of what files and programs give the rows show nothing, and an entry without its value says so") {
  const mcpbx::test::temporary_directory folder;
  folder.write("url", "https://h.example/v1?key=canary-1");
  folder.write("id", "canary-2");
  const auto at = [&](const std::string& name) { return "\"${file:" + folder / name + "}\""; };
  lists_fixture f(R"({"models": {"a": {"api": "openai-chat", "model": )" + at("id") + R"(, "baseUrl": )" + at("url") +
                  R"(}, "b": {"api": "openai-chat", "model": "m", "baseUrl": )" + at("none") + "}}}");
  const auto rows = f.rows(false);
  CHECK(rows[0].model == "***");
  CHECK(rows[0].endpoint == "***");
  CHECK(rows[0].problem == "");
  CHECK(rows[1].model == "m");
  CHECK(rows[1].problem.starts_with("in \"models.b.baseUrl\": ${file:"));
  redactor::clear();
}

TEST_CASE("model_lists: a missing key or header is told without a request, and no program is run for it") {
  const mcpbx::test::temporary_directory folder;
  const mcpbx::test::changed_variable unset("MCPBX_TEST_A", nullptr), set("MCPBX_TEST_B", "x");
  const auto entry = [](const std::string& name, const std::string& members) {
    return "\"" + name + R"(": {"api": "openai-chat", "model": "m", "baseUrl": "http://127.0.0.1:1/v1", )" + members +
           "}";
  };
  lists_fixture f(R"({"models": {)" + entry("unset", R"("apiKey": "${env:MCPBX_TEST_A}")") + "," +
                  entry("set", R"("apiKey": "${env:MCPBX_TEST_B}")") + "," +
                  entry("file", R"("apiKey": "${file:)" + folder / "none" + "}\"") + "," +
                  entry("header", R"("headers": {"X-Team": "${env:MCPBX_TEST_A}"})") + "," +
                  entry("program", R"("apiKey": "${cmd:touch )" + folder / "ran" + "}\"") + "}}");
  const auto rows = f.rows(false);
  REQUIRE(rows.size() == 6);
  CHECK_MESSAGE(
      rows[0].problem.starts_with("in \"models.unset.apiKey\": the environment variable MCPBX_TEST_A is not set"),
      rows[0].problem);
  CHECK(rows[1].problem == "");
  CHECK_MESSAGE(contains(rows[2].problem, folder / "none"), rows[2].problem);
  CHECK_MESSAGE(rows[3].problem.starts_with("in \"models.header.headers.X-Team\": "), rows[3].problem);
  CHECK(rows[4].problem == "");
  CHECK_FALSE(std::filesystem::exists(folder / "ran"));
  redactor::clear();
}

TEST_CASE("model_lists: a key that is not read in time ends the list at its limit") {
  const mcpbx::test::temporary_directory folder;
  lists_fixture f(R"({"models": {"a": {"api": "openai-chat", "model": "m", "baseUrl": "http://127.0.0.1:1/v1",
    "apiKey": "${file:)" +
                  folder.write("key", "secret") + R"(}"}}})");
  mcpbx::test::manual_time time;
  model_lists lists([&] { return f.models; }, f.loop.context.get_executor(), *f.loop.client, time);
  std::optional<result<std::vector<model_row>>> got;
  lists.list("", false, [&](result<std::vector<model_row>> r) { got = std::move(r); });
  // The text of the file comes through the event loop, which does not run yet.
  time.advance(milliseconds(30'000));
  REQUIRE(f.loop.until([&] { return got.has_value(); }));
  REQUIRE(*got);
  CHECK((**got)[0].problem == "its key or a header could not be read within 30 s");
  redactor::clear();
}

TEST_CASE(
    "model_lists: every endpoint is asked, side by side, with the headers of its entry, and each tells for itself") {
  const http_listener server(0, [](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) {
      const std::string body =
          R"({"data":[{"id":")" + q.header("authorization") + "|" + q.header("x-title") + R"("}]})";
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    }
  });
  const auto url = "http://127.0.0.1:" + std::to_string(server.port()) + "/v1";
  lists_fixture f(R"({"models": {
    "a": {"api": "openai-chat", "model": "m", "baseUrl": ")" +
                  url + R"(", "apiKey": "key-of-a", "headers": {"X-Title": "t"}},
    "b": {"api": "openai-chat", "model": "m", "baseUrl": ")" +
                  url + R"(", "apiKey": "not used", "headers": {"authorization": "Token b"}},
    "keyless": {"api": "openai-chat", "model": "m", "baseUrl": ")" +
                  url + R"(", "apiKey": "${env:MCPBX_TEST_A}"},
    "gone": {"api": "openai-chat", "model": "m", "baseUrl": "http://127.0.0.1:1/v1"}}})");
  const mcpbx::test::changed_variable unset("MCPBX_TEST_A", nullptr);
  const auto rows = f.rows(true);
  REQUIRE(rows.size() == 5);
  REQUIRE(rows[0].offered.size() == 1);
  CHECK(rows[0].offered[0].id == "Bearer key-of-a|t");
  REQUIRE(rows[1].offered.size() == 1);
  CHECK(rows[1].offered[0].id == "Token b|");
  CHECK(contains(rows[2].offered_problem, "MCPBX_TEST_A"));
  CHECK(contains(rows[3].offered_problem, "127.0.0.1:1"));
  CHECK(contains(rows[4].offered_problem, "no endpoint"));
  redactor::clear();
}

TEST_CASE("model_lists: a list that is being made keeps the configuration that it was asked under") {
  const auto at_nobody = [](const std::string& name) {
    return R"({"models": {")" + name +
           R"(": {"api": "openai-chat", "model": "m", "baseUrl": "http://127.0.0.1:1/v1"}}})";
  };
  lists_fixture f(at_nobody("old"));
  std::vector<model_row> under_way;
  f.lists.list("", true, [&](result<std::vector<model_row>> r) { under_way = std::move(r.value()); });
  f.replace(at_nobody("new"));
  REQUIRE(f.loop.until([&] { return !under_way.empty(); }));
  CHECK(under_way[0].name == "old");
  CHECK(contains(under_way[0].offered_problem, "127.0.0.1:1"));
  CHECK(f.rows(false)[0].name == "new");
}

TEST_CASE("model_lists: so many lists at a time, no more") {
  const http_listener silent(0, [](http_peer& peer, std::uint64_t) { peer.wait_closed(); });
  lists_fixture f(R"({"models": {"a": {"api": "openai-chat", "model": "m", "baseUrl": "http://127.0.0.1:)" +
                  std::to_string(silent.port()) + R"("}}})");
  for (std::size_t i = 0; i < model_lists::max_open; ++i)
    f.lists.list("a", true, [](const result<std::vector<model_row>>&) { CHECK(false); });
  bool refused = false;
  f.lists.list("a", true,
               [&](const result<std::vector<model_row>>& r) { refused = !r && r.error().code == errc::limit; });
  CHECK(refused);
}

TEST_CASE("F8: how many tools a form has room for is what the meant model's entry says where it speaks that API") {
  lists_fixture f(R"({"models": {"gpt": {"api": "openai-chat", "model": "x", "maxTools": 40},
    "claude": {"api": "anthropic", "model": "x", "maxTools": 20},
    "dial": {"api": "dial", "model": "x", "baseUrl": "https://d.example", "maxTools": 30}}, "defaultModel": "gpt",
    "profiles": {"work": {"model": "claude"}, "far": {"model": "dial"}}})");
  CHECK(f.lists.max_tools("", "openai-chat") == 40);
  CHECK(f.lists.max_tools("", "openai-responses") == 128);
  CHECK(f.lists.max_tools("", "anthropic") == 0);
  CHECK(f.lists.max_tools("", "") == 40);
  CHECK(f.lists.max_tools("profile:work", "anthropic") == 20);
  CHECK(f.lists.max_tools("profile:work", "openai-chat") == 128);
  CHECK(f.lists.max_tools("profile:far", "openai-chat") == 30);
  CHECK(f.lists.max_tools("profile:far", "dial") == 30);
}
