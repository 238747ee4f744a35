// Methods mcpbx/chat and mcpbx/attach, which connect a request with a new or known run, and mcpbx/answer for a person's
// reply to a question.
#include "daemon/front/rpc/methods.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <array>
#include <limits>
#include <string>
#include <string_view>

namespace mcpbx::daemon::rpc_door {
namespace {

struct attach_params {
  std::string run;
  run::run_feed::wish wish;
};

attach_params read_attach(mcp::server::param_reader& in, const rpc_caller& c) {
  attach_params p;
  if (auto run = in.text("run"))
    p.run = std::move(*run);
  else
    in.wrong("run", "expected the name of a run, got nothing");
  p.wish.after =
      static_cast<std::uint64_t>(in.integer("after", 0, std::numeric_limits<std::int64_t>::max()).value_or(0));
  p.wish.deltas = in.boolean("stream").value_or(true);
  p.wish.answers = in.boolean("answers").value_or(c.answers());
  return p;
}

struct answer_params {
  std::string run, question;
  json::raw_json body;  ///< as record::answer has it
};

// Answers to questions of servers, by the words of the specification (Elicitation, Response Actions).
constexpr std::array<std::string_view, 3> input_actions{"accept", "decline", "cancel"};

answer_params read_answer(mcp::server::param_reader& in) {
  answer_params p;
  const auto needed = [&](std::string_view key) {
    auto value = in.text(key);
    if (!in.has(key)) in.wrong(key, "expected the one that the question event has, got nothing");
    return value.value_or("");
  };
  p.run = needed("run");
  p.question = needed("question");
  std::string json;
  json::json_writer w(json);
  w.begin_object();
  if (in.has("action")) {
    const auto action = in.word("action", input_actions);
    if (in.has("approve")) in.wrong("approve", "expected either approve or action, got both");
    w.member("action", action ? input_actions[*action] : "");
    const auto content = in.any("content");
    if (action && input_actions[*action] == "accept") w.given("content", content);
  } else {
    const auto approve = in.boolean("approve");
    if (!in.has("approve"))
      in.wrong("approve", "expected true or false, got nothing; an input question takes action and content instead");
    w.member("approve", approve.value_or(false)).set("always", in.boolean("always").value_or(false));
  }
  w.end_object();
  p.body = w.json();
  return p;
}

struct chat_of {
  run::run_request run;
  chat::chat_opening opening;
  bool dry = false;  ///< only tell how the run would begin
};

// Reads a chat. Callers that may not answer questions may not switch them off either.
chat_of read_chat_of(mcp::server::param_reader& in, const rpc_caller& c) {
  chat_of chat{chat::read_chat(in, *c.door().settings.chat(), c.profile()), chat::read_opening(in)};
  auto& r = chat.run;
  chat.dry = in.boolean("dryRun").value_or(false);
  if (chat.dry && !r.results.empty())
    in.wrong("dryRun", "expected false, because results of the caller's own tools begin no run");
  if (!in.has("answers")) r.answers = c.answers();
  if (stored::is_person(c.principal())) return chat;
  constexpr std::string_view why = ", because this is a tool server's request, and only the person may say that";
  if (in.text("approve") == "all") in.wrong("approve", "expected \"ask\" or \"none\"" + std::string(why));
  for (const std::string_view key : {"approveDestructive", "approveAfterOutput"})
    if (const auto given = json::find_member(r.asked_limits, key); given && !given.is_true())
      in.wrong("limits." + std::string(key), "expected true" + std::string(why));
  return chat;
}

void answer(rpc_caller& c, const answer_params& p, const mcp::server::reply_once& reply) {
  c.answer(p.run, p.question, p.body, reply);
}

}  // namespace

void add_chat_methods(front::own_methods& table) {
  table.bind("mcpbx/chat", read_chat_of, [](rpc_caller& c, chat_of chat, const mcp::server::reply_once& reply) {
    if (chat.dry) return tell_beginning(c, std::move(chat.run), chat.opening, reply);
    c.chat(std::move(chat.run), std::move(chat.opening), reply);
  });
  table.bind("mcpbx/attach", read_attach,
             [](rpc_caller& c, const attach_params& p, const mcp::server::reply_once& reply) {
               c.attach(p.run, p.wish, reply);
             });
  table.bind("mcpbx/answer", read_answer, answer);
}

}  // namespace mcpbx::daemon::rpc_door
