// Finishes tool calls: reads or refuses their arguments, without guessing, and gives ids.
#include "providers/wire/finished_calls.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::wire {

std::string sent_arguments(const tool_call_block& call) {
  if (call.arguments) return std::string(call.arguments.text());
  return json::json_object("unreadable_arguments", call.arguments_text);
}

void read_unended_arguments(tool_call_block& call) {
  const auto text = trimmed(call.arguments_text);
  if (text.starts_with('{') && json::check_json(text, max_argument_depth) == json::json_scanner::fault::none)
    return read_arguments(call);
  call.problem =
      "The call was broken off before its arguments were complete, so the tool was not run. Call it again with one "
      "JSON "
      "object as arguments.";
}

void name_nameless(tool_call_block& call) {
  if (!call.name.empty()) return;
  call.name = nameless_call;
  call.arguments = {};
  call.problem = "The call had no name, so no tool was run. Call the tool again, by its name.";
}

namespace {

constexpr std::size_t few = 8;

}  // namespace

bool is_fitting_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string fitting_id(std::string_view id) {
  return is_fitting_id(id) ? std::string(id) : "id_" + hex(stable_hash(id), 16);
}

bool call_ids::take(const std::string& id) {
  const auto each_before = [this](auto&& f) {
    if (request_ == nullptr) return false;
    for (const auto& m : request_->messages)
      for (const auto& b : m->blocks)
        if (const auto* c = std::get_if<tool_call_block>(&b); c && f(c->id)) return true;
    return false;
  };
  // A reply has few calls and its conversation may have thousands, so search for few ids instead of indexing all.
  if (used_.size() + counter_ < few) {
    if (each_before([&](const std::string& before) { return before == id; })) return false;
  } else if (!std::exchange(read_, true)) {
    each_before([this](const std::string& before) {
      used_.insert(before);
      return false;
    });
  }
  return used_.insert(id).second;
}

std::vector<std::string> call_ids::settle(std::vector<std::string> sent) {
  for (auto& id : sent)
    if (!id.empty() && !take(id)) id.clear();
  for (auto& id : sent)
    while (id.empty()) {
      const auto digits = std::to_string(++counter_);
      auto made = "call" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
      if (take(made)) id = std::move(made);
    }
  return sent;
}

}  // namespace mcpbx::providers::wire
