// Reads only records in which the words may be. Secrets go before anything is compared, so that none can be found out.
#include "daemon/store/records/found_words.hpp"

#include "daemon/store/records/record_format.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/redact/cut_text.hpp"

#include <array>

namespace mcpbx::daemon::stored {
namespace {

bool has_talk(std::string_view text) {
  constexpr std::array<std::string_view, 4> kinds{R"("type":"run_started")", R"("type":"assistant")",
                                                  R"("type":"call_result")", R"("type":"caller_result")"};
  const auto head = text.substr(0, 40);
  for (const auto kind : kinds)
    if (head.contains(kind)) return true;
  return false;
}

std::string text_of_result(const json::raw_json& result) {
  std::string all;
  json::for_each_element(json::find_member(result, "content"), [&](const json::raw_json& one) {
    if (auto text = json::find_member(one, "text").as_string()) all += (all.empty() ? "" : "\n") + *text;
    return true;
  });
  return all;
}

}  // namespace

bool run_search::look(std::string_view role, std::string_view text) {
  if (!words_.matches(text)) return false;
  const auto shown = redact::redacted_part(text, {});
  if (!words_.matches(shown)) return false;
  role_ = role;
  line_ = words_.best_line(shown, longest_line);
  return true;
}

// Takes a whole trace id or traceparent only, since parts of these are in many others by chance.
bool run_search::look_at_trace(const trace::trace_context& trace) {
  const auto& words = words_.words();
  if (trace.empty() || words.size() != 1 || (words.front() != trace.id() && words.front() != trace.parent))
    return false;
  role_ = "trace";
  line_ = trace.parent;
  return true;
}

bool run_search::add(std::string_view text) {
  if (!has_talk(text) || !words_.may_match_json(text)) return false;
  const auto r = record_from(text);
  if (!r) return false;
  if (const auto* first = std::get_if<record::run_started>(&*r)) {
    for (const auto& m : first->messages)
      if (m->role == providers::role::user && look("user", m->text())) return true;
    return look_at_trace(first->trace);
  }
  if (const auto* said = std::get_if<record::assistant>(&*r)) return look("assistant", said->message->text());
  if (const auto* result = std::get_if<record::call_result>(&*r)) return look("tool", text_of_result(result->result));
  if (const auto* result = std::get_if<record::caller_result>(&*r)) return look("tool", text_of_result(result->result));
  return false;
}

}  // namespace mcpbx::daemon::stored
