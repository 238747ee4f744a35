// Chooses words and colours for the states of tool servers.
#include "daemon/cli/text/server_text.hpp"

#include "daemon/cli/text/session_text.hpp"
#include "mcp/support/text.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace mcpbx::cli {

look look_of_state(std::string_view state) {
  if (state == "ready") return look::green;
  if (state == "failed" || state == "crash_loop") return look::red;
  if (state == "starting" || state == "restarting") return look::yellow;
  return look::dim;
}

namespace {

std::string count_of(const raw_json& server, std::string_view key) {
  const auto n = find_member(server, key).as_integer();
  return n ? std::to_string(*n) : "";
}

/// Returns the number of instances of a server that is not shared, by state: "2 ready, 1 lazy"; "" if it is shared.
std::string instances_of(const raw_json& server) {
  const raw_json all = find_member(server, "instances");
  if (!all) return "";
  std::map<std::string, std::size_t> states;
  for_each_element(all, [&](const raw_json& one) {
    ++states[member_text(one, "state")];
    return true;
  });
  std::string text;
  for (const auto& [state, count] : states) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + state;
  return text.empty() ? "none" : text;
}

std::string next_try_of(const raw_json& server) {
  const auto ms = find_member(server, "nextTryMs").as_integer();
  if (!ms || *ms < 0) return "";
  return *ms < 1000 ? std::to_string(*ms) + " ms" : std::to_string((*ms + 500) / 1000) + " s";
}

}  // namespace

std::string error_with_time(const raw_json& server) {
  std::string text = member_text(server, "lastError");
  if (text.empty()) return text;
  if (const auto at = find_member(server, "lastErrorMs").as_integer()) text.insert(0, date_of(*at) + " UTC: ");
  return text;
}

std::string memory_of(const raw_json& server) {
  const auto bytes = find_member(server, "rssBytes").as_integer();
  if (!bytes) return "";
  const auto tenths = *bytes * 10 >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

fitted_table server_table(const raw_json& list) {
  fitted_table table({{"NAME"},
                      {"STATE"},
                      {"ERA", 8},
                      {"REVISION", 7},
                      {"TOOLS", 1},
                      {"PROMPTS", 3},
                      {"RESOURCES", 4},
                      {"PID", 5},
                      {"MEMORY", 6},
                      {"RESTARTS", 2}});
  for_each_element(list, [&](const raw_json& s) {
    const std::string state = member_text(s, "state");
    std::string note = error_with_time(s);
    if (const auto own = instances_of(s); !own.empty() && own != "none")
      note += (note.empty() ? "" : "; ") + ("instances: " + own);
    if (const auto next = next_try_of(s); !next.empty()) note += (note.empty() ? "" : "; ") + ("next try in " + next);
    table.add({{member_text(s, "name"),
                {state, look_of_state(state)},
                member_text(s, "era"),
                member_text(s, "revision"),
                count_of(s, "tools"),
                count_of(s, "prompts"),
                count_of(s, "resources"),
                count_of(s, "pid"),
                memory_of(s),
                count_of(s, "restarts")},
               note});
    return true;
  });
  return table;
}

fitted_table server_facts(const raw_json& server) {
  fitted_table table({{""}, {""}});
  table.wrap_last();
  const auto add = [&](const char* what, std::string value, look how = look::plain) {
    if (!value.empty()) table.add({{fitted_table::cell(what, look::dim), {std::move(value), how}}});
  };
  const std::string state = member_text(server, "state"), next = next_try_of(server), era = member_text(server, "era");
  add("name", member_text(server, "name"), look::bold);
  add("state", state + (next.empty() ? "" : ", next try in " + next), look_of_state(state));
  add("command", member_text(server, "command"));
  const raw_json remote = find_member(server, "remote");
  const std::string transport = member_text(remote, "transport"), problem = member_text(remote, "problem");
  add("address", member_text(remote, "address") + (transport.empty() ? "" : ", by " + transport));
  add("trouble", problem, look::red);
  add("pid", count_of(server, "pid"));
  add("memory", memory_of(server));
  add("restarts", count_of(server, "restarts"));
  const std::string revision = member_text(server, "revision");
  add("protocol", revision.empty() ? "" : revision + " (" + era + ")");
  const std::string withheld = count_of(server, "withheldTools");
  add("tools",
      count_of(server, "tools") + (withheld.empty() || withheld == "0" ? "" : ", " + withheld + " not offered"));
  std::string others, words;
  const auto counted = [&](std::string_view key, std::string_view one, std::string_view many) {
    const auto n = count_of(server, key);
    if (n.empty() || n == "0") return;
    others.append(others.empty() ? "" : ", ").append(n).append(" ").append(n == "1" ? one : many);
  };
  counted("prompts", "prompt", "prompts");
  counted("resources", "resource", "resources");
  counted("resourceTemplates", "resource template", "resource templates");
  add("lists", others);
  for_each_element(find_member(server, "offers"), [&](const raw_json& one) {
    words.append(words.empty() ? "" : ", ").append(one.as_string().value_or(""));
    return true;
  });
  add("offers", words);
  add("calls", count_of(server, "openCalls") + " open, " + count_of(server, "queuedCalls") + " waiting");
  const auto unless_zero = [&](const char* what, std::string_view key) {
    if (const auto n = count_of(server, key); n != "0") add(what, n);
  };
  unless_zero("noise lines", "noiseLines");
  unless_zero("late answers", "droppedAnswers");
  const std::string last_error = error_with_time(server);
  add("last error", last_error.empty() ? "none" : last_error, last_error.empty() ? look::plain : look::red);
  if (const auto own = instances_of(server); !own.empty()) add("instances", own);
  for_each_element(find_member(server, "instances"), [&](const raw_json& one) {
    const std::string pid = count_of(one, "pid"), error = member_text(one, "lastError");
    add("  for", member_text(one, "for") + ": " + member_text(one, "state") + (pid.empty() ? "" : ", pid " + pid) +
                     ", " + count_of(one, "openCalls") + " calls open" + (error.empty() ? "" : "; " + error));
    return true;
  });
  add("last exit", member_text(server, "exit"));
  add("pins", member_text(server, "pins"));
  add("stderr", member_text(server, "stderr"));
  return table;
}

}  // namespace mcpbx::cli
