// Words for the facts of a dry run.
#include "daemon/cli/base/run_beginning.hpp"

#include "daemon/cli/link/text_lists.hpp"
#include "mcp/support/text.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::cli {
namespace {

std::string words_for_cost(std::string_view cost) {
  if (cost == "none") return "none: no endpoint is asked";
  if (cost == "local") return "local: the model runs on this machine";
  return "provider: the provider of the model may charge for it";
}

}  // namespace

terminals::fitted_table beginning_table(const json::raw_json& told) {
  terminals::fitted_table table({{""}, {""}});
  table.wrap_last();
  const auto add = [&](const char* what, std::string value) {
    if (!value.empty()) table.add({{terminals::fitted_table::cell(what, terminals::look::dim), {std::move(value)}}});
  };
  const auto number = [&](std::string_view key) { return json::find_member(told, key).as_integer().value_or(0); };
  const auto id = json::member_text(told, "id"), host = json::member_text(told, "host");
  add("model", json::member_text(told, "model") + (id.empty() ? "" : " (" + id + ")"));
  add("endpoint", host.empty() ? "none" : host);
  add("cost", words_for_cost(json::member_text(told, "cost")));
  add("profile", json::member_text(told, "profile"));
  add("session", json::member_text(told, "session"));
  const auto tools = link::texts_of(told, "tools");
  add("tools", tools.empty() ? "none" : std::to_string(tools.size()) + ": " + link::listed(tools));
  add("left out", link::listed(link::texts_of(told, "leftOut")));
  add("prompt", counted(number("promptBytes"), "byte") + " in " + counted(number("messages"), "message") + ", and " +
                    counted(number("toolBytes"), "byte") + " of tools: about " +
                    counted(number("estimatedTokens"), "token"));
  add("not fetched", link::listed(link::texts_of(told, "notFetched")));
  return table;
}

}  // namespace mcpbx::cli
