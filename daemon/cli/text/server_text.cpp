// Chooses words and colours for the states of tool servers.
#include "daemon/cli/text/server_text.hpp"

#include "daemon/cli/text/session_text.hpp"
#include "mcp/support/text.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace mcpbx::cli::text {

terminals::look look_of_state(std::string_view state) {
  if (state == "ready") return terminals::look::green;
  if (state == "failed" || state == "crash_loop") return terminals::look::red;
  if (state == "starting" || state == "restarting") return terminals::look::yellow;
  return terminals::look::dim;
}

namespace {

std::string count_of(const json::raw_json& server, std::string_view key) {
  const auto n = json::find_member(server, key).as_integer();
  return n ? std::to_string(*n) : "";
}

/// Returns the number of instances of a server that is not shared, by state: "2 ready, 1 lazy"; "" if it is shared.
std::string instances_of(const json::raw_json& server) {
  const json::raw_json all = json::find_member(server, "instances");
  if (!all) return "";
  std::map<std::string, std::size_t> states;
  json::for_each_element(all, [&](const json::raw_json& one) {
    ++states[json::member_text(one, "state")];
    return true;
  });
  std::string text;
  for (const auto& [state, count] : states) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + state;
  return text.empty() ? "none" : text;
}

std::string next_try_of(const json::raw_json& server) {
  const auto ms = json::find_member(server, "nextTryMs").as_integer();
  if (!ms || *ms < 0) return "";
  return *ms < 1000 ? std::to_string(*ms) + " ms" : std::to_string((*ms + 500) / 1000) + " s";
}

}  // namespace

std::string error_with_time(const json::raw_json& server) {
  std::string text = json::member_text(server, "lastError");
  if (text.empty()) return text;
  if (const auto at = json::find_member(server, "lastErrorMs").as_integer()) text.insert(0, date_of(*at) + " UTC: ");
  return text;
}

std::string memory_of(const json::raw_json& server) {
  const auto bytes = json::find_member(server, "rssBytes").as_integer();
  if (!bytes) return "";
  const auto tenths = *bytes * 10 >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

terminals::fitted_table server_table(const json::raw_json& list) {
  terminals::fitted_table table({{"NAME"},
                                 {"STATE"},
                                 {"ERA", 8},
                                 {"REVISION", 7},
                                 {"TOOLS", 1},
                                 {"PROMPTS", 3},
                                 {"RESOURCES", 4},
                                 {"PID", 5},
                                 {"MEMORY", 6},
                                 {"RESTARTS", 2}});
  json::for_each_element(list, [&](const json::raw_json& s) {
    const std::string state = json::member_text(s, "state");
    std::string note = error_with_time(s);
    if (const auto own = instances_of(s); !own.empty() && own != "none")
      note += (note.empty() ? "" : "; ") + ("instances: " + own);
    if (const auto next = next_try_of(s); !next.empty()) note += (note.empty() ? "" : "; ") + ("next try in " + next);
    table.add({{json::member_text(s, "name"),
                {state, look_of_state(state)},
                json::member_text(s, "era"),
                json::member_text(s, "revision"),
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

terminals::fitted_table server_facts(const json::raw_json& server) {
  terminals::fitted_table table({{""}, {""}});
  table.wrap_last();
  const auto add = [&](const char* what, std::string value, terminals::look how = terminals::look::plain) {
    if (!value.empty())
      table.add({{terminals::fitted_table::cell(what, terminals::look::dim), {std::move(value), how}}});
  };
  const std::string state = json::member_text(server, "state"), next = next_try_of(server),
                    era = json::member_text(server, "era");
  add("name", json::member_text(server, "name"), terminals::look::bold);
  add("state", state + (next.empty() ? "" : ", next try in " + next), look_of_state(state));
  add("command", json::member_text(server, "command"));
  const json::raw_json remote = json::find_member(server, "remote");
  const std::string transport = json::member_text(remote, "transport"), problem = json::member_text(remote, "problem");
  add("address", json::member_text(remote, "address") + (transport.empty() ? "" : ", by " + transport));
  add("trouble", problem, terminals::look::red);
  add("pid", count_of(server, "pid"));
  add("memory", memory_of(server));
  add("restarts", count_of(server, "restarts"));
  const std::string revision = json::member_text(server, "revision");
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
  json::for_each_element(json::find_member(server, "offers"), [&](const json::raw_json& one) {
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
  add("last error", last_error.empty() ? "none" : last_error,
      last_error.empty() ? terminals::look::plain : terminals::look::red);
  if (const auto own = instances_of(server); !own.empty()) add("instances", own);
  json::for_each_element(json::find_member(server, "instances"), [&](const json::raw_json& one) {
    const std::string pid = count_of(one, "pid"), error = json::member_text(one, "lastError");
    add("  for", json::member_text(one, "for") + ": " + json::member_text(one, "state") +
                     (pid.empty() ? "" : ", pid " + pid) + ", " + count_of(one, "openCalls") + " calls open" +
                     (error.empty() ? "" : "; " + error));
    return true;
  });
  add("last exit", json::member_text(server, "exit"));
  add("pins", json::member_text(server, "pins"));
  add("stderr", json::member_text(server, "stderr"));
  return table;
}

}  // namespace mcpbx::cli::text
