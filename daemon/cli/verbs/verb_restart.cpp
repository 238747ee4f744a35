// `mcpbx restart`: starts a tool server anew.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "mcp/json/json_writer.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace mcpbx::cli::verbs {
namespace {

int restart(context& c, const std::string& server) {
  int code = 0;
  auto made = connect_or_explain(c, true, code);
  if (!made) return code;
  auto got = call_or_explain(c, made->link, "mcpbx/restart", json::json_object("server", server), code);
  if (!got) return code;
  if (c.json) c.screen->out_json(got->text());
  return terminals::done;
}

verb_action declare_restart(CLI::App& page) {
  const auto server = std::make_shared<std::string>();
  page.add_option("NAME", *server, "the server, as `mcpbx servers` lists it")->required()->type_name("");
  return [server](context& c) { return restart(c, *server); };
}

}  // namespace

verb verb_restart() {
  return {.name = "restart",
          .place = 11,
          .summary = "restart one tool server",
          .more = "Example:\n  mcpbx restart files",
          .declare = declare_restart};
}

}  // namespace mcpbx::cli::verbs
