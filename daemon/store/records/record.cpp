// Names of records and stop reasons in the journal, at the doors and in the log. They never change.
#include "daemon/store/records/record.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::daemon::stored {

std::string_view to_string(stop_reason r) {
  switch (r) {
    case stop_reason::final:
      return "final";
    case stop_reason::max_rounds:
      return "max_rounds";
    case stop_reason::consecutive_errors:
      return "consecutive_errors";
    case stop_reason::tool_error:
      return "tool_error";
    case stop_reason::timeout:
      return "timeout";
    case stop_reason::token_budget:
      return "token_budget";
    case stop_reason::call_budget:
      return "call_budget";
    case stop_reason::refused:
      return "refused";
    case stop_reason::truncated:
      return "truncated";
    case stop_reason::cancelled:
      return "cancelled";
    case stop_reason::needs_approval:
      return "needs_approval";
    case stop_reason::caller_tools:
      return "caller_tools";
    case stop_reason::provider_error:
      return "provider_error";
    case stop_reason::context_full:
      return "context_full";
    case stop_reason::store_error:
      return "store_error";
    case stop_reason::interrupted:
      return "interrupted";
    case stop_reason::repeated_calls:
      return "repeated_calls";
  }
  return "interrupted";
}

std::string_view record::to_string(record::result_cause c) {
  switch (c) {
    case record::result_cause::server:
      return "server";
    case record::result_cause::unknown_tool:
      return "unknown_tool";
    case record::result_cause::bad_arguments:
      return "bad_arguments";
    case record::result_cause::unavailable:
      return "unavailable";
    case record::result_cause::timed_out:
      return "timed_out";
    case record::result_cause::cancelled:
      return "cancelled";
    case record::result_cause::too_many_calls:
      return "too_many_calls";
    case record::result_cause::interrupted:
      return "interrupted";
    case record::result_cause::refused:
      return "refused";
  }
  return "interrupted";
}

namespace {

struct names {
  std::string_view operator()(const record::run_started&) const { return "run_started"; }
  std::string_view operator()(const record::round_started&) const { return "round_started"; }
  std::string_view operator()(const record::assistant&) const { return "assistant"; }
  std::string_view operator()(const record::model_failed&) const { return "model_failed"; }
  std::string_view operator()(const record::question&) const { return "question"; }
  std::string_view operator()(const record::answer&) const { return "answer"; }
  std::string_view operator()(const record::call_intent&) const { return "call_intent"; }
  std::string_view operator()(const record::call_result&) const { return "call_result"; }
  std::string_view operator()(const record::status_line&) const { return "status_line"; }
  std::string_view operator()(const record::time_used&) const { return "time_used"; }
  std::string_view operator()(const record::limits_lowered&) const { return "limits_lowered"; }
  std::string_view operator()(const record::taken_over&) const { return "taken_over"; }
  std::string_view operator()(const record::parked&) const { return "parked"; }
  std::string_view operator()(const record::caller_result&) const { return "caller_result"; }
  std::string_view operator()(const record::cancel&) const { return "cancel"; }
  std::string_view operator()(const record::run_ended&) const { return "run_ended"; }
};

}  // namespace

std::string_view name_of(const run_record& r) {
  return std::visit(names{}, r);
}

std::vector<providers::message_ptr> conversation_of(const record::run_started& r) {
  std::vector<providers::message_ptr> all;
  all.reserve(r.messages.size() + r.inherited.size());
  auto own = r.messages.begin();
  if (own != r.messages.end() && (*own)->role == providers::role::system) all.push_back(*own++);
  all.insert(all.end(), r.inherited.begin(), r.inherited.end());
  all.insert(all.end(), own, r.messages.end());
  return all;
}

}  // namespace mcpbx::daemon::stored
