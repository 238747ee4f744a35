// The parts that run questions: models, the journal with its audit, and the runner.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/answers/own_answers.hpp"
#include "daemon/app/base_parts.hpp"
#include "daemon/app/journal/left_runs.hpp"
#include "daemon/app/models/model_lists.hpp"
#include "daemon/app/process/heap_trimmer.hpp"
#include "daemon/app/references/current_configuration.hpp"
#include "daemon/app/request_settings.hpp"
#include "daemon/guard/audit/audit_log.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/http/client/http_client.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace mcpbx::daemon::app {

class run_parts {
 public:
  /// `keeps_by_default`: runs are kept if the configuration does not say; false for a private daemon. All references
  /// must outlive this object.
  run_parts(base_parts& base, blocking_lanes& lanes, http::clients::client& client,
            const references::current_configuration& current, tools::tool_source& tools, bool keeps_by_default);

  /// Sets the function that is called, in a later turn, after a run has ended.
  void on_run_ended(std::function<void()> ended) { run_ended_ = std::move(ended); }

  present_settings& settings() noexcept { return settings_; }
  models::model_lists& lists() noexcept { return model_lists_; }
  audit::audit_log* audit() noexcept { return audit_.get(); }  ///< null: the audit is off
  store::journal& store() noexcept { return *journal_; }
  answers::own_answers& answers() noexcept { return answers_; }
  run::runner& runs() noexcept { return runs_; }
  journals::left_runs& left() noexcept { return left_; }
  /// Returns the converter of tools for models that runs use; sharing it converts each tool only once.
  const tools::tool_adapter& adapter() const noexcept { return adapt_; }

 private:
  tools::tool_adapter adapt_ = tools::schema_adapter();
  present_settings settings_;
  models::model_lists model_lists_;
  std::unique_ptr<audit::audit_log> audit_;
  std::unique_ptr<store::journal> journal_;
  answers::own_answers answers_;
  std::function<void()> run_ended_;
  run::runner runs_;
  journals::left_runs left_;
  process::heap_trimmer heap_;
};

}  // namespace mcpbx::daemon::app
