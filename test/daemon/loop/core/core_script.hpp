// Runs without a shell: a run_core driven by hand, its commands as text, and the rules for every finished run.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run_words.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::test {

using mcpbx::test::contains;

inline std::string print(const core::run_command& c) {
  struct printer {
    std::string operator()(const core::command::begin_round& x) const {
      return "begin_round " + std::to_string(x.depth) + (x.with_tools ? "" : " without tools");
    }
    std::string operator()(const core::command::call_model& x) const {
      return "call_model " + std::to_string(x.depth) + (x.with_tools ? "" : " without tools");
    }
    std::string operator()(const core::command::intend_calls& x) const {
      std::string all = "intend_calls";
      for (const auto& id : x.call_ids) all += " " + id;
      return all;
    }
    std::string operator()(const core::command::run_call& x) const { return "run_call " + x.call_id; }
    std::string operator()(const core::command::ask& x) const { return "ask " + x.question.call_id; }
    std::string operator()(const core::command::pass_answer& x) const { return "pass_answer " + x.question.id; }
    std::string operator()(const core::command::park& x) const {
      std::string all = "park";
      for (const auto& id : x.call_ids) all += " " + id;
      return all;
    }
    std::string operator()(const core::command::hand_over&) const { return "hand_over"; }
    std::string operator()(const core::command::cancel_open&) const { return "cancel_open"; }
    std::string operator()(const core::command::close_call& x) const {
      return "close_call " + x.call_id + " " + std::string(stored::record::to_string(x.cause));
    }
    std::string operator()(const core::command::end& x) const {
      return "end " + std::string(stored::to_string(x.reason));
    }
  };
  return std::visit(printer{}, c);
}

inline std::vector<std::string> print(const std::vector<core::run_command>& all) {
  std::vector<std::string> lines;
  for (const auto& c : all) lines.push_back(print(c));
  return lines;
}

using lines = std::vector<std::string>;

inline providers::tool_call_block call(std::string id, std::string name = "lookup", std::string arguments = "") {
  providers::tool_call_block c;
  c.id = std::move(id);
  c.name = std::move(name);
  c.arguments_text = arguments.empty() ? "{\"of\":\"" + c.id + "\"}" : std::move(arguments);
  c.arguments = mcpbx::json::raw_json::own(c.arguments_text);
  return c;
}

inline stored::record::assistant reply(std::string text, std::vector<providers::tool_call_block> calls = {},
                                       providers::end_reason reason = providers::end_reason::stop) {
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::assistant;
  if (!text.empty()) m->blocks.emplace_back(providers::text_block{std::move(text)});
  for (auto& c : calls) m->blocks.emplace_back(std::move(c));
  if (!calls.empty() && reason == providers::end_reason::stop) reason = providers::end_reason::tool_calls;
  stored::record::assistant r;
  r.message = std::move(m);
  r.reason = reason;
  r.usage = {10, 5, 2, 0, 0, false};
  return r;
}

inline stored::record::run_started opening(stored::run_limits limits = {}) {
  stored::record::run_started r;
  r.run = "r";
  r.model = "m";
  r.messages = {providers::system_message("be brief"), providers::user_message("go")};
  r.limits = std::move(limits);
  return r;
}

inline mcpbx::json::raw_json text_result(std::string_view text) {
  return mcpbx::json::raw_json::own(R"({"content":[{"type":"text","text":)" + mcpbx::json::json_quoted(text) + "}]}");
}
inline stored::record::call_result answered(std::string id, std::string_view text = "fine") {
  return {std::move(id), text_result(text), false, stored::record::result_cause::server, 3};
}
inline stored::record::call_result failed(std::string id, std::string_view text = "broken") {
  return {std::move(id), loop::words::error_result(text), true, stored::record::result_cause::server, 3};
}

/// A run_core and all records given to it. Carries out the commands that need no answer from outside.
struct script {
  core::run_core core;
  std::vector<stored::run_record> records;
  std::vector<lines> started;  // commands after each record
  std::deque<core::run_command> todo;
  bool model_open = false;
  std::vector<std::string> running;
  std::vector<std::string> asked;   // ids of open questions
  std::vector<std::string> passed;  // ids of questions whose answers their servers got
  bool handed_over = false;

  explicit script(stored::run_limits limits = {}) { take(opening(std::move(limits))); }
  /// Resumes after a crash that left these records.
  explicit script(std::vector<stored::run_record> left) : records(std::move(left)) {
    for (const auto& r : records) core.apply(r);
    core.resume();
    handed_over = core.facts().parked;
    for (const auto& c : core.commands()) todo.push_back(c);
  }

  void take(stored::run_record r) {
    if (std::holds_alternative<stored::record::cancel>(r)) todo.clear();
    records.push_back(std::move(r));
    core.apply(records.back());
    started.push_back(print(core.commands()));
    for (const auto& c : core.commands()) todo.push_back(c);
  }

  /// Carries out the next command as the shell would. The tool's name decides about a call: "unknown*" is refused
  /// without an intent, "guarded" needs approval, "mine" is a tool of the caller.
  void carry_out_one() {
    const auto next = std::move(todo.front());
    todo.pop_front();
    if (const auto* begin = std::get_if<core::command::begin_round>(&next)) {
      take(stored::record::round_started{begin->depth, "m", begin->with_tools, 0});
    } else if (std::holds_alternative<core::command::call_model>(next)) {
      model_open = true;
    } else if (const auto* intend = std::get_if<core::command::intend_calls>(&next)) {
      for (const auto& id : intend->call_ids) {
        const bool asks = core.find_call(id)->name == "guarded" && !core.approved(id, "t", "a");
        if (core.stopped_before(id) || (asks && core.ending())) {
          take(core::closing_record(
              {id, stored::record::result_cause::refused, std::string(loop::words::stopped_at_failure)}));
        } else if (core.find_call(id)->name.starts_with("unknown")) {
          take(core::closing_record({id, stored::record::result_cause::unknown_tool, "there is no such tool"}));
        } else if (asks) {
          stored::record::question q;
          q.id = "q_" + id;
          q.kind = "approval";
          q.call_id = id;
          q.body = mcpbx::json::raw_json::literal("{}");
          q.tool_sha256 = "t";
          q.arguments_sha256 = "a";
          take(q);
        } else {
          stored::record::call_intent intent;
          intent.to_caller = core.find_call(id)->name == "mine";
          intent.call_id = id;
          intent.name = core.find_call(id)->name;
          intent.server = "srv";
          take(intent);
        }
      }
    } else if (const auto* run = std::get_if<core::command::run_call>(&next)) {
      running.push_back(run->call_id);
    } else if (const auto* ask = std::get_if<core::command::ask>(&next)) {
      asked.push_back(ask->question.id);
    } else if (const auto* pass = std::get_if<core::command::pass_answer>(&next)) {
      passed.push_back(pass->question.id);
    } else if (const auto* park = std::get_if<core::command::park>(&next)) {
      take(stored::record::parked{park->call_ids, 0});
    } else if (std::holds_alternative<core::command::hand_over>(next)) {
      handed_over = true;
    } else if (std::holds_alternative<core::command::cancel_open>(next)) {
      model_open = false;
      handed_over = false;
      running.clear();
      asked.clear();
    } else if (const auto* close = std::get_if<core::command::close_call>(&next)) {
      std::erase(running, close->call_id);
      std::erase(asked, "q_" + close->call_id);
      std::erase(asked, "d_" + close->call_id);
      take(core::closing_record(*close));
    } else if (const auto* end = std::get_if<core::command::end>(&next)) {
      take(stored::record::run_ended{end->reason, end->text});
    }
  }
  void settle() {
    while (!todo.empty()) carry_out_one();
  }

  /// Gives the model's reply. Like all functions below, it also carries out everything that follows from its event.
  script& model(stored::record::assistant r) {
    settle();
    REQUIRE(model_open);
    model_open = false;
    take(std::move(r));
    settle();
    return *this;
  }
  script& fails(providers::model_error e) {
    settle();
    REQUIRE(model_open);
    model_open = false;
    take(stored::record::model_failed{std::move(e), 1});
    settle();
    return *this;
  }
  script& answer(stored::record::call_result r) {
    settle();
    REQUIRE(std::erase(running, r.call_id) == 1);
    take(std::move(r));
    settle();
    return *this;
  }
  /// Lets the server of a running call ask a question, by default with the id d_CALL.
  script& asks(const std::string& call, std::string id = "", std::string kind = "input") {
    settle();
    take(during(call, std::move(id), std::move(kind)));
    settle();
    return *this;
  }
  static stored::record::question during(const std::string& call, std::string id = "", std::string kind = "input") {
    stored::record::question q;
    q.id = id.empty() ? "d_" + call : std::move(id);
    q.kind = std::move(kind);
    q.call_id = call;
    q.body = mcpbx::json::raw_json::literal(R"({"server":"srv","tool":"srv__sampling/createMessage"})");
    q.tool_sha256 = "t";
    q.during_call = true;
    return q;
  }
  script& says(const std::string& question, bool approve, bool always = false) {
    settle();
    REQUIRE(std::erase(asked, question) == 1);
    take(stored::record::answer{
        question,
        mcpbx::json::raw_json::own(std::string(approve ? R"({"approve":true)" : R"({"approve":false)") +
                                   (always ? R"(,"always":true})" : "}")),
        false});
    settle();
    return *this;
  }
  script& expires(const std::string& question) {
    settle();
    REQUIRE(std::erase(asked, question) == 1);
    take(stored::record::answer{question, {}, true});
    settle();
    return *this;
  }
  /// Gives the caller's results of all calls that were handed over.
  script& gives(std::string_view text = "mine") {
    settle();
    REQUIRE(std::exchange(handed_over, false));
    std::vector<std::string> ids;
    for (auto id : core.handed()) ids.emplace_back(id);
    for (auto& id : ids) take(stored::record::caller_result{std::move(id), text_result(text)});
    settle();
    return *this;
  }
  script& cancel(stored::stop_reason why = stored::stop_reason::cancelled, std::string text = "") {
    settle();
    take(stored::record::cancel{why, std::move(text)});
    settle();
    return *this;
  }
};

/// Returns a fault in a conversation, or "". Each assistant message with calls must be followed by one message with
/// exactly one result per call, in call order; no other results are allowed.
inline std::string fault_of(const std::vector<providers::message_ptr>& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& m = *messages[i];
    const auto calls = m.calls();
    const bool results = m.role == providers::role::tool_results;
    if (m.blocks.empty()) return "an empty message";
    if (results && (i == 0 || messages[i - 1]->calls().empty())) return "results without calls";
    if (calls.empty()) continue;
    if (m.role != providers::role::assistant) return "calls of somebody else";
    if (i + 1 == messages.size() || messages[i + 1]->role != providers::role::tool_results)
      return "calls without results";
    const auto& next = *messages[i + 1];
    if (next.blocks.size() != calls.size()) return "not one result per call";
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const auto* r = std::get_if<providers::tool_result_block>(&next.blocks[k]);
      if (!r || r->call_id != calls[k]->id) return "results out of order";
      if (!r->result.is_object()) return "a result that is no object";
    }
  }
  return {};
}

/// Returns the id of a call that was begun after a failed call of the same reply in a run that stops at its first
/// failure, or "".
inline std::string begun_behind_a_failure(const std::vector<stored::run_record>& records) {
  const auto* started = std::get_if<stored::record::run_started>(&records.front());
  if (!started || started->limits.on_tool_error != stored::tool_error_policy::stop) return {};
  std::vector<const providers::tool_call_block*> level;
  std::set<std::string> failures;
  for (const auto& r : records) {
    if (const auto* a = std::get_if<stored::record::assistant>(&r)) level = a->message->calls();
    if (const auto* done = std::get_if<stored::record::call_result>(&r); done && done->is_error)
      failures.insert(done->call_id);
    const auto* intent = std::get_if<stored::record::call_intent>(&r);
    for (std::size_t i = 0; intent && i < level.size() && level[i]->id != intent->call_id; ++i)
      if (failures.contains(level[i]->id)) return intent->call_id;
  }
  return {};
}

/// Returns a fault in the records of a finished run, or "".
inline std::string fault_of(const std::vector<stored::run_record>& records) {
  if (const auto id = begun_behind_a_failure(records); !id.empty()) return id + " was begun behind a failure";
  std::map<std::string, int> results;
  std::size_t ends = 0;
  for (const auto& r : records) {
    if (const auto* a = std::get_if<stored::record::assistant>(&r))
      for (const auto* c : a->message->calls()) results.emplace(c->id, 0);
    if (const auto* done = std::get_if<stored::record::call_result>(&r)) ++results[done->call_id];
    if (const auto* given = std::get_if<stored::record::caller_result>(&r)) ++results[given->call_id];
    if (std::holds_alternative<stored::record::run_ended>(r)) ++ends;
  }
  for (const auto& [id, count] : results)
    if (count != 1) return id + " has " + std::to_string(count) + " results";
  if (ends != 1 || !std::holds_alternative<stored::record::run_ended>(records.back())) return "not one end";
  return {};
}

/// Returns a run_core that has applied the first `count` records.
inline core::run_core fold(const std::vector<stored::run_record>& records, std::size_t count) {
  core::run_core core;
  for (std::size_t i = 0; i < count; ++i) core.apply(records[i]);
  return core;
}

}  // namespace mcpbx::daemon::test
