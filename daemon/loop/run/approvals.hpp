// The approvals of persons in one run: which calls need one, the questions that are open, and what answers mean.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/loop/tools/tool_offer.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/policy/policy.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mcpbx::daemon {

/// Belongs to one run. It writes nothing and tells nobody: what it returns is to be recorded.
class approvals {
 public:
  /// Data and services that decisions depend on; all of them must outlive this.
  struct subject {
    const run_core& core;
    const run_request& request;
    const run_feed& feed;
    tool_offer& offer;
    const terms_ptr& entries;  ///< terms of the servers in the configuration; null: none
    tool_source& tools;
    time_source& time;
    random_source& random;
  };
  /// `expired` hears the ids of questions that nobody has answered in time.
  approvals(subject of, std::function<void(std::string question)> expired) : of_(of), expired_(std::move(expired)) {}

  struct judged_call {
    decision says;
    tool_facts facts;
    mcp::catalog_ptr present;  ///< keeps what `facts` views
  };
  /// Decides about an open call of this tool of the offer, by the rules of the run and by the catalog of this moment.
  judged_call judge(const providers::tool_call_block& call, const mcp::catalog_entry& tool);
  /// The question about such a call, bound to its tool and arguments.
  record::question question(const providers::tool_call_block& call, const mcp::catalog_entry& tool, rule wanted_by);

  /// An earlier process has asked this: it has what is left of its time only.
  void asked_before(const std::string& question) { asked_before_.insert(question); }
  /// The question is recorded: its time runs. Nothing where it has been answered meanwhile.
  void ask(const record::question& q);
  /// Returns the records of an answer; `always` answers other questions too. nullopt: no such question is open.
  std::optional<std::vector<run_record>> answer(const std::string& question, const raw_json& body, bool expired);
  /// Returns the records that refuse the open questions, because nobody who follows the run can answer any more: its
  /// readers would wait for nothing. None if somebody can meanwhile.
  std::vector<run_record> nobody_answers();
  /// No question's time runs any more.
  void forget_questions() { questions_.clear(); }
  /// Returns the rest of the time for an answer that may come until then, at most questionTimeoutMs. Goes by the wall
  /// clock, which alone goes on while there is no process.
  milliseconds left_until(std::int64_t expires_ms) const;

 private:
  struct open_question {
    std::string id;
    std::unique_ptr<timer> limit;
  };
  tool_facts facts_for(const mcp::catalog_entry& tool, const mcp::catalog& present);
  bool reachable() const { return of_.feed.kept() || of_.feed.answers(); }
  bool model_saw_output();

  subject of_;
  std::function<void(std::string)> expired_;
  std::vector<open_question> questions_;
  std::unordered_set<std::string> asked_before_;
  std::size_t looked_at_ = 0;  // of the messages, for output of tools
  bool saw_output_ = false;    // there was some
};

}  // namespace mcpbx::daemon
