// Defaults, overlay and ceiling of loop settings. The numbers go by loop_numbers(), the other members by a list here.
#include "conf/model/loop_levels.hpp"

namespace mcpbx::conf {
namespace {

template <class F>
void each_other(F f) {
  using l = loop_settings;
  f(&l::on_limit);
  f(&l::on_tool_error);
  f(&l::round_prompts);
  f(&l::status);
  f(&l::status_model);
  f(&l::guidance);
  f(&l::approve_destructive);
  f(&l::approve_after_output);
  f(&l::mark_results);
  f(&l::empty_result_text);
}

}  // namespace

loop_settings default_loop() {
  loop_settings l;
  const settled_counts usual;
  for (const auto& n : loop_numbers())
    if (!n.zero_is_none || usual.*n.settled != 0) l.*n.open = usual.*n.settled;
  l.on_limit = limit_policy::synthesize;
  l.on_tool_error = tool_error_policy::go_on;
  l.round_prompts = round_prompt_mode::implicit;
  l.status = status_mode::names;
  l.guidance = true;
  l.empty_result_text = "No relevant content found";
  return l;
}

void overlay(loop_settings& base, const loop_settings& over) {
  for (const auto& n : loop_numbers())
    if (over.*n.open) base.*n.open = over.*n.open;
  each_other([&](auto member) {
    if (over.*member) base.*member = over.*member;
  });
  for (const auto text : {&round_prompt_texts::first, &round_prompt_texts::middle, &round_prompt_texts::last})
    if (over.round_texts.*text) base.round_texts.*text = over.round_texts.*text;
}

void cap(loop_settings& settings, const loop_settings& max) {
  for (const auto& n : loop_numbers()) {
    const auto most = n.ceiling(max), value = settings.*n.open;
    if (most && (!value || n.exceeds(*value, *most))) settings.*n.open = most;
  }
}

}  // namespace mcpbx::conf
