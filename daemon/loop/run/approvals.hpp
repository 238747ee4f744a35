// Approvals of tool calls by people in one run: decides which calls need one, keeps the time limits of all open
// questions, also of those that servers ask, and turns answers into records.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/loop/tools/tool_offer.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/policy/policy.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::run {

/// Belongs to one run. Writes and sends nothing itself: the run records the questions and answers that it returns.
class approvals {
 public:
  /// Data and services that the decisions use. All of them must outlive this object.
  struct subject {
    const core::run_core& core;
    const run_request& request;
    const run_feed& feed;
    tools::tool_offer& offer;
    const policy::terms_ptr& entries;  ///< approval rules of the configured servers; null: none
    tools::tool_source& tools;
    time_source& time;
    random_source& random;
  };
  /// `expired` is called with the id of each question that was not answered in time.
  approvals(subject of, std::function<void(std::string question)> expired) : of_(of), expired_(std::move(expired)) {}

  struct judged_call {
    policy::decision says;
    policy::tool_facts facts;
    mcp::catalogs::catalog_ptr present;  ///< owns the data that `facts` refers to
  };
  /// Decides whether an open call of this offered tool is allowed, denied or needs an approval, by the rules of the run
  /// and the present catalog.
  judged_call judge(const providers::tool_call_block& call, const mcp::catalogs::catalog_entry& tool);
  /// Returns the question about such a call, bound by hashes to its tool and arguments. `wanted_by`: the rule to name.
  stored::record::question question(const providers::tool_call_block& call, const mcp::catalogs::catalog_entry& tool,
                                    policy::rule wanted_by);

  /// Notes that an earlier process has asked this question, so that ask() grants it only the rest of its time.
  void asked_before(const std::string& question) { asked_before_.insert(question); }
  /// Starts the time limit of a question. To be called when the question is recorded. Ignored if it was answered.
  void ask(const stored::record::question& q);
  /// Returns the records of an answer; one with `always` also answers the other open questions about the same tool.
  /// `expired`: the time is up and nobody answered. nullopt: no such question is open.
  std::optional<std::vector<stored::run_record>> answer(const std::string& question, const json::raw_json& body,
                                                        bool expired);
  /// Returns the records that refuse all open questions, because no reader of the run can answer them any more. Empty
  /// if a reader can, or if the run is detached.
  std::vector<stored::run_record> nobody_answers();
  /// Stops the time limit of one question, which its server does not ask any more.
  void forget(std::string_view question);
  /// Stops the time limits of all questions.
  void forget_questions() { questions_.clear(); }
  /// Returns the time left until `expires_ms` (ms since 1970), between 0 and questionTimeoutMs. Uses the wall clock,
  /// because the time between two processes counts.
  milliseconds left_until(std::int64_t expires_ms) const;

 private:
  struct open_question {
    std::string id;
    std::unique_ptr<timer> limit;
  };
  policy::tool_facts facts_for(const mcp::catalogs::catalog_entry& tool, const mcp::catalogs::catalog& present);
  bool reachable() const { return of_.feed.kept() || of_.feed.answers(); }
  bool model_saw_output();

  subject of_;
  std::function<void(std::string)> expired_;
  std::vector<open_question> questions_;
  text_set asked_before_;
  std::size_t looked_at_ = 0;  // number of messages that model_saw_output() has checked
  bool saw_output_ = false;    // one of them holds tool results or words of tool servers
};

}  // namespace mcpbx::daemon::run
