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

namespace mcpbx::mcp::callers {
namespace {

/// A capability that is declared in a caller's place if somebody else answers such questions.
struct lent {
  std::string_view method, capability;
  bool protocol::caller_capabilities::* able;
};
constexpr std::array lendable = {
    lent{"sampling/createMessage", "sampling", &protocol::caller_capabilities::sampling},
    lent{"roots/list", "roots", &protocol::caller_capabilities::roots},
    lent{"elicitation/create", "elicitation", &protocol::caller_capabilities::elicitation_form}};

/// Time for an answer that nobody need think about. Its tool server gets the configured roots afterwards.
constexpr milliseconds roots_limit{30'000};

}  // namespace

// Returns a legacy caller's capabilities as a modern server may see them: tasks of the two eras differ, so they are not
// told.
json::raw_json without_tasks(const json::raw_json& capabilities) {
  auto o = json::raw_object::open(capabilities);
  if (!o) return {};
  o->erase("tasks");
  if (const json::raw_json extensions = o->find("extensions"))
    if (auto e = json::raw_object::open(extensions); e && e->erase(protocol::extension::tasks))
      o->set("extensions", e->json());
  return o->json();
}

void caller_session::describe_caller(clients::server_call& call, const server::reply_once& reply, bool modern_server,
                                     const std::string& server) {
  const server::modern_request* m = reply.modern();
  call.asker = this;
  call.principal = host_.principal();
  call.scope = host_.scope();
  if (!m) call.caller.client_info = client_info_;
  call.log_level = m ? m->log_level : level_ ? std::string(protocol::log_levels[*level_]) : std::string();
  if (!modern_server) return;
  const bool asked = m || can_be_asked();
  json::raw_json told = m ? m->capabilities : asked ? declared_ : json::raw_json();
  const protocol::caller_capabilities able = m ? m->able : asked ? capabilities_ : protocol::caller_capabilities();
  bool lends = false;
  clients::server_question possible{server, {}, {}};
  for (const lent& l : lendable) {
    if (able.*l.able) continue;
    possible.method = l.method;
    if (!host_.lends(possible)) continue;
    auto o = json::raw_object::open(told ? told : json::raw_json::literal("{}"));
    if (!o) continue;
    if (!o->find(l.capability).is_object()) o->set(l.capability, json::raw_json::literal("{}"));
    told = o->json();
    lends = true;
  }
  call.caller.capabilities = std::move(told);
  // A modern caller answers for itself, unless it cannot answer everything that the server may now ask.
  call.takes_input_required = m && !lends;
  call.takes_result_types = m != nullptr;
}

bool caller_session::may_be_asked(std::string_view method, const json::raw_json& params) const {
  return can_be_asked() && protocol::check_answerable(capabilities_, method, params);
}

bool caller_session::may_be_asked(const clients::server_question& q) const {
  if (q.extensions.empty()) return may_be_asked(q.method, q.params);
  return can_be_asked() && protocol::lists_one_of(declared_, q.extensions);
}

bool caller_session::ask_outside(const clients::server_question& q, rpc::pending_calls::done_handler done) {
  if (closed() || !may_be_asked(q.method, q.params)) return false;
  const auto params = questions::question_params(q.params, q.server, false, {});
  return params && ask(q.method, *params, nullptr, roots_limit, std::move(done));
}

// Lets a tool server that has a process for this caller alone ask for its roots at any time.
void caller_session::offer_roots() {
  const auto scope = host_.scope();
  if (!scope || !capabilities_.roots) return;
  scope->answer_with([to = link()](const clients::server_question& q, rpc::pending_calls::done_handler done) {
    return *to && (*to)->ask_outside(q, std::move(done));
  });
}

bool caller_session::wants_logs(const server::reply_once& reply) const {
  return !reply.modern() || !reply.modern()->log_level.empty();
}

bool caller_session::is_wanted(const json::raw_json& log, std::optional<std::size_t> least) const {
  const auto level = protocol::log_level_of(json::member_text(log, "level"));
  return !least || !level || *level >= *least;
}

void caller_session::send_log(const server::reply_once& reply, const json::raw_json& params) {
  const server::modern_request* m = reply.modern();
  if (!is_wanted(params, m ? protocol::log_level_of(m->log_level) : level_)) return;
  host_.send_note({.about = reply.serial(), .droppable = true},
                  rpc::make_notification("notifications/message", params));
}

std::shared_ptr<caller_session*> caller_session::link() {
  if (!link_) link_ = std::make_shared<caller_session*>(this);
  return link_;
}

}  // namespace mcpbx::mcp::callers
