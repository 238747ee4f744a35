// Builds the sentences. Their users decide when each one is sent.
#include "daemon/loop/run_words.hpp"

#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/formatted.hpp"
#include "mcp/support/text.hpp"
#include "providers/wire/api_errors.hpp"

#include <algorithm>

namespace mcpbx::daemon::loop::words {
namespace {

constexpr std::size_t max_title = 80;   // bytes of a server's title on a status line
constexpr std::size_t told_names = 64;  // number of names in the guidance
constexpr std::size_t told_on_unknown = 20;
constexpr std::string_view unable_start = "Unable to complete task: ";
constexpr std::string_view guidance_mark = "You can call tools in this conversation";

constexpr std::string_view first_round =
    "[Round {round}. Rounds in which tools may be called, this one included: {remaining}. If a tool can tell you what "
    "you need to know, call it now.]";
constexpr std::string_view middle_round =
    "[Round {round}. Rounds in which tools may still be called, this one included: {remaining}. Call a tool only for "
    "what is still missing; when nothing is, answer.]";
constexpr std::string_view last_round =
    "[Round {round}, the last one: the result of another tool call would not be read. Answer now from what you know, "
    "and say what is missing.]";

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

std::string shown(std::string_view name, std::string_view title) {
  auto clean = redact::printable(title);
  if (clean.empty()) clean = title_case(redact::printable(name));
  return std::string(cut_utf8(clean, max_title));
}

std::string listed(std::span<const std::string> names, std::size_t most) {
  std::string all;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    if (i) all += ", ";
    all += names[i];
  }
  if (names.size() > most) all += formatted(" and {} more", names.size() - most);
  return all;
}

}  // namespace

std::string title_case(std::string_view name) {
  std::string title;
  bool start = true;
  for (char c : name) {
    if (c == '_' || c == '-' || c == ' ') {
      if (!title.empty() && title.back() != ' ') title += ' ';
      start = true;
      continue;
    }
    title += start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    start = false;
  }
  while (!title.empty() && title.back() == ' ') title.pop_back();
  return title;
}

std::string using_tool(std::string_view name, std::string_view title) {
  return "Using " + shown(name, title) + "...";
}

std::string trying_again(std::string_view name, std::string_view title) {
  return "Trying " + shown(name, title) + " again...";
}

std::string tool_failed(std::string_view name, std::string_view title) {
  return "Tool " + shown(name, title) + " failed, trying alternative approach...";
}

std::string stopped(std::string_view reason_text) {
  if (reason_text.starts_with(unable_start)) reason_text.remove_prefix(unable_start.size());
  return "Stopped: " + std::string(reason_text);
}

std::string unable(std::string_view why) {
  std::string all;
  if (!why.starts_with(unable_start)) all = unable_start;
  all += why;
  if (!all.ends_with('.') && !all.ends_with('!') && !all.ends_with('?')) all += '.';
  return all;
}

std::string who_answered(std::string_view entry, const providers::origin& by) {
  providers::wire::wire_options options;
  options.name = entry;
  options.model = by.model;
  options.base_url = by.endpoint;
  return by.endpoint.empty() ? providers::wire::named(options) : providers::wire::who(options);
}

std::string context_filled(std::string_view model) {
  return formatted(
      "the conversation is too long for the {}: shorten it, begin a new one, or use a model with a larger context",
      model);
}

std::string call_lost(std::string_view model) {
  return formatted(
      "the {} tried to call a tool in a form nobody can read: ask again, and if that goes on, offer fewer tools or use "
      "another model",
      model);
}

std::string cut_at_limit(std::string_view model, std::int64_t asked) {
  if (asked > 0)
    return formatted("the {} was cut off at the {} that the request lets it write: ask for more of them", model,
                     counted(asked, "token"));
  return formatted(
      "the {} was cut off at the limit of its output: raise `maxTokens` of its entry in the configuration, or ask for "
      "less at once",
      model);
}

std::string ended_unknown(std::string_view model, std::string_view reason) {
  constexpr std::size_t max_reason = 100;  // bytes
  return formatted(
      "the {} ended for the reason {}, which is not known here, so it may not be whole: ask again, or use another "
      "model",
      model, json::json_quoted(cut_utf8(redact::printable(reason), max_reason)));
}

std::string filtered(std::string_view model) {
  return formatted("a content filter stopped the {}: ask in other words, or use another model", model);
}

std::string refused(std::string_view model, const providers::message& reply) {
  std::string said;
  for (const auto& b : reply.blocks)
    if (const auto* refusal = std::get_if<providers::refusal_block>(&b); refusal != nullptr && said.empty())
      said = trimmed(refusal->text);
  if (said.empty()) return formatted("the {} refused to answer: ask in other words, or use another model", model);
  const bool whole = said.ends_with('.') || said.ends_with('!') || said.ends_with('?');
  return formatted("the {} refused to answer: {}{} Ask in other words, or use another model", model, said,
                   whole ? "" : ".");
}

json::raw_json error_result(std::string_view text) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("content").begin_array();
  w.begin_object().member("type", "text").member("text", text).end_object().end_array();
  w.member("isError", true).end_object();
  return w.json();
}

std::string guidance(std::span<const std::string> names) {
  return formatted(
      "{}: {}.\n"
      "- Use them one after another where a step needs the result of an earlier one.\n"
      "- If a call fails, try another way before you give up.\n"
      "- If you cannot go on, say why instead of trying for ever.\n"
      "- Stop calling tools when you know enough to answer.",
      guidance_mark, listed(names, told_names));
}

bool has_guidance(std::string_view system) {
  return system.find(guidance_mark) != std::string_view::npos;
}

std::string round_prompt(const stored::run_limits& limits, int round, int depth, bool with_tools) {
  if (limits.round_prompts != stored::round_prompt_mode::progressive || limits.max_rounds == 0) return {};
  const int remaining = with_tools ? limits.max_rounds - depth : 0;
  // With limit_policy::stop no model call follows the last round, so the results of its tools would not be read.
  const bool last = !with_tools || (remaining <= 1 && limits.on_limit == stored::limit_policy::stop);
  const auto& texts = limits.round_texts;
  auto text = last         ? texts.last.value_or(std::string(last_round))
              : depth == 0 ? texts.first.value_or(std::string(first_round))
                           : texts.middle.value_or(std::string(middle_round));
  replace_all(text, "{round}", std::to_string(round));
  replace_all(text, "{remaining}", std::to_string(remaining));
  return text;
}

std::string answer_format(const json::raw_json& schema) {
  return formatted(
      "Your final answer must be one JSON value that fits the JSON Schema below, and nothing else: no words around it, "
      "no "
      "code fence. This holds for the answer only, not for what you say beside tool calls.\n{}",
      schema.text());
}

std::string wrong_answer(std::string_view problem) {
  return formatted(
      "Your answer does not have the form that was asked for:\n{}\nGive the whole answer again as one JSON value that "
      "fits the schema, and nothing else.",
      problem);
}

std::string in_one_line(std::string_view problem) {
  std::string line(problem.substr(problem.starts_with("- ") ? 2 : 0));
  replace_all(line, "\n- ", "; ");
  replace_all(line, "\n", " ");
  return line;
}

std::string unknown_tool(std::string_view name, std::span<const std::string> similar,
                         std::span<const std::string> offered) {
  auto text = formatted("Not executed: there is no tool named \"{}\" here. ", cut_utf8(redact::printable(name), 128));
  if (!similar.empty()) return text + "Similar names: " + listed(similar, told_on_unknown) + ".";
  if (!offered.empty()) return text + "The tools are: " + listed(offered, told_on_unknown) + ".";
  return text + "No tools are available; answer without them.";
}

std::string session_in_use(std::string_view session, std::string_view run) {
  return formatted("the session {} is in use by the run {}; wait for its end, or cancel it", session, run);
}

std::string session_in_use(std::string_view session) {
  return formatted("the session {} is in use; wait for the end of its run", session);
}

std::string goes_on_later(std::string_view run) {
  return "the daemon is stopping; the run " + json::json_quoted(run) +
         " goes on when it is started again, and can be attached to then";
}

std::string goes_on_elsewhere(std::string_view run) {
  return "the run " + json::json_quoted(run) +
         " goes on in another daemon, which has taken it over; attach to it there, or find its answer in its session";
}

std::string_view wants_approval(policy::rule by) {
  if (by == policy::rule::approve_destructive)
    return "nothing says that this tool only reads or leaves intact what is there";
  if (by == policy::rule::approve_after_output)
    return "the model has read what tools returned or their servers wrote, and nothing says that this tool only reads "
           "or leaves intact what is there";
  return "the configuration wants a yes for this tool";
}

std::string not_allowed(const policy::decision& why, std::string_view name, const policy::tool_facts& tool) {
  switch (why.by) {
    case policy::rule::withheld:
      return "Not executed: " + mcp::catalogs::withheld_text(name, *tool.withheld);
    case policy::rule::changed:
      return formatted(
          "Not executed: the server \"{}\" changed its definition of this tool, or where it comes from, and the tool "
          "needs a yes of the user.",
          tool.server);
    case policy::rule::run_is_ending:
      return std::string(stopped_at_failure);
    case policy::rule::nobody_to_ask:
      return "Not executed: this tool needs a yes of the user, and nobody who follows this run can be asked: a "
             "program that answers questions says \"answers\": true in mcpbx/hello or in its request.";
    default:
      return "Not executed: this tool needs a yes of the user, and this run may not ask for one.";
  }
}

std::string input_declined(std::string_view server) {
  return formatted("The tool server \"{}\" asked for input, which was declined: {}", server, nobody_answers);
}

std::string sampling_refused(std::string_view server) {
  return formatted("The tool server \"{}\" asked for a model, which needs a yes: {}", server, nobody_answers);
}

std::string asked_anew(std::string_view why) {
  return "the tool, or where it comes from, has changed since you said yes, and " + std::string(why);
}

std::string not_again(std::string_view why) {
  constexpr std::string_view never = "Not executed: ";
  if (why.starts_with(never)) why.remove_prefix(never.size());
  return "No result: mcpbx was interrupted while this call was running; it may have taken effect. It was not made "
         "again: " +
         std::string(why);
}

std::string span_of(std::int64_t ms) {
  if (ms < 1000) return formatted("{} ms", ms);
  if (ms % 1000 == 0) return formatted("{} s", ms / 1000);
  return formatted("{:.1f} s", static_cast<double>(ms) / 1000.0);
}

}  // namespace mcpbx::daemon::loop::words
