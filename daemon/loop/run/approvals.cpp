// Collects the facts that daemon/policy decides on, and builds the questions and answers of approvals.
#include "daemon/loop/run/approvals.hpp"

#include "daemon/guard/approval_seal.hpp"
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/results/read_result.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/loop/tools/caller_tools.hpp"
#include "mcp/protocol/questions/elicitation.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::daemon::run {

policy::tool_facts approvals::facts_for(const mcp::catalogs::catalog_entry& tool,
                                        const mcp::catalogs::catalog& present) {
  auto facts = policy::facts_of(tool);
  facts.of_a_server = !tools::is_caller_tool(tool) && !results::read_result::is(tool);
  if (!facts.of_a_server) return facts;
  facts.then = of_.offer.known_then(tool);
  facts.withheld = present.find_withheld(tool.listed_name());
  const auto now = present.find(tool.listed_name());
  facts.changed = !now || !guard::same_tool(*now, tool);
  return facts;
}

approvals::judged_call approvals::judge(const providers::tool_call_block& call,
                                        const mcp::catalogs::catalog_entry& tool) {
  const auto& request = of_.request;
  const auto& limits = request.limits;
  const policy::calling_run who{
      .rules = {.entries = of_.entries,
                .profile = request.approve,
                .then = request.tools.beside.get(),
                .destructive = limits.approve_destructive,
                .after_output = limits.approve_after_output && model_saw_output()},
      .mode = limits.approve,
      .reachable = reachable(),
      .ending = of_.core.ending(),
      .approved =
          [&](const json::raw_json& arguments) {
            const auto seal = guard::seal_of(tool, arguments);
            return of_.core.approved(call.id, seal.tool, seal.arguments);
          },
  };
  judged_call judged;
  judged.present = of_.tools.snapshot();
  judged.facts = facts_for(tool, *judged.present);
  judged.says = policy::decide(who, judged.facts, call.arguments);
  return judged;
}

// Returns true if the conversation has, or once had, tool results, also from the session or the request, or if its
// system prompt has words of tool servers. They may have influenced all later answers. Checks each message once.
bool approvals::model_saw_output() {
  const auto& all = of_.core.facts().messages;
  for (; !saw_output_ && looked_at_ < all.size(); ++looked_at_)
    saw_output_ = all[looked_at_]->role == providers::role::tool_results || all[looked_at_]->has_foreign_text();
  return saw_output_;
}

stored::record::question approvals::question(const providers::tool_call_block& call,
                                             const mcp::catalogs::catalog_entry& tool, policy::rule wanted_by) {
  const auto why = loop::words::wants_approval(wanted_by);
  auto seal = guard::seal_of(tool, call.arguments);
  stored::record::question q;
  q.id = "q_" + hex(of_.random.next(), 16);
  q.kind = "approval";
  q.call_id = call.id;
  q.body = event_json::approval(tool, call.arguments,
                                of_.core.approved_otherwise(call.id) ? loop::words::asked_anew(why) : std::string(why));
  q.tool_sha256 = std::move(seal.tool);
  q.arguments_sha256 = std::move(seal.arguments);
  q.expires_ms = of_.time.wall_ms() + of_.request.limits.question_timeout_ms;
  return q;
}

milliseconds approvals::left_until(std::int64_t expires_ms) const {
  return milliseconds(
      std::clamp<std::int64_t>(expires_ms - of_.time.wall_ms(), 0, of_.request.limits.question_timeout_ms));
}

void approvals::ask(const stored::record::question& q) {
  if (!of_.core.find_question(q.id)) return;
  const auto left =
      asked_before_.contains(q.id) ? left_until(q.expires_ms) : milliseconds(of_.request.limits.question_timeout_ms);
  auto limit = of_.time.make_timer();
  limit->arm(of_.time.now() + left, [this, id = q.id] { expired_(id); });
  questions_.push_back({q.id, std::move(limit)});
}

std::optional<std::vector<stored::run_record>> approvals::answer(const std::string& question,
                                                                 const json::raw_json& body, bool expired) {
  const auto* open = of_.core.find_question(question);
  if (!open) return std::nullopt;
  std::vector<std::string> answered{question};
  if (json::find_member(body, "approve").is_true() && json::find_member(body, "always").is_true())
    for (auto& id : of_.core.covered_by(*open)) answered.push_back(std::move(id));
  // The server of a call hears that nobody has answered, so the run need not end for it.
  const bool unattended = expired && !open->during_call && !of_.feed.answers();
  const auto said = expired && open->kind == "input" ? mcp::questions::input_answer("cancel") : body;
  std::vector<stored::run_record> batch;
  for (auto& id : answered) {
    forget(id);
    batch.emplace_back(stored::record::answer{std::move(id), said, expired, unattended, false});
  }
  return batch;
}

void approvals::forget(std::string_view question) {
  std::erase_if(questions_, [&](const auto& q) { return q.id == question; });
}

std::vector<stored::run_record> approvals::nobody_answers() {
  std::vector<stored::run_record> batch;
  if (reachable()) return batch;
  for (const auto* q : of_.core.questions())
    batch.emplace_back(stored::record::answer{
        q->id, q->kind == "input" ? mcp::questions::input_answer("decline") : json::raw_json(), true, false, true});
  questions_.clear();
  return batch;
}

}  // namespace mcpbx::daemon::run
