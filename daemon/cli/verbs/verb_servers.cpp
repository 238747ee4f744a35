// `mcpbx servers`: lists the tool servers with their state, and the last words of those that failed.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/terminal/status_text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {
namespace {

std::string number_of(const raw_json& object, std::string_view key) {
  const raw_json value = find_member(object, key);
  return value && !value.is_null() ? std::string(value.text()) : "";
}

// Returns the memory of a server's processes, "" where there is none.
std::string memory_of(const raw_json& server) {
  const auto bytes = find_member(server, "rssBytes").as_integer();
  if (!bytes) return "";
  const auto tenths = *bytes * 10 >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

int servers(context& c) {
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  auto got = call_or_explain(c, made->link, "mcpbx/servers", "{}", status);
  if (!got) return status;
  const raw_json list = *got;
  if (c.json) {
    c.screen->out_json(list.text());
    return done;
  }
  std::vector<std::vector<std::string>> rows{
      {"NAME", "STATE", "ERA", "REVISION", "TOOLS", "PID", "MEMORY", "RESTARTS", "LAST ERROR"}};
  for_each_element(list, [&](const raw_json& s) {
    rows.push_back({member_text(s, "name"), member_text(s, "state"), member_text(s, "era"), member_text(s, "revision"),
                    number_of(s, "tools"), number_of(s, "pid"), memory_of(s), number_of(s, "restarts"), trouble_of(s)});
    return true;
  });
  if (rows.size() == 1) {
    c.screen->err_line("no tool servers are configured");
    return done;
  }
  c.screen->out(table(rows));
  for_each_element(list, [&](const raw_json& s) {
    if (const std::string pins = member_text(s, "pins"); !pins.empty()) c.screen->out("\n" + pins + "\n");
    return true;
  });
  // Print the last words of failed servers below the table.
  for_each_element(list, [&](const raw_json& s) {
    const std::string state = member_text(s, "state"), said = member_text(s, "stderr");
    if (said.empty() || state == "ready" || state == "lazy" || state == "disabled") return true;
    c.screen->out("\n" + member_text(s, "name") +
                  (member_text(s, "exit").empty() ? "" : ", " + member_text(s, "exit")) + ", stderr:\n");
    c.screen->out(said.substr(said.size() > 600 ? said.size() - 600 : 0) + "\n");
    return true;
  });
  return done;
}

}  // namespace

verb verb_servers() {
  return {
      .name = "servers",
      .summary = "how the tool servers are",
      .more =
          R"(States: disabled, starting, ready, lazy (starts at its first call), restarting, crash_loop (ended five times within
10 s; it is tried again, ever more rarely), failed (could not be started; tried again likewise), stopped. What a server
that is not well wrote last stands below the table. LAST ERROR quotes the last line of its stderr that has the word error,
cannot, fatal, panic or exception in it, or the end of a Python traceback, else its last line; the error goes away when
the server has answered a call or has been ready for a minute.)",
      .declare = [](CLI::App&) -> verb_action { return servers; }};
}

}  // namespace mcpbx::cli
