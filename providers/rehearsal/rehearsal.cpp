// Plans a reply: cuts the question into clauses and finds a tool for each. A clause that needs an earlier result waits
// for the next round.
#include "providers/rehearsal/rehearsal.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/arguments.hpp"
#include "providers/rehearsal/fill.hpp"
#include "providers/rehearsal/question_words.hpp"

#include <algorithm>
#include <optional>

namespace mcpbx::providers::rehearsal {
namespace {

constexpr std::string_view notice = "(rehearsal: not a language model; it matched words of your question to tools)";
constexpr std::string_view script_notice = "(rehearsal: not a language model; it plays a script)";
constexpr double least_score = 3;
constexpr std::size_t max_shown_result = 600, max_calls = 8;

struct past_result {
  std::string name, text;
  bool is_error;
};

// The conversation since the last question.
struct situation {
  std::string question;
  std::vector<past_result> results;
  std::size_t rounds = 0;      // assistant messages since the question
  std::size_t all_rounds = 0;  // assistant messages of the whole conversation
  std::size_t all_calls = 0;
};

std::string text_of(const tool_result_block& block) {
  std::string text;
  json::walk::elements(json::walk::find(block.result.text(), "content"), [&](std::string_view item) {
    const auto t = json::walk::find(item, "text");
    if (!json::walk::is_string(t)) return;
    if (!text.empty()) text += '\n';
    text += json::unescaped(t);
  });
  if (text.empty()) text = json::walk::find(block.result.text(), "structuredContent");
  return text;
}

situation look(const model_request& request) {
  situation now;
  for (const auto& m : request.messages) {
    if (m->role == role::user) {
      now.question = m->text();
      now.results.clear();
      now.rounds = 0;
    } else if (m->role == role::assistant) {
      ++now.rounds;
      ++now.all_rounds;
      now.all_calls += m->calls().size();
    } else if (m->role == role::tool_results) {
      for (const auto& b : m->blocks)
        if (const auto* r = std::get_if<tool_result_block>(&b))
          now.results.push_back({r->name, text_of(*r), r->is_error});
    }
  }
  return now;
}

struct choice {
  const tool_definition* tool = nullptr;
  std::string arguments;
};

// Finds the tool that fits a clause best; of equals the first, so that the result is deterministic. With `must_find` it
// skips tools for whose arguments the clause has nothing.
std::optional<choice> choose(std::string_view clause, const tool_set& tools, std::string_view earlier,
                             bool must_find = false) {
  const auto found = find_in(clause);
  // Names and quoted text are material for arguments and say nothing about the tool (README.md does not ask to read).
  std::string said(clause);
  for (const auto* list : {&found.quoted, &found.paths, &found.urls})
    for (const auto& part : *list)
      if (const auto at = said.find(part); at != std::string::npos) said.replace(at, part.size(), " ");
  std::optional<choice> best;
  double best_score = 0;
  for (const auto& tool : tools.tools) {
    const auto arguments = fill(tool.schema, found, earlier);
    if (!arguments || (must_find && arguments->certainty <= 0)) continue;
    const double words = fit(said, tool.name, tool.description);
    const double score = words + arguments->certainty;
    // Numbers and names alone do not make a tool fit, unless they are exactly the arguments that it needs.
    if (score < least_score || (words <= 0 && arguments->certainty < 4) || score <= best_score) continue;
    best_score = score;
    best = choice{&tool, arguments->arguments};
  }
  return best;
}

// Plan of one round: clauses that wait for an earlier result, and calls that can be made at once.
struct plan {
  std::vector<choice> now;
  std::vector<std::string> later;
};

plan make_plan(const situation& s, const tool_set& tools) {
  plan p;
  const auto clauses = clauses_of(s.question);
  for (const auto& clause : clauses) {
    const auto found = find_in(clause);
    if (!p.now.empty() && found.points_back && !found.has_own()) {
      p.later.push_back(clause);
      continue;
    }
    auto chosen = choose(clause, tools, {});
    if (chosen && p.now.size() < max_calls) p.now.push_back(*std::move(chosen));
  }
  // "What is the time and date in Tokyo" is one question though it holds an "and".
  if (p.now.empty() && clauses.size() > 1)
    if (auto chosen = choose(s.question, tools, {})) p.now.push_back(*std::move(chosen));
  return p;
}

std::string last_text(const situation& s) {
  for (auto r = s.results.rbegin(); r != s.results.rend(); ++r)
    if (!r->is_error) return r->text;
  return {};
}

std::string answer(const situation& s, const tool_set* tools) {
  std::string text;
  for (const auto& r : s.results) {
    const auto shown = cut_utf8(r.text, max_shown_result);
    text += std::string(own_name(r.name)) + (r.is_error ? " failed: " : ": ") +
            (shown.empty() ? "(empty)" : std::string(shown)) + (shown.size() < r.text.size() ? " …" : "") + "\n";
  }
  if (s.results.empty()) {
    text = "This rehearsal found no tool whose name and arguments fit the words of your question.";
    if (tools != nullptr && !tools->tools.empty()) {
      text += " It knows:";
      for (std::size_t i = 0; i < tools->tools.size() && i < 12; ++i)
        text += (i == 0 ? " " : ", ") + tools->tools[i].name;
      if (tools->tools.size() > 12) text += ", …";
      text += '.';
    } else {
      text += " No tools were offered to it.";
    }
    text += '\n';
  }
  return text + std::string(notice);
}

model_reply reply_with(std::string text, std::vector<std::pair<std::string, json::raw_json>> calls,
                       const situation& s) {
  auto m = std::make_shared<message>();
  m->role = role::assistant;
  m->origin.api = api;
  model_reply reply;
  reply.reason = calls.empty() ? end_reason::stop : end_reason::tool_calls;
  reply.raw_reason = to_string(reply.reason);
  reply.usage.estimated = true;
  reply.usage.output = static_cast<std::int64_t>(text.size() / 4 + 1);
  if (!text.empty()) m->blocks.emplace_back(text_block{std::move(text)});
  std::size_t number = s.all_calls;
  for (auto& [name, arguments] : calls) {
    tool_call_block call;
    const auto digits = std::to_string(++number);
    call.id = "reh" + std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits;
    call.name = std::move(name);
    call.arguments_text = arguments.text();
    call.arguments = on_one_line(std::move(arguments));
    reply.usage.output += static_cast<std::int64_t>(call.arguments_text.size() / 4 + 1);
    m->blocks.emplace_back(std::move(call));
  }
  reply.message = std::move(m);
  return reply;
}

// Makes the reply. `as_is`: the answer must fit a schema, so no words may be added.
model_reply play(const situation& s, const script& with, bool tools_offered, bool as_is) {
  std::vector<std::string> results;
  for (const auto& r : s.results) results.push_back(r.text);
  if (s.all_rounds >= with.steps.size())
    return reply_with("The rehearsal's script has ended after " + std::to_string(with.steps.size()) + " step(s).\n" +
                          std::string(script_notice),
                      {}, s);
  const auto& step = with.steps[s.all_rounds];
  std::vector<std::pair<std::string, json::raw_json>> calls;
  if (tools_offered)
    for (const auto& c : step.calls)
      calls.emplace_back(c.name, json::raw_json::own(substitute(c.arguments.text(), s.question, results, true)));
  auto text = substitute(step.text, s.question, results, false);
  if (calls.empty()) {
    if (text.empty()) return reply_with(answer(s, nullptr), {}, s);
    if (!as_is) text += "\n" + std::string(script_notice);
  }
  return reply_with(std::move(text), std::move(calls), s);
}

}  // namespace

model_reply plan_reply(const model_request& request, const script* with) {
  const auto s = look(request);
  const bool tools_offered = request.offered() != nullptr;
  model_reply reply;
  if (with != nullptr) {
    reply = play(s, *with, tools_offered, static_cast<bool>(request.answer_schema));
  } else if (!tools_offered) {
    reply = reply_with(answer(s, nullptr), {}, s);
  } else {
    const auto p = make_plan(s, *request.tools);
    std::vector<std::pair<std::string, json::raw_json>> calls;
    if (s.rounds == 0) {
      for (const auto& c : p.now) calls.emplace_back(c.tool->name, json::raw_json::own(c.arguments));
    } else if (s.rounds <= p.later.size()) {
      if (const auto c = choose(p.later[s.rounds - 1], *request.tools, last_text(s), true))
        calls.emplace_back(c->tool->name, json::raw_json::own(c->arguments));
    }
    reply = calls.empty() ? reply_with(answer(s, request.tools.get()), {}, s) : reply_with({}, std::move(calls), s);
  }
  for (const auto& m : request.messages) reply.usage.input += static_cast<std::int64_t>(m->text().size() / 4 + 1);
  return reply;
}

}  // namespace mcpbx::providers::rehearsal
