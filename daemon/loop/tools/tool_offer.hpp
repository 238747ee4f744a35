// Tools that one run offers its model, from round to round.
#pragma once
#include "daemon/loop/tools/kept_names.hpp"
#include "daemon/loop/tools/round_tools.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/policy/past_names.hpp"
#include "daemon/store/records/record.hpp"
#include "daemon/store/records/tool_choice.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "providers/model/message.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::tools {

/// Holds the tools of one run: those of the catalog, the caller's own, and mcpbx__read_result.
class tool_offer {
 public:
  /// `own`: the caller's tools. The references must stay valid; `choice` may change until the first take().
  tool_offer(round_tools& shared, tool_source& from, const stored::tool_choice& choice,
             std::vector<mcp::catalogs::entry_ptr> own)
      : shared_(shared), from_(from), choice_(choice), own_(std::move(own)) {}

  /// Restores the tools behind names of earlier rounds and runs, like kept_names::restore().
  void restore(std::span<const stored::record::meant_tool> tools) { names_.restore(tools); }
  /// Takes the tools of the present catalog for `model`. `asked`: the run's messages, of which the first call reads the
  /// last question. `reads`: some result was cut, so mcpbx__read_result is offered.
  void take(const providers::model& model, std::span<const providers::message_ptr> asked, bool reads);

  /// Returns the present offer; null before the first take().
  const offered_ptr& now() const noexcept { return now_; }
  /// Returns the tool with this name for the model, or null. Call it after the first take().
  const mcp::catalogs::catalog_entry* find(std::string_view name) const { return now_->find(name); }
  const std::vector<mcp::catalogs::entry_ptr>& own() const noexcept { return own_; }
  /// Returns the names that a tool had when the run began, for a run resumed after a restart. Null: the same as now, or
  /// unknown.
  const policy::past_names::names* known_then(const mcp::catalogs::catalog_entry& tool);
  /// Returns the reply with the tools behind the names of its calls, for restarts and later runs of the session, and
  /// with serial groups: one for the serial tools of each server, numbered from 1 in order of appearance.
  stored::record::assistant with_tools(stored::record::assistant reply) const;

 private:
  round_tools& shared_;
  tool_source& from_;
  const stored::tool_choice& choice_;
  std::vector<mcp::catalogs::entry_ptr> own_;
  mcp::catalogs::catalog_ptr catalog_;
  std::optional<question_words> question_;  // read once, so that the selected tools stay the same in all rounds
  offered_ptr now_, base_;                  // base_: only the tools of the catalog
  bool reads_ = false;                      // now_ has mcpbx__read_result
  kept_names names_;                        // names that the model has read
  policy::past_names past_;                 // earlier names of the tools in past_of_
  mcp::catalogs::catalog_ptr past_of_;
};

}  // namespace mcpbx::daemon::tools
