// Checks the shape of tool results, and quotes the questions of those that ask for input.
#include "mcp/client/supervise/tool_result.hpp"

#include "mcp/redact/cut_text.hpp"

#include <string>

namespace mcpbx::mcp::supervise {
namespace {

constexpr std::size_t most_question_bytes = 200;
constexpr std::size_t most_word_bytes = 64;
constexpr int most_questions = 3;

/// Returns the questions of an input_required result for people: `elicitation/create "Which one?"`.
std::string questions(const json::raw_json& result) {
  std::string out;
  int more = 0, told = 0;
  const auto requests = json::raw_object::open(json::find_member(result, "inputRequests"));
  if (requests)
    requests->for_each([&](std::string_view, const json::raw_json& request) {
      if (told == most_questions) {
        ++more;
        return;
      }
      if (told++ != 0) out += ", ";
      out += redact::cut_for_people(json::find_member(request, "method").as_string().value_or("something"),
                                    most_word_bytes);
      const auto message = json::find_member(json::find_member(request, "params"), "message").as_string();
      if (message) out += " \"" + redact::cut_for_people(*message, most_question_bytes) + "\"";
    });
  if (more != 0) out += " and " + std::to_string(more) + " more";
  return out;
}

error wrong(std::string what) {
  return {errc::protocol, "answered with a result of the wrong shape: " + std::move(what)};
}

}  // namespace

std::optional<error> tool_result_fault(const json::raw_json& result, clients::era server_era, accepted_results accepted,
                                       bool* says_error) {
  const auto members = json::read_members(result, {"content", "structuredContent", "isError", "resultType"});
  if (!members) return wrong(members.error().message);
  const auto& [content, structured, flag, type] = *members;
  if (says_error != nullptr && flag.is_true()) *says_error = true;
  const bool modern = server_era == clients::era::modern;
  if (modern && type && type.text() != "\"complete\"") {
    const auto word = type.as_string();
    if (!word) return wrong("resultType must be a string");
    if (*word == "task" && accepted.task) return std::nullopt;
    if (accepted.others && *word != "input_required" && *word != "task" && *word != "complete") return std::nullopt;
    if (*word == "input_required") {
      if (accepted.input_required) return std::nullopt;
      const std::string asked = questions(result);
      return error{errc::peer, "asks for input before it goes on" + (asked.empty() ? "" : " (" + asked + ")") +
                                   "; there is nobody whom mcpbx could ask for this call"};
    }
    if (*word != "complete")
      return wrong("resultType \"" + redact::cut_for_people(*word, most_word_bytes) + "\" is none that mcpbx knows");
  }
  if (content && !content.is_array()) return wrong("\"content\" must be an array");
  if (!content && !modern && accepted.task && json::find_member(result, "task").is_object()) return std::nullopt;
  if (!content && !(modern && structured)) return wrong("\"content\" is missing");
  if (flag && flag.type() != json::raw_json::kind::boolean) return wrong("\"isError\" must be true or false");
  return std::nullopt;
}

}  // namespace mcpbx::mcp::supervise
