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

fitted_table beginning_table(const raw_json& told) {
  fitted_table table({{""}, {""}});
  table.wrap_last();
  const auto add = [&](const char* what, std::string value) {
    if (!value.empty()) table.add({{fitted_table::cell(what, look::dim), {std::move(value)}}});
  };
  const auto number = [&](std::string_view key) { return find_member(told, key).as_integer().value_or(0); };
  const auto id = member_text(told, "id"), host = member_text(told, "host");
  add("model", member_text(told, "model") + (id.empty() ? "" : " (" + id + ")"));
  add("endpoint", host.empty() ? "none" : host);
  add("cost", words_for_cost(member_text(told, "cost")));
  add("profile", member_text(told, "profile"));
  add("session", member_text(told, "session"));
  const auto tools = texts_of(told, "tools");
  add("tools", tools.empty() ? "none" : std::to_string(tools.size()) + ": " + listed(tools));
  add("left out", listed(texts_of(told, "leftOut")));
  add("prompt", counted(number("promptBytes"), "byte") + " in " + counted(number("messages"), "message") + ", and " +
                    counted(number("toolBytes"), "byte") + " of tools: about " +
                    counted(number("estimatedTokens"), "token"));
  add("not fetched", listed(texts_of(told, "notFetched")));
  return table;
}

}  // namespace mcpbx::cli
