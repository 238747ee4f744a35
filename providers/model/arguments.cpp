// Reads arguments strictly first, then by repair, and refuses the rest.
#include "providers/model/arguments.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/json_repair.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace mcpbx::providers {
namespace {

void told(const tool_call_block& call, const repaired_json& repaired) {
  if (!log::enabled(log::level::info)) return;
  std::string all;
  for (const auto what : repaired.repairs) all += (all.empty() ? "" : ", ") + std::string(what);
  log::info("the arguments of a call of \"" + redact::printable(cut_utf8(call.name, 100)) +
            "\" were no JSON and were put right: " + all);
}

// Logs duplicate keys. RFC 8259 section 4 leaves open which of them counts; most parsers take the last.
void tell_double_names(const tool_call_block& call) {
  if (!log::enabled(log::level::warn)) return;
  std::unordered_set<std::string> names;
  std::string twice;
  json::walk::members(call.arguments.text(), [&](std::string_view name, std::string_view) {
    if (!names.emplace(name).second) twice = name;
  });
  if (twice.empty()) return;
  log::warn("The arguments of a call of \"" + redact::printable(cut_utf8(call.name, 100)) + "\" name \"" +
            redact::printable(cut_utf8(twice, 100)) + "\" more than once; most tools take the last one.");
}

}  // namespace

void read_arguments(tool_call_block& call) {
  auto text = trimmed(call.arguments_text);
  if (text.empty() || text == "null") {
    call.arguments = json::raw_json::literal("{}");
    return;
  }
  auto value = json::raw_json::parse(text, max_argument_depth);
  std::string inner;
  if (value && value->is_string()) {
    // Some models encode twice.
    inner = value->as_string().value_or("");
    if (trimmed(inner).starts_with('{')) {
      text = trimmed(inner);
      value = json::raw_json::parse(text, max_argument_depth);
    }
  }
  // Valid JSON of another kind is not repaired: its author meant it as it is.
  if (!value) {
    auto repaired = repair_json(text);
    if (!repaired) {
      call.problem = "The arguments are not valid JSON (" + repaired.error().message +
                     "), so the tool was not run. Call it again with one JSON object as arguments.";
      return;
    }
    // Strict all the same: the repairer does not check UTF-8.
    value = json::raw_json::parse(repaired->text, max_argument_depth);
    if (!value) {
      call.problem = "The arguments are not valid JSON (" + value.error().message +
                     "), so the tool was not run. Call it again with one JSON object as arguments.";
      return;
    }
    call.repaired = true;
    told(call, *repaired);
  }
  if (!value->is_object()) {
    call.problem =
        "The arguments are not a JSON object, so the tool was not run. Call it again with one JSON object as "
        "arguments.";
    return;
  }
  call.arguments = on_one_line(*std::move(value));
  tell_double_names(call);
}

json::raw_json on_one_line(json::raw_json json) {
  if (json.text().find_first_of("\r\n") == std::string_view::npos) return json;
  std::string text(json.text());
  // Inside a string a line break would not be JSON, so every one found here is between tokens.
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\r', ' ');
  return json::raw_json::own(text);
}

}  // namespace mcpbx::providers
