// Builds the request of a round from the conversation, the offered tools and the limits.
#include "daemon/loop/run/model_calls.hpp"

#include "daemon/loop/run_words.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

namespace mcpbx::daemon::run {

// Sets the tool mode of a call: none, automatic, or the one that the request wants for the first round.
void model_calls::choose_tools(providers::model_request& ask, const core::command::call_model& c) const {
  using providers::tool_mode;
  if (!c.with_tools) {
    ask.tool_mode = tool_mode::none;
    return;
  }
  if (c.depth != 0) return;
  const auto& wanted = of_.request.first_round_tool;
  if (of_.request.first_round == tool_mode::required && !wanted.empty()) {
    ask.required_tool = of_.offer.now()->shown_as(wanted);
    if (ask.required_tool.empty())
      return log::warn("run " + of_.request.run + ": the tool " + json::json_quoted(wanted) +
                       " required in the first round is not offered to the model; no tool call is required");
  }
  ask.tool_mode = of_.request.first_round;
}

void model_calls::prepare() {
  if (!planned_) return;
  const auto c = *std::exchange(planned_, std::nullopt);
  providers::model_request ask;
  ask.messages = of_.facts.messages;
  ask.answer_schema = of_.facts.started.answer_schema;
  ask.settings = of_.facts.started.settings;
  ask.trace = of_.facts.started.trace;
  if (of_.request.limits.timeout_ms > 0) ask.needed_by = of_.time.now() + of_.clock.left();
  if (!of_.offer.now()->set->tools.empty()) {
    ask.tools = of_.offer.now()->set;
    choose_tools(ask, c);
    ask.note = loop::words::round_prompt(of_.facts.limits, of_.facts.rounds, c.depth, c.with_tools);
  }
  open_ = model_->prepare(std::move(ask), events_);
}

void model_calls::begin() {
  prepare();
  began_ = of_.time.now();
  open_->begin();
}

void model_calls::cancel() {
  planned_.reset();
  open_.reset();
}

}  // namespace mcpbx::daemon::run
