// The way of a call to its tool server, and of its outcome back. The server's questions are in passed_questions.cpp.
#include "mcp/server/passed_call.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/eras.hpp"
#include "mcp/protocol/modern_answers.hpp"
#include "mcp/protocol/questions/questions.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/server/base/task_routes.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/server/incoming_call.hpp"
#include "mcp/server/result_uris.hpp"
#include "mcp/trace/trace_meta.hpp"

#include <utility>

namespace mcpbx::mcp::callers {

passed_call::passed_call(caller_session& session, const call_shape& shape, tool_call_reply reply,
                         const call_route& route)
    : session_(&session),
      shape_(shape),
      reply_(std::move(reply)),
      server_(route.server),
      server_name_(route.server_name),
      modern_server_(route.server->era() == clients::era::modern),
      time_(session.host().time()) {}

void passed_call::start(clients::server_call&& call, incoming_call&& in) {
  const auto self = shared_from_this();
  const auto server = server_.lock();
  name_ = std::move(in.name);
  token_ = std::move(in.token);
  // Most requests have no trace, and the cost of reading one.
  if (in.meta && in.meta.text().contains("traceparent")) trace_ = trace::trace_in_meta(in.meta);
  if (modern()) arguments_ = std::move(in.arguments);
  wants_task_ = in.has_task;
  session_->describe_caller(call, reply_.request(), modern_server_, server_name_);
  call.questions = self;
  // The handlers of progress and logs are called only before `done`, which holds this object.
  if (token_ || modern()) call.progress = [this](const json::raw_json& params) { progress(params); };
  if (session_->wants_logs(reply_.request())) call.log = [this](const json::raw_json& params) { log(params); };
  set_notified(call, in.has_task);
  if (session_->host().tools()->rest().extensions)
    call.extension_note = [this](const std::vector<std::string>& extensions, std::string_view method,
                                 const json::raw_json& params) {
      if (attached()) session_->tell_extension(extensions, method, params, &reply_.request());
    };
  call.done = [self](rpc::call_outcome&& outcome) { self->finish(std::move(outcome)); };
  reply_.called(server_name_);
  attach();
  ticket_ = server->call(std::move(call));
}

// Ties the call to the request that it has to answer.
void passed_call::attach() {
  answered_ = false;
  if (server::modern_request* m = reply_.request().modern(); m && shape_.cacheable)
    m->form.cache = protocol::cache_hints();
  reply_.request().on_cancel([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->cancel("cancelled by its caller");
  });
}

// Marks the present request as answered. Nothing of its message is kept while the call is held.
void passed_call::detach() {
  session_ = nullptr;
  arguments_ = {};
  token_ = {};
  answered_ = true;
}

void passed_call::cancel(std::string_view why) {
  const auto self = shared_from_this();
  if (session_)
    for (const question& q : questions_) session_->no_progress(progress_token(q.number));
  session_ = nullptr;
  if (held_) std::exchange(held_, nullptr)->release(held_id_);
  if (const auto server = server_.lock(); server && !over_) server->cancel(ticket_, why);
}

void passed_call::give_up(std::string_view why) {
  const auto self = shared_from_this();
  held_ = nullptr;
  cancel(why);
}

void passed_call::finish(rpc::call_outcome&& outcome) {
  const auto self = shared_from_this();
  over_ = true;
  end_questions("the call has ended");
  if (held_) {
    outcome_ = std::move(outcome);
    if (!held_->keep(held_id_, outcome_.value.text().size()))
      outcome_ =
          rpc::call_outcome::lost(errc::limit,
                                  "the tool server has answered, and mcpbx has no room to keep the answer until its "
                                  "caller asks for it");
    return;
  }
  if (attached()) return answer(outcome);
  session_ = nullptr;
  if (!std::exchange(answered_, true)) reply_.abandoned();
}

// Passes the outcome on to the caller.
void passed_call::answer(const rpc::call_outcome& outcome) {
  const auto self = shared_from_this();
  switch (outcome.type) {
    case rpc::call_outcome::kind::result:
      report_uris(outcome.value);
      note_task(outcome.value);
      detach();
      if (!modern() && modern_server_) return reply_.result(protocol::strip_modern_result(outcome.value));
      return reply_.result(outcome.value);
    case rpc::call_outcome::kind::error:
      return answer_error(outcome.value);
    case rpc::call_outcome::kind::failed:
      detach();
      return reply_.failed(server::to_rpc_error(outcome.failure, server_name_));
  }
}

void passed_call::answer_error(const json::raw_json& error) {
  const server::modern_request* m = reply_.request().modern();
  if (m && !modern_server_ && shape_.may_ask)
    if (const json::raw_json urls = protocol::url_elicitations(error)) return require_urls(urls);
  detach();
  const bool about_resource = shape_.to == call_shape::target::resource;
  if (!m) return reply_.error(modern_server_ ? protocol::legacy_error(error, about_resource) : error);
  reply_.error(protocol::modern_error(error, {.from_modern = modern_server_,
                                              .uri = about_resource ? name_ : std::string_view(),
                                              .capabilities = m->capabilities}));
}

// Answers with the addresses that the person has to visit before the request is made again. The call at the server has
// ended, so that there is nothing to come back for (2026-07-28, elicitation, "URL Mode").
void passed_call::require_urls(const json::raw_json& elicitations) {
  detach();
  if (!reply_.request().modern()->able.elicitation_url)
    return reply_.failed(
        rpc::rpc_error{protocol::mcp_code::missing_client_capability,
                       "the tool server needs its caller to show an address to a person",
                       json::raw_json::literal(R"({"requiredCapabilities":{"elicitation":{"url":{}}}})")});
  std::string json;
  json::json_writer w(json);
  w.begin_object().member("resultType", "input_required").key("inputRequests").begin_object();
  std::size_t number = 0;
  json::for_each_element(elicitations, [&](const json::raw_json& one) {
    const auto params = questions::question_params(one, server_name_, true, {});
    if (params) w.key("q" + std::to_string(++number)).begin_object();
    if (params) w.member("method", "elicitation/create").member("params", *params).end_object();
    return number < most_questions;
  });
  w.end_object().end_object();
  reply_.result(json::raw_json::own(json));
}

void passed_call::report_uris(const json::raw_json& result) {
  if (!session_ || !shape_.may_ask) return;
  const auto uris = uris_in(result, shape_.to == call_shape::target::tool     ? "content"
                                    : shape_.to == call_shape::target::prompt ? "messages"
                                                                              : "contents");
  if (uris.empty()) return;
  const auto all = session_->host().tools();
  for (const std::string& uri : uris) all->saw_uri(server_name_, uri);
}

// Remembers the task that a server has made of the call, if caller and server mean the same by it.
void passed_call::note_task(const json::raw_json& result) {
  if (!session_ || modern() != modern_server_ || shape_.to != call_shape::target::tool) return;
  const server::modern_request* m = reply_.request().modern();
  // A server makes tasks only for a caller that knows them.
  if (m ? !server::has_tasks(*m) || json::member_text(result, "resultType") != "task" : !wants_task_) return;
  server::task_routes* const tasks = session_->host().tasks();
  if (!tasks) return;
  std::string id = json::member_text(json::find_member(result, "task"), "taskId");
  if (id.empty()) id = json::member_text(result, "taskId");
  tasks->add(session_->host().principal(), id, {server_, server_name_, modern_server_});
}

// Passes progress on. Tokens of two callers may be equal, so servers see mcpbx's token only; the caller gets its own
// back.
void passed_call::progress(const json::raw_json& params) {
  if (token_.empty() || !attached()) return;
  const auto self = shared_from_this();
  auto edited = json::raw_object::open(params);
  if (!edited) return;
  edited->set(protocol::meta_key::progress_token, token_);
  session_->host().send_progress(reply_.request().serial(),
                                 rpc::make_notification("notifications/progress", edited->build()));
}

void passed_call::log(const json::raw_json& params) {
  if (!attached()) return;
  const auto self = shared_from_this();
  session_->send_log(reply_.request(), params);
}

// Passes notifications about an elicitation or a task of the call on to a legacy caller. They may come after the call.
void passed_call::set_notified(clients::server_call& call, bool has_task) {
  if (modern() || !(has_task || session_->hears_of_elicitations())) return;
  call.notified = [to = session_->link(), token = token_.detached()](std::string_view method,
                                                                     const json::raw_json& params) {
    caller_session* const s = *to;
    if (!s) return;
    if (method != "notifications/progress") return s->host().send_note({}, rpc::make_notification(method, params));
    auto edited = json::raw_object::open(params);
    if (!edited) return;
    edited->set(protocol::meta_key::progress_token, token);
    s->host().send_note({.droppable = true}, rpc::make_notification(method, edited->build()));
  };
}

}  // namespace mcpbx::mcp::callers
