// Keeps the questions of one request and answers them in their order.
#include "daemon/cli/base/person_answers.hpp"

#include "daemon/cli/base/follow_run.hpp"

#include <string>
#include <utility>

namespace mcpbx::cli {
namespace {

std::optional<mcp::rpc::rpc_id> withdrawn_by(std::string_view method, const json::raw_json& params) {
  if (method != "notifications/cancelled") return std::nullopt;
  return mcp::rpc::rpc_id::from(json::find_member(params, "requestId"));
}

}  // namespace

std::string_view answerable(std::optional<terminals::input_mode> input) {
  return input ? R"({"elicitation":{"form":{},"url":{}}})" : "{}";
}

std::optional<terminals::input_mode> person_of(const context& c) {
  return asks_person(c) ? std::optional(terminals::input_mode::ask) : std::nullopt;
}

void person_answers::take(const mcp::rpc::message& request) {
  if (request.method() == "elicitation/create") open_.push_back({request.id, request.params});
}

void person_answers::notified(std::string_view method, const json::raw_json& params) {
  if (const auto id = withdrawn_by(method, params))
    std::erase_if(open_, [&](const question& q) { return q.id == *id; });
}

void person_answers::answer() {
  if (open_.empty()) return;
  const question q = open_.front();
  std::size_t looked_at = 0;
  terminals::question_watch watch{link_.fd(), {}};
  watch.still_open = [&] {
    if (!link_.receive()) return false;
    if (link_.received_bytes() > most_waiting) watch.fd = -1;
    for (const auto& come = link_.received(); looked_at < come.size(); ++looked_at) {
      const auto& m = come[looked_at];
      if (m.type == mcp::rpc::message::kind::response) return false;  // the request is over
      if (m.type == mcp::rpc::message::kind::notification && withdrawn_by(m.method(), m.params) == q.id) return false;
    }
    return true;
  };
  const auto server = json::member_text(json::find_member(q.params, "_meta"), "mcpbx/server");
  const auto said = terminals::answer_input(*c_.screen, server, q.params, mode_, watch);
  std::erase_if(open_, [&](const question& one) { return one.id == q.id; });
  if (said) (void)link_.respond(q.id, *said);
}

result<link::answer> call_with_questions(context& c, link::daemon_connection& link, std::string_view method,
                                         std::string_view params, std::optional<terminals::input_mode> input) {
  person_answers questions(c, link, input.value_or(terminals::input_mode::decline));
  link.on_request([&](const mcp::rpc::message& request) { questions.take(request); });
  auto got = link.call(
      method, params, [&](std::string_view name, const json::raw_json& p) { questions.notified(name, p); }, {},
      [&] { questions.answer(); });
  link.on_request({});
  return got;
}

}  // namespace mcpbx::cli
