// Asks one question at a time, the oldest first.
#include "daemon/cli/terminal/open_questions.hpp"

#include "daemon/cli/terminal/approval.hpp"
#include "mcp/json/json_writer.hpp"

#include <algorithm>
#include <cstddef>

namespace mcpbx::cli::terminals {
namespace {

// Largest number of bytes held here while a person thinks. More waits in the daemon, which has bounds of its own.
constexpr std::size_t most_waiting = 4u << 20;

// Returns true if a message may end the question about this call.
bool may_close(const mcp::rpc::message& m, const std::string& question, const std::string& call) {
  if (m.type != mcp::rpc::message::kind::notification) return false;
  const auto type = json::member_text(m.params, "type");
  return type == "done" || type == "snapshot" ||
         (type == "answer" && json::member_text(m.params, "question") == question) ||
         (type == "tool_result" && json::member_text(m.params, "call") == call);
}

}  // namespace

void open_questions::event(std::string_view type, const json::raw_json& params) {
  if (type == "question") {
    opened(json::member_text(params, "run"), params);
  } else if (type == "answer") {
    closed(params);
  } else if (type == "tool_result") {
    // A call that has ended takes its server's questions with it.
    const auto call = json::member_text(params, "call");
    std::erase_if(open_, [&](const open_question& q) { return json::member_text(q.event, "call") == call; });
  } else if (type == "done") {
    open_.clear();
  } else if (type == "snapshot") {
    open_.clear();
    json::for_each_element(json::find_member(params, "questions"), [&](const json::raw_json& one) {
      opened(json::member_text(params, "run"), one);
      return true;
    });
  }
}

void open_questions::opened(const std::string& run, const json::raw_json& event) {
  auto id = json::member_text(event, "question");
  if (std::ranges::find(answered_, id) == answered_.end()) open_.push_back({run, std::move(id), event});
}

void open_questions::closed(const json::raw_json& answer) {
  const auto id = json::member_text(answer, "question");
  if (std::erase_if(open_, [&](const open_question& q) { return q.id == id; }) == 0 || id != asked_) return;
  const bool expired = json::find_member(answer, "expired").is_true(),
             approved = json::find_member(answer, "approve").is_true();
  const auto action = json::find_member(answer, "action").as_string();
  if (json::find_member(answer, "withdrawn").is_true())
    screen_.err_line(screen_.dim("the tool server does not ask any more"));
  else if (expired)
    screen_.err_line(screen_.dim("nobody answered in time, which is a no"));
  else
    screen_.err_line(screen_.dim("somebody else has answered: " + action.value_or(approved ? "yes" : "no")));
}

bool open_questions::answers(const open_question& q) const {
  return json::member_text(q.event, "kind") == "input" ? rules_.input.has_value() : rules_.approvals;
}

// Returns the params of mcpbx/answer; nullopt: there is no answer now.
std::optional<std::string> open_questions::answer_to(const open_question& q, const question_watch& watch) const {
  std::string params;
  json::json_writer w(params);
  w.begin_object().member("run", q.run).member("question", q.id);
  if (json::member_text(q.event, "kind") == "input") {
    const auto said = answer_input(screen_, json::member_text(q.event, "server"), q.event, *rules_.input, watch);
    if (!said) return std::nullopt;
    w.member("action", json::find_member(*said, "action")).given("content", json::find_member(*said, "content"));
  } else {
    const auto said = ask_person(screen_, q.event, watch);
    if (!said) return std::nullopt;
    w.member("approve", said->approve).set("always", said->always);
  }
  w.end_object();
  return params;
}

void open_questions::ask() {
  const auto mine = std::ranges::find_if(open_, [this](const open_question& q) { return answers(q); });
  if (mine == open_.end()) return;
  const open_question q = *mine;
  asked_ = q.id;
  question_watch watch{link_.fd(), {}};
  std::size_t looked_at = 0;  // number of received messages examined; none is removed while the question is open
  watch.still_open = [&] {
    if (!link_.receive()) return false;
    if (link_.received_bytes() > most_waiting) watch.fd = -1;
    const auto& come = link_.received();
    while (looked_at < come.size())
      if (may_close(come[looked_at++], q.id, json::member_text(q.event, "call"))) return false;
    return true;
  };
  const auto params = answer_to(q, watch);
  if (!params) return;
  std::erase_if(open_, [&](const open_question& one) { return one.id == q.id; });
  answered_.push_back(q.id);
  (void)link_.request("mcpbx/answer", *params);
}

}  // namespace mcpbx::cli::terminals
