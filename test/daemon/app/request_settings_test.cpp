// One snapshot of the configuration for each request: a replaced configuration shows in the next request only.
#include "daemon/app/request_settings.hpp"

#include "daemon/policy/policy.hpp"
#include "mcp/async/system_time.hpp"
#include "mcp/server/base/param_reader.hpp"
#include "test/daemon/app/loaded.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::daemon::app;
using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::policy;
using namespace mcpbx::daemon::references;
using namespace mcpbx::daemon::run;
using namespace mcpbx::json;
using mcpbx::daemon::test::loaded;

namespace {

struct settings_fixture {
  static configuration_ptr read(const std::string& text) {
    return std::make_shared<const configuration_snapshot>(loaded(text));
  }
  explicit settings_fixture(const std::string& text) : current(read(text)) {}
  void replace(const std::string& text) { current.replace(read(text)); }
  /// A request of mcpbx/chat, and what is wrong with it.
  std::pair<run_request, std::string> ask(const std::string& params) {
    const auto json = raw_json::own(params);
    mcp::server::param_reader in(json);
    auto r = read_chat(in, *present.get()->chat);
    const auto read = in.finish();
    return {std::move(r), read ? "" : read.error().message};
  }

  boost::asio::io_context io;
  mcpbx::test::manual_time time;
  system_random random;
  keyed_lanes keys{io.get_executor(), "keys"};
  lane compute{"compute", 1};
  http::clients::client http{io.get_executor(), time, compute, {}};
  current_configuration current;
  present_settings present{current, {io.get_executor(), http, time, random, keys}};
};

mcp::catalogs::catalog_entry tool(std::string server, std::string name) {
  mcp::catalogs::catalog_entry e;
  e.server = std::move(server);
  e.tool = std::move(name);
  return e;
}

const char* const older = R"({
  "mcpServers": {"files": {"command": "x", "approve": ["write*"]}},
  "models": {"m": {"api": "openai-chat", "model": "old", "loop": {"maxRounds": 3}}}, "defaultModel": "m",
  "loop": {"max": {"maxCalls": 50}}, "profiles": {"reader": {"tools": {"deny": ["*write"]}}}})";
const char* const newer = R"({
  "mcpServers": {"files": {"command": "x"}, "git": {"command": "y", "approve": ["*"]}},
  "models": {"m": {"api": "openai-chat", "model": "new", "loop": {"maxRounds": 7}}}, "defaultModel": "m",
  "loop": {"max": {"maxCalls": 90}, "approveDestructive": true}})";

// As a tool server that calls by itself is judged.
bool needs_approval(const approval_rules& rules, const mcp::catalogs::catalog_entry& tool) {
  return !decide(direct_caller{rules, false}, facts_of(tool)).allows();
}

}  // namespace

TEST_CASE("request_settings: they are made once for each configuration") {
  settings_fixture f(older);
  const auto first = f.present.get();
  CHECK(f.present.get() == first);
  f.replace(older);
  CHECK(f.present.get() != first);
}

TEST_CASE("request_settings: the next request has the new values, and one that is under way keeps the old ones") {
  settings_fixture f(older);
  const auto [before, wrong] = f.ask(R"({"input": "q", "profile": "reader", "limits": {"maxCalls": 70}})");
  CHECK(wrong == "");
  const auto old_model = before.configured->models("");
  f.replace(newer);
  // The run is under way: its limits, model, approvals and notes about servers are from the old configuration.
  CHECK(before.limits.max_rounds == 3);
  CHECK(before.limits.max_calls == 50);
  CHECK(before.tools.deny == std::vector<std::string>{"*write"});
  REQUIRE(old_model);
  CHECK(before.configured->models("").value() == *old_model);
  CHECK((*old_model)->id() == "old");
  CHECK(needs_approval({.entries = before.configured->servers.configured()}, tool("files", "write_all")));
  CHECK_FALSE(needs_approval({.entries = before.configured->servers.configured()}, tool("git", "push")));
  CHECK(before.configured->servers.configured()->size() == 1);

  const auto [after, also_wrong] = f.ask(R"({"input": "q", "limits": {"maxCalls": 70}})");
  CHECK(also_wrong == "");
  CHECK(after.limits.max_rounds == 7);
  CHECK(after.limits.max_calls == 70);
  CHECK(after.configured->models("").value()->id() == "new");
  CHECK_FALSE(needs_approval({.entries = after.configured->servers.configured()}, tool("files", "write_all")));
  CHECK(needs_approval({.entries = after.configured->servers.configured()}, tool("git", "push")));
  CHECK(after.configured->servers.configured()->size() == 2);
  CHECK(f.ask(R"({"input": "q", "profile": "reader"})").second.find("no profile") != std::string::npos);
}

TEST_CASE("request_settings: a model that is in use outlives its configuration") {
  settings_fixture f(older);
  const auto model = f.present.get()->models->find("m").value();
  const std::weak_ptr<const request_settings> settings = f.present.get();
  f.replace(newer);
  (void)f.present.get();
  CHECK(settings.expired());
  CHECK(model->id() == "old");
}

TEST_CASE("request_settings: calls of tool servers need what their entry and the usual settings say") {
  settings_fixture f(older);
  CHECK(needs_approval(f.present.get()->direct_calls, tool("files", "write_all")));
  CHECK_FALSE(needs_approval(f.present.get()->direct_calls, tool("files", "read")));
  f.replace(newer);
  CHECK(needs_approval(f.present.get()->direct_calls, tool("files", "read")));  // it may destroy, for all that is known
  auto harmless = tool("files", "read");
  harmless.annotations.read_only = true;
  CHECK_FALSE(needs_approval(f.present.get()->direct_calls, harmless));
}
