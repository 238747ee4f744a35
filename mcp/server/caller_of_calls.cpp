// The caller of a call as its tool server may know it and ask it, and the logs that the caller wants.
#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/log_levels.hpp"
#include "mcp/protocol/questions/questions.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/server/caller_session.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::mcp {
namespace {

/// A capability that is declared in a caller's place if somebody else answers such questions.
struct lent {
  std::string_view method, capability;
  bool caller_capabilities::* able;
};
constexpr std::array lendable = {lent{"sampling/createMessage", "sampling", &caller_capabilities::sampling},
                                 lent{"roots/list", "roots", &caller_capabilities::roots},
                                 lent{"elicitation/create", "elicitation", &caller_capabilities::elicitation_form}};

/// Time for an answer that nobody need think about. Its tool server gets the configured roots afterwards.
constexpr milliseconds roots_limit{30'000};

}  // namespace

// Returns a legacy caller's capabilities as a modern server may see them: tasks of the two eras differ, so they are not
// told.
raw_json without_tasks(const raw_json& capabilities) {
  auto o = raw_object::open(capabilities);
  if (!o) return {};
  o->erase("tasks");
  if (const raw_json extensions = o->find("extensions"))
    if (auto e = raw_object::open(extensions); e && e->erase(extension::tasks)) o->set("extensions", e->json());
  return o->json();
}

void caller_session::describe_caller(server_call& call, const reply_once& reply, bool modern_server,
                                     const std::string& server) {
  const modern_request* m = reply.modern();
  call.asker = this;
  call.principal = host_.principal();
  call.scope = host_.scope();
  if (!m) call.caller.client_info = client_info_;
  call.log_level = m ? m->log_level : level_ ? std::string(log_levels[*level_]) : std::string();
  if (!modern_server) return;
  const bool asked = m || can_be_asked();
  raw_json told = m ? m->capabilities : asked ? declared_ : raw_json();
  const caller_capabilities able = m ? m->able : asked ? capabilities_ : caller_capabilities();
  bool lends = false;
  server_question possible{server, {}, {}};
  for (const lent& l : lendable) {
    if (able.*l.able) continue;
    possible.method = l.method;
    if (!host_.lends(possible)) continue;
    auto o = raw_object::open(told ? told : raw_json::literal("{}"));
    if (!o) continue;
    if (!o->find(l.capability).is_object()) o->set(l.capability, raw_json::literal("{}"));
    told = o->json();
    lends = true;
  }
  call.caller.capabilities = std::move(told);
  // A modern caller answers for itself, unless it cannot answer everything that the server may now ask.
  call.takes_input_required = m && !lends;
  call.takes_result_types = m != nullptr;
}

bool caller_session::may_be_asked(std::string_view method, const raw_json& params) const {
  return can_be_asked() && check_answerable(capabilities_, method, params);
}

bool caller_session::may_be_asked(const server_question& q) const {
  if (q.extensions.empty()) return may_be_asked(q.method, q.params);
  return can_be_asked() && lists_one_of(declared_, q.extensions);
}

bool caller_session::ask_outside(const server_question& q, pending_calls::done_handler done) {
  if (closed_ || !may_be_asked(q.method, q.params)) return false;
  const auto params = question_params(q.params, q.server, false, {});
  return params && ask(q.method, *params, nullptr, roots_limit, std::move(done));
}

// Lets a tool server that has a process for this caller alone ask for its roots at any time.
void caller_session::offer_roots() {
  const auto scope = host_.scope();
  if (!scope || !capabilities_.roots) return;
  scope->answer_with([to = link()](const server_question& q, pending_calls::done_handler done) {
    return *to && (*to)->ask_outside(q, std::move(done));
  });
}

bool caller_session::wants_logs(const reply_once& reply) const {
  return !reply.modern() || !reply.modern()->log_level.empty();
}

bool caller_session::is_wanted(const raw_json& log, std::optional<std::size_t> least) const {
  const auto level = log_level_of(member_text(log, "level"));
  return !least || !level || *level >= *least;
}

void caller_session::send_log(const reply_once& reply, const raw_json& params) {
  const modern_request* m = reply.modern();
  if (!is_wanted(params, m ? log_level_of(m->log_level) : level_)) return;
  host_.send_note({.about = reply.serial(), .droppable = true}, make_notification("notifications/message", params));
}

std::shared_ptr<caller_session*> caller_session::link() {
  if (!link_) link_ = std::make_shared<caller_session*>(this);
  return link_;
}

}  // namespace mcpbx::mcp
