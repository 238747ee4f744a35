// See chat_params.hpp. The ranges are those of the configuration's `loop`, and 0 where it means "no limit".
#include "daemon/front/chat_params.hpp"

#include "daemon/loop/message_json.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace mcpbx::daemon {
namespace {

using mcp::param_reader;

constexpr std::int64_t week_ms = 7LL * 24 * 3600 * 1000;
constexpr std::size_t longest_name = 128;

/// Takes one number. `unlimited`: 0 is allowed and means no limit, which a ceiling lowers too.
template <class Number>
void take(param_reader& in, std::string_view key, Number& into, std::int64_t least, std::int64_t most,
          std::optional<std::int64_t> ceiling, bool unlimited = false) {
  if (const auto given = in.integer(key, unlimited ? 0 : least, most)) into = static_cast<Number>(*given);
  if (!ceiling) return;
  if ((unlimited && into == 0) || static_cast<std::int64_t>(into) > *ceiling) into = static_cast<Number>(*ceiling);
}

void later(param_reader& in, std::string_view key, std::string_view what) {
  if (in.any(key)) in.wrong(key, std::string(what) + " not in this version of mcpbx; leave the member out");
}

void read_limits(param_reader& in, run_limits& l, const limit_ceiling& max) {
  static constexpr std::array<std::string_view, 2> limit_words{"synthesize", "stop"}, error_words{"continue", "stop"};
  constexpr std::int64_t mib = 1 << 20;
  take(in, "maxRounds", l.max_rounds, 0, 100'000, max.max_rounds);
  take(in, "maxCallsPerRound", l.max_calls_per_round, 1, 10'000, max.max_calls_per_round);
  take(in, "maxCalls", l.max_calls, 1, 1'000'000, max.max_calls);
  take(in, "maxConsecutiveErrors", l.max_consecutive_errors, 1, 1'000, max.max_consecutive_errors, true);
  take(in, "maxRepeatedCalls", l.max_repeated_calls, 1, 1'000, max.max_repeated_calls, true);
  take(in, "toolConcurrency", l.tool_concurrency, 1, 1'024, max.tool_concurrency);
  take(in, "timeoutMs", l.timeout_ms, 1, week_ms, max.timeout_ms);
  take(in, "questionTimeoutMs", l.question_timeout_ms, 1, week_ms, max.question_timeout_ms);
  take(in, "tokenBudget", l.token_budget, 1, 1'000'000'000, max.token_budget, true);
  take(in, "maxResultBytes", l.max_result_bytes, 256, 64 * mib, max.max_result_bytes);
  if (const auto w = in.word("onLimit", limit_words)) l.on_limit = *w == 0 ? on_limit::synthesize : on_limit::stop;
  if (const auto w = in.word("onToolError", error_words))
    l.on_tool_error = *w == 0 ? on_tool_error::go_on : on_tool_error::stop;
  if (auto text = in.text("emptyResultText")) {
    if (text->empty()) in.wrong("emptyResultText", "expected a text, got \"\"");
    l.empty_result_text = std::move(*text);
  }
  static constexpr std::array<std::string_view, 1> prompts{"implicit"};
  in.word("roundPrompts", prompts);
  later(in, "statusModel", "a model of its own for status lines is");
  later(in, "guidance", "guidance per request is");
}

void read_status(param_reader& in, run_limits& l) {
  static constexpr std::array<std::string_view, 3> words{"off", "names", "model"};
  if (const auto w = in.word("status", words)) l.status = static_cast<status_mode>(*w);
}

void read_messages(param_reader& in, run_request& r) {
  const bool has_input = in.has("input"), has_messages = in.has("messages");
  if (auto text = in.text("input")) {
    if (text->find_first_not_of(" \t\r\n") == std::string::npos)
      in.wrong("input", "expected a question, got blanks only");
    r.messages.push_back(providers::user_message(std::move(*text)));
  }
  const raw_json list = in.array("messages");
  // A session alone: the run goes on with a question that waits for an answer there.
  if (!has_input && !has_messages && in.has("session")) return;
  if (has_input == has_messages)
    return in.wrong("", has_input ? "expected either input or messages, got both"
                                  : "expected input (a string) or messages (an array)");
  std::size_t index = 0;
  for_each_element(list, [&](const raw_json& element) {
    auto m = read_message(element);
    if (m)
      r.messages.push_back(std::move(*m));
    else
      in.wrong("messages[" + std::to_string(index) + "]", m.error().message);
    ++index;
    return !in.failed();
  });
  if (has_messages && !in.failed() && (r.messages.empty() || r.messages.back()->role != providers::role::user))
    in.wrong("messages", "expected the last one to be of role user");
}

void read_names(param_reader& in, run_request& r) {
  if (auto model = in.text("model", 512)) {
    if (model->starts_with("profile:"))
      in.wrong("model", "profiles are not in this version of mcpbx; name a model of the configuration");
    else if (model->empty())
      in.wrong("model", "expected the name of a model, got \"\"");
    r.model = std::move(*model);
  }
  if (auto run = in.text("run", longest_name)) {
    if (run->empty() || printable(*run) != *run) in.wrong("run", "expected a name of 1 to 128 printable bytes");
    r.run = std::move(*run);
  }
  if (auto session = in.text("session", longest_name)) {
    if (session->empty()) in.wrong("session", "expected the id of a session, got \"\"");
    r.session = std::move(*session);
  }
  if (auto system = in.text("system")) r.system = std::move(*system);
  if (auto tools = in.texts("tools")) {
    r.tools = std::move(*tools);
    // An empty list asks for no tools, but a run takes it for all of them; no tool has an empty name.
    if (r.tools.empty()) r.tools.emplace_back();
  }
}

}  // namespace

run_request read_chat(param_reader& in, const chat_defaults& defaults) {
  run_request r;
  read_messages(in, r);
  read_names(in, r);
  r.stream = in.boolean("stream").value_or(true);
  r.limits = defaults.limits(r.model);
  const raw_json given = in.object("limits");
  param_reader limits = in.inside(given.empty() ? raw_json::literal("{}") : given, ".limits");
  read_limits(limits, r.limits, defaults.ceiling);
  // `status` is a key of `loop` and a field of the request; the field is the nearer one.
  read_status(limits, r.limits);
  read_status(in, r.limits);
  (void)limits.finish();
  static constexpr std::array<std::string_view, 3> approvals{"all", "ask", "none"};
  if (const auto w = in.word("approve", approvals); w && *w != 0)
    in.wrong("approve",
             "questions about tool calls are not in this version of mcpbx; only \"all\" is possible, "
             "and \"tools\" narrows what the model may call");
  later(in, "profile", "profiles are");
  later(in, "clientTools", "tools of the caller's own are");
  later(in, "responseFormat", "response formats are");
  if (in.boolean("detach").value_or(false))
    in.wrong("detach", "runs that go on without their caller are not in this version of mcpbx; leave the member out");
  return r;
}

}  // namespace mcpbx::daemon
