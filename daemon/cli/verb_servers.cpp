// `mcpbx servers`, `status`, `wait`, `restart`, `stop`.
#include "daemon/cli/link/daemon_age.hpp"
#include "daemon/cli/terminal/status_text.hpp"
#include "daemon/cli/verbs.hpp"
#include "mcp/socket/unix_socket.hpp"
#include "mcp/support/text.hpp"

#include <poll.h>

#include <chrono>
#include <string>
#include <string_view>

namespace mcpbx::cli {
namespace {

using steady = std::chrono::steady_clock;

std::string number_of(const raw_json& object, std::string_view key) {
  const raw_json value = find_member(object, key);
  return value && !value.is_null() ? std::string(value.text()) : "";
}

// What a server's processes take, "" where there is none.
std::string memory_of(const raw_json& server) {
  const auto bytes = find_member(server, "rssBytes").as_integer();
  if (!bytes) return "";
  const auto tenths = *bytes * 10 >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

// Why a server is not ready, for one table cell.
std::string trouble(const raw_json& server) {
  std::string why = member_text(server, "lastError");
  const std::string next = number_of(server, "nextTryMs");
  if (!why.empty() && !next.empty() && next != "-1") why += " (next try in " + next + " ms)";
  return std::string(cut_utf8(why, 160));
}

struct readiness {
  bool all_ready = true;
  std::string hopeless, waiting;  // names with reasons
};

readiness judge(const raw_json& servers) {
  readiness r;
  for_each_element(servers, [&](const raw_json& server) {
    const std::string state = member_text(server, "state"), name = member_text(server, "name");
    if (state == "ready" || state == "lazy" || state == "disabled") return true;
    r.all_ready = false;
    std::string line = name + ": " + state;
    if (const std::string why = trouble(server); !why.empty()) line += ": " + why;
    // A server whose start failed is tried again for ever; whoever waits for it should know.
    const bool hopeless = state == "crash_loop" || state == "failed" || find_member(server, "startFailed").is_true();
    (hopeless ? r.hopeless : r.waiting) += "  " + line + "\n";
    return true;
  });
  return r;
}

}  // namespace

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
                    number_of(s, "tools"), number_of(s, "pid"), memory_of(s), number_of(s, "restarts"), trouble(s)});
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
  // What a server that is not well said last, below the table.
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

int status(context& c) {
  int code = 0;
  auto made = connect_or_explain(c, false, code);
  if (!made) return code;
  auto got = call_or_explain(c, made->link, "mcpbx/status", "{}", code);
  if (!got) return code;
  if (c.json) {
    c.screen->out_json(got->text());
    return done;
  }
  c.screen->out(table(status_rows(*got)));
  return done;
}

int wait(context& c, int timeout_s) {
  const auto deadline = steady::now() + std::chrono::seconds(timeout_s);
  auto where = choose_socket(c.place);
  if (!where) return explain(c, where.error());
  const std::string path = where->path;
  std::string still;
  bool answered = false;
  for (;;) {
    // Connected anew each time: the daemon may be restarted while we wait.
    if (auto fd = connect_to(*where)) {
      connection link(*fd);
      auto got = link.call("mcpbx/servers", "{}");
      if (got && got->result) {
        answered = true;
        const raw_json list = got->result;
        readiness r = judge(list);
        if (r.all_ready || !r.hopeless.empty()) {
          if (c.json) c.screen->out_json(list.text());
          if (r.all_ready) return done;
          c.screen->error("not every tool server can be used:\n" + r.hopeless + r.waiting);
          return no_answer;
        }
        still = r.waiting;
      }
    }
    if (steady::now() >= deadline) break;
    ::poll(nullptr, 0, 20);
  }
  if (answered) {
    c.screen->error("not ready within " + std::to_string(timeout_s) + " s:\n" + still);
    return no_answer;
  }
  c.screen->error("no daemon answered at " + path + " within " + std::to_string(timeout_s) + " s");
  return no_daemon;
}

int restart(context& c, const std::string& server) {
  int code = 0;
  auto made = connect_or_explain(c, true, code);
  if (!made) return code;
  auto got = call_or_explain(c, made->link, "mcpbx/restart", "{\"server\":" + json_quoted(server) + "}", code);
  if (!got) return code;
  if (c.json) c.screen->out_json(got->text());
  return done;
}

int stop(context& c) {
  int code = 0;
  auto made = connect_or_explain(c, false, code, {.of_age = false});
  if (!made) return code;
  auto hello = call_or_explain(c, made->link, "mcpbx/hello", "{}", code);
  if (!hello) return code;
  const daemon_end end(made->link, *hello);
  auto got = call_or_explain(c, made->link, "mcpbx/stop", "{}", code);
  if (!got) return code;
  if (c.json) c.screen->out_json(got->text());
  if (end.wait()) return done;
  c.screen->error("the daemon is still stopping");
  return no_answer;
}

}  // namespace mcpbx::cli
