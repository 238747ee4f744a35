// Passes results unchanged. Turns every other outcome into an error result that tells the model what to do (L10).
#include "daemon/loop/results/call_result.hpp"

#include "daemon/loop/run_words.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/trace/trace_meta.hpp"

namespace mcpbx::daemon::results {
namespace {

constexpr std::size_t max_foreign_text = 2000;  // bytes of a JSON-RPC error's message

stored::record::result_cause cause_of(errc code) {
  switch (code) {
    case errc::timed_out:
      return stored::record::result_cause::timed_out;
    case errc::cancelled:
      return stored::record::result_cause::cancelled;
    default:
      return stored::record::result_cause::unavailable;
  }
}

}  // namespace

stored::record::call_result to_call_result(std::string call_id, const mcp::rpc::call_outcome& outcome,
                                           std::string_view tool, std::string_view server, std::int64_t ms, int lost) {
  using kind = mcp::rpc::call_outcome::kind;
  if (outcome.type == kind::result && outcome.value.is_object())
    return {std::move(call_id), outcome.value, json::find_member(outcome.value, "isError").is_true(),
            stored::record::result_cause::server, ms};
  std::string text;
  auto cause = stored::record::result_cause::server;
  if (outcome.type == kind::failed) {
    cause = cause_of(outcome.failure.code);
    text = "The call of \"" + std::string(tool) + "\" has no result";
    if (lost > 1) text += " after " + std::to_string(lost) + " attempts";
    text += ": " + outcome.failure.message;
    if (lost > 0) text += ". It may have taken effect all the same.";
    if (cause == stored::record::result_cause::unavailable)
      text += std::string(lost > 0 ? "" : ".") + " Another tool may do, or tell the user.";
  } else if (outcome.type == kind::error) {
    const auto message = json::find_member(outcome.value, "message").as_string().value_or("");
    const auto code = json::find_member(outcome.value, "code");
    text = "The server \"" + std::string(server) + "\" refused the call of \"" + std::string(tool) + "\"";
    if (!message.empty()) text += ": " + redact::cut_for_people(message, max_foreign_text, {.keep_lines = true});
    if (code.type() == json::raw_json::kind::number) text += " (code " + std::string(code.text()) + ")";
  } else {
    text = "The server \"" + std::string(server) + "\" answered the call of \"" + std::string(tool) +
           "\" with something that is no result";
  }
  if (outcome.type != kind::failed && lost > 0) text += ". An earlier attempt may have taken effect all the same.";
  return {std::move(call_id), loop::words::error_result(text), true, cause, ms};
}

json::raw_json call_params(std::string_view own_name, const json::raw_json& arguments,
                           const trace::trace_context& trace) {
  std::string json;
  json.reserve(32 + own_name.size() + arguments.text().size() + 2 * trace.parent.size() + trace.state.size());
  json::json_writer w(json);
  w.begin_object().member("name", own_name);
  w.member("arguments", arguments ? arguments : json::raw_json::literal("{}"));
  trace::append_trace_meta(w, trace);
  w.end_object();
  return w.json();
}

}  // namespace mcpbx::daemon::results
