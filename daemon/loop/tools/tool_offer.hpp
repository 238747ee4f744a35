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

namespace mcpbx::daemon {

/// Tools of the catalog, the caller's own, and the one that reads on. The last two do not need the catalog.
class tool_offer {
 public:
  /// `own`: the caller's. All else must outlive this; `choice` may change until the first take().
  tool_offer(round_tools& shared, tool_source& from, const tool_choice& choice, std::vector<mcp::entry_ptr> own)
      : shared_(shared), from_(from), choice_(choice), own_(std::move(own)) {}

  /// Restores the meaning of names in the conversation before, as kept_names.
  void restore(std::span<const record::meant_tool> tools) { names_.restore(tools); }
  /// Offers `model` what the catalog has at this moment. `asked`: the messages of the run's question, which are looked
  /// at the first time. `reads`: there is something to read on.
  void take(const providers::model& model, std::span<const providers::message_ptr> asked, bool reads);

  /// Null before the first take().
  const offered_ptr& now() const noexcept { return now_; }
  /// As offered_tools::find, which see.
  const mcp::catalog_entry* find(std::string_view name) const { return now_->find(name); }
  const std::vector<mcp::entry_ptr>& own() const noexcept { return own_; }
  /// The names that a tool had when the run began, before a restart. Null: those of now, or nobody knows.
  const past_names::names* known_then(const mcp::catalog_entry& tool);
  /// The reply with what the names of its calls mean, so that they mean the same after a restart and in later runs of
  /// the session. Calls of the serial tools of one server share a group; groups are numbered in order of appearance.
  record::assistant with_tools(record::assistant reply) const;

 private:
  round_tools& shared_;
  tool_source& from_;
  const tool_choice& choice_;
  std::vector<mcp::entry_ptr> own_;
  mcp::catalog_ptr catalog_;
  std::optional<question_words> question_;  // the choice must not change between rounds
  offered_ptr now_, base_;                  // base_: without the caller's and without ours
  bool reads_ = false;                      // now_ has the tool that reads on
  kept_names names_;                        // those that the model has read
  past_names past_;                         // of the tools in past_of_
  mcp::catalog_ptr past_of_;
};

}  // namespace mcpbx::daemon
