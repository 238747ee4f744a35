// Rounds of a call at a modern server that asks for input (2026-07-28, patterns, "Multi Round-Trip Requests"), for
// callers that do not go through them themselves: each question goes to the call's handler, then the call is sent
// again with the answers.
#include "mcp/client/supervise/managed_client.hpp"
#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/redact/cut_text.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::mcp::supervise {
namespace {

bool is_question(std::string_view method) {
  return method == "elicitation/create" || method == "sampling/createMessage" || method == "roots/list";
}

milliseconds left(time_point until, time_point now) {
  if (until == never) return milliseconds::max();
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(until - now));
}

}  // namespace

void managed_client::begin_course(open_call& r, time_point now) {
  if (r.course) return;  // it has come back unseen
  const clients::server_call& c = r.call;
  const bool endless = r.limits.hard >= std::chrono::duration_cast<milliseconds>(never - now);
  const time_point hard_at = endless ? never : now + r.limits.hard;
  if (era_ == clients::era::modern) {
    if (offers_.extensions && json::find_member(offers_.extensions, protocol::extension::tasks))
      r.wants_task =
          json::find_member(json::find_member(c.caller.capabilities, "extensions"), protocol::extension::tasks)
              .is_object();
    r.takes_others = c.takes_result_types && protocol::share_extension(c.caller.capabilities, offers_);
    if (!c.questions || c.takes_input_required || !may_ask(c)) return;
    r.course = std::make_unique<call_course>();
    r.course->params = c.params;
  } else if (offers_.tasks) {
    r.wants_task = json::find_member(c.params, "task").is_object();
    if (r.wants_task || !needs_task(c)) return;
    r.course = std::make_unique<call_course>();
    r.course->runs_task = true;
    r.call.params = with_task(r);
    r.call.meta.reset();
  }
  if (r.course) r.course->hard_at = hard_at;
}

/// Returns true for requests that a modern server may answer with a request for input.
bool managed_client::may_ask(const clients::server_call& c) const {
  return era_ == clients::era::modern && !c.takes_input_required &&
         (c.method == "tools/call" || c.method == "prompts/get" || c.method == "resources/read");
}

bool managed_client::wants_input(const json::raw_json& result) {
  return json::find_member(result, "resultType").as_string() == "input_required";
}

bool managed_client::asks_for_input(const open_call& r, const json::raw_json& result) const {
  return r.course && !r.course->runs_task && wants_input(result);
}

// Returns true if the server has refused the revision of a request although it supports it: it is sent once more.
bool managed_client::speaks_again(open_call& r, const json::raw_json& error) const {
  if (era_ != clients::era::modern ||
      json::find_member(error, "code").as_integer() != protocol::mcp_code::unsupported_protocol_version)
    return false;
  bool supported = false;
  json::for_each_element(json::find_member(json::find_member(error, "data"), "supported"),
                         [&](const json::raw_json& v) {
                           supported = v.as_string() == revision_;
                           return !supported;
                         });
  return supported && !std::exchange(r.course->refused_before, true);
}

void managed_client::begin_inputs(ticket t, json::raw_json result) {
  open_call& r = calls_.find(t)->second;
  call_course& c = *r.course;
  const auto fail_with = [&](errc code, std::string what) {
    conclude(t, rpc::call_outcome::lost(code, who() + " " + std::move(what) + " (" + r.call.what() + ")"));
  };
  if (++c.round > call_course::most_rounds)
    return fail_with(errc::limit, "asked for input more than " + std::to_string(call_course::most_rounds) + " times");
  const auto members = json::raw_object::open(result, {"inputRequests", "requestState"});
  if (!members)
    return fail_with(errc::protocol, "answered with a result of the wrong shape: " + members.error().message);
  const json::raw_json requests = members->find("inputRequests");
  c.state = members->find("requestState");
  if (c.state && !c.state.is_string())
    return fail_with(errc::protocol, "answered with a result of the wrong shape: requestState must be a string");
  if (!requests && !c.state) return fail_with(errc::protocol, "asked for input without saying for which");

  c.inputs.clear();
  std::vector<clients::server_question> questions;
  if (requests) {
    const auto all = json::raw_object::open(requests);
    if (!all)
      return fail_with(errc::protocol, "answered with inputRequests of the wrong shape: " + all.error().message);
    if (all->size() > call_course::most_inputs)
      return fail_with(errc::limit,
                       "asked more than " + std::to_string(call_course::most_inputs) + " questions at once");
    std::string unknown;
    all->for_each([&](std::string_view key, const json::raw_json& request) {
      std::string method = json::member_text(request, "method");
      if (!is_question(method)) unknown = "\"" + redact::cut_for_people(method, 64) + "\"";
      c.inputs.push_back({std::string(key), {}});
      questions.push_back({options_.name, std::move(method), json::find_member(request, "params")});
    });
    if (!unknown.empty())
      return fail_with(errc::protocol, "asked for input by a method that it may not use: " + unknown);
  }
  c.unanswered = questions.size();
  if (questions.empty()) return next_round(t);
  const int round = c.round;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    // A handler may end the call inside.
    const auto found = calls_.find(t);
    if (found == calls_.end() || found->second.course->round != round) return;
    ask(t, std::move(questions[i]),
        [this, t, round, i](rpc::call_outcome&& outcome) { input_answered(t, round, i, std::move(outcome)); });
  }
}

void managed_client::input_answered(ticket t, int round, std::size_t index, rpc::call_outcome&& outcome) {
  const auto found = calls_.find(t);
  if (found == calls_.end()) return;
  call_course& c = *found->second.course;
  if (c.round != round || index >= c.inputs.size()) return;
  resume(t);
  if (outcome.type != rpc::call_outcome::kind::result) {
    std::string why = outcome.failure.message;
    if (outcome.type == rpc::call_outcome::kind::error)
      why = redact::cut_for_people(json::member_text(outcome.value, "message"), 300);
    // The server has done its part, so this is no time-out of its own.
    return fail_soon(t, rpc::call_outcome::lost(errc::peer, who() + " asked for input and got none: " + why));
  }
  c.inputs[index].answer = std::move(outcome.value);
  if (--c.unanswered != 0) return settle_down();
  next_round(t);
  settle_down();
}

void managed_client::next_round(ticket t) {
  open_call& r = calls_.find(t)->second;
  call_course& c = *r.course;
  if (!up() || core_.ending())
    return fail_soon(t, rpc::call_outcome::lost(errc::unavailable, who() + " ended before it got its input"));
  r.call.params = c.params;
  if (!c.inputs.empty() || c.state) {
    auto params = json::raw_object::open(c.params ? c.params : json::raw_json::literal("{}"));
    if (!params) return fail_soon(t, rpc::call_outcome::lost(params.error().code, "cannot be repeated"));
    std::string answers = "{";
    for (const auto& input : std::exchange(c.inputs, {}))
      answers +=
          (answers.size() == 1 ? "" : ",") + json::json_quoted(input.key) + ":" + std::string(input.answer.text());
    if (answers.size() > 1)
      params->set("inputResponses", json::raw_json::own(answers + "}"));
    else
      params->erase("inputResponses");
    if (c.state)
      params->set("requestState", c.state);
    else
      params->erase("requestState");
    r.call.params = params->json();
    r.call.meta.reset();
    c.state = {};
  }
  const time_point now = context_.time.now();
  const auto number = send(t, r, {r.limits.idle, left(c.hard_at, now)}, now);
  if (!number) return fail_soon(t, rpc::call_outcome::lost(number.error().code, number.error().message));
  arm_for(session_->next_time());
}

}  // namespace mcpbx::mcp::supervise
