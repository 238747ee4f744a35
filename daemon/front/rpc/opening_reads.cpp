// Sends prompts/get and resources/read for a run that is to begin, and gathers the results.
#include "daemon/front/rpc/opening_reads.hpp"

#include "daemon/front/base/door_context.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/support/text.hpp"
#include "mcp/trace/trace_meta.hpp"

#include <utility>

namespace mcpbx::daemon::rpc_door {
namespace {

constexpr std::size_t longest_error = 1000, longest_shown = 200;  // bytes

std::string shown(std::string_view name) {
  return json::json_quoted(redact::cut_for_people(name, longest_shown, {.mark = "…"}));
}

error no_such(const mcp::protocol::feature_kind& kind, std::string_view key, const mcp::catalogs::catalog& tools) {
  std::vector<std::string_view> names;
  const auto& others = tools.rest().others;  // without tools, which are the first kind
  if (kind.index() >= 1 && kind.index() <= others.size())
    for (const auto& e : others[kind.index() - 1]->entries()) names.emplace_back(e->key);
  return {errc::not_found, "there is no " + std::string(kind.noun) + " " + shown(key) + did_you_mean(key, names) +
                               "; `mcpbx " + std::string(kind.noun) + "s` lists them"};
}

}  // namespace

opening_reads::opening_reads(rpc_caller& c, chat::chat_opening what, beginning of, const mcp::server::reply_once& reply,
                             opened_handler then)
    : caller_(c),
      what_(std::move(what)),
      of_(std::move(of)),
      principal_(c.principal()),
      reply_(reply),
      then_(std::move(then)),
      recorder_(c.recorder()),
      questions_(std::make_shared<opening_questions>(c, reply, of_.feed, of_.question_limit, of_.trace)) {}

std::shared_ptr<opening_reads> opening_reads::start(rpc_caller& c, chat::chat_opening what, beginning of,
                                                    const mcp::server::reply_once& reply, opened_handler then) {
  const std::shared_ptr<opening_reads> reads(
      new opening_reads(c, std::move(what), std::move(of), reply, std::move(then)));
  const auto& feed = reads->of_.feed;
  feed->when_abandoned([weak = std::weak_ptr(reads)](const std::string&) {
    if (const auto self = weak.lock()) self->cancel("cancelled by its caller");
  });
  feed->when_mute([weak = std::weak_ptr(reads->questions_)] {
    if (const auto questions = weak.lock()) questions->nobody_answers();
  });
  if (reads->detached())
    reply.on_cancel([weak = std::weak_ptr(reads)] {
      if (const auto self = weak.lock()) self->leave();
    });
  reads->look(false);
  return reads;
}

// Looks everything up; waits once for servers that are starting if something is not there.
void opening_reads::look(bool settled) {
  const auto tools = caller_.door().tools_for(of_.profile);
  error missing{errc::internal, ""};
  if (!what_.prompt.empty() && !tools->find(mcp::protocol::prompt_kind(), what_.prompt))
    missing = no_such(mcp::protocol::prompt_kind(), what_.prompt, *tools);
  for (const auto& uri : what_.resources)
    if (missing.message.empty() && !tools->route_resource(uri))
      missing = no_such(mcp::protocol::resource_kind(), uri, *tools);
  if (missing.message.empty()) return send_all(*tools);
  if (settled) return give_up(missing);
  caller_.when_settled(caller_.door().settings.session.settle, [self = shared_from_this()] {
    if (self->reply_.open()) self->look(true);
  });
}

void opening_reads::send_all(const mcp::catalogs::catalog& tools) {
  asks_.reserve(what_.resources.size() + 1);
  if (!what_.prompt.empty()) {
    const auto item = tools.find(mcp::protocol::prompt_kind(), what_.prompt);
    std::string params;
    json::json_writer w(params);
    w.begin_object().member("name", item->own_key);
    if (what_.arguments) w.member("arguments", what_.arguments);
    trace::append_trace_meta(w, of_.trace);
    w.end_object();
    mcp::server::finished_call record{what_.prompt, item->server, what_.arguments};
    record.method = "prompts/get";
    send("the prompt " + shown(what_.prompt), item->owner, mcp::protocol::prompt_kind(), item->own_key, w.json(),
         std::move(record));
  }
  for (const auto& uri : what_.resources) {
    const auto route = tools.route_resource(uri);
    mcp::server::finished_call record{uri, route->server, json::raw_json::string(uri)};
    record.method = "resources/read";
    std::string params;
    json::json_writer w(params);
    w.begin_object().member("uri", route->uri);
    trace::append_trace_meta(w, of_.trace);
    w.end_object();
    send("the resource " + shown(uri), route->owner, mcp::protocol::resource_kind(), route->uri, w.json(),
         std::move(record));
  }
}

void opening_reads::send(std::string what, const std::weak_ptr<mcp::clients::client>& owner,
                         const mcp::protocol::feature_kind& kind, const std::string& own, json::raw_json params,
                         mcp::server::finished_call record) {
  if (!then_) return;  // another one failed already
  if (auto admitted = caller_.admit_read(kind, record.server, own); !admitted) {
    note(record, mcp::server::call_end::error);
    return give_up(admitted.error());
  }
  const auto server = owner.lock();
  const std::size_t number = asks_.size();
  mcp::clients::server_call call;
  call.method = record.method;
  call.name = what;
  record.decision = mcp::server::call_decision::called;
  const std::string of = record.server;
  asks_.push_back({std::move(what), of, server, 0, {}, std::move(record)});
  ++open_;
  call.params = std::move(params);
  if (of_.trace.empty()) call.meta = json::raw_json();
  if (server) caller_.session().describe_caller(call, reply_, server->era() == mcp::clients::era::modern, of);
  if (questions_->reaches_reader()) {
    auto able =
        json::raw_object::open(call.caller.capabilities ? call.caller.capabilities : json::raw_json::literal("{}"));
    if (able) able->set("elicitation", json::raw_json::literal(R"({"form":{},"url":{}})"));
    if (able) call.caller.capabilities = able->json();
  }
  call.questions = questions_;
  call.done = [self = shared_from_this(), number](const mcp::rpc::call_outcome& outcome) {
    self->arrived(number, outcome);
  };
  if (!server)
    return arrived(number, mcp::rpc::call_outcome::failed(errc::unavailable, "its server is no longer there"));
  asks_[number].ticket = server->call(std::move(call));
}

// Records a read for the audit.
void opening_reads::note(mcp::server::finished_call record, mcp::server::call_end end, std::size_t bytes) {
  record.end = end;
  record.result_bytes = bytes;
  if (recorder_) recorder_->record(std::move(record), [] {});
}

void opening_reads::arrived(std::size_t number, const mcp::rpc::call_outcome& outcome) {
  using kind = mcp::rpc::call_outcome::kind;
  ask& one = asks_[number];
  const bool came = outcome.type == kind::result;
  note(std::move(one.record),
       !then_                         ? mcp::server::call_end::cancelled
       : came                         ? mcp::server::call_end::result
       : outcome.type == kind::failed ? mcp::server::call_end::failed
                                      : mcp::server::call_end::error,
       came ? outcome.value.text().size() : 0);
  if (!then_) return;
  if (!reply_.open()) return leave();
  if (outcome.type == kind::failed)
    return give_up({outcome.failure.code, one.what + " cannot be read: " + outcome.failure.message + unanswered()});
  if (outcome.type == kind::error)
    return give_up(
        {errc::peer, "the tool server " + json::json_quoted(one.server) + " refused " + one.what + ": " +
                         redact::cut_for_people(json::find_member(outcome.value, "message").as_string().value_or(""),
                                                longest_error) +
                         unanswered()});
  bytes_ += outcome.value.text().size();
  if (bytes_ > chat::chat_opening::most_bytes)
    return give_up({errc::limit, "with " + one.what + " the prompt and the resources have more than " +
                                     std::to_string(chat::chat_opening::most_bytes >> 20) +
                                     " MiB; give fewer of them"});
  one.result = outcome.value;
  if (--open_ > 0) return;
  chat::opened_chat got;
  for (auto& a : asks_) {
    if (!what_.prompt.empty() && &a == &asks_.front()) {
      got.prompt = std::move(a.result);
      continue;
    }
    got.resources.push_back(std::move(a.result));
    got.resource_from.push_back(std::move(a.server));
  }
  const auto then = std::exchange(then_, {});
  then(got);
}

// Returns the reason why the server may have failed, if that is a question that nobody could answer.
std::string opening_reads::unanswered() const {
  return questions_->unanswered().empty() ? "" : "; " + questions_->unanswered();
}

void opening_reads::give_up(const error& why) {
  const auto self = shared_from_this();
  cancel("another part of its request failed");
  of_.feed->refuse(why);
  if (detached()) reply_.error(mcp::server::to_rpc_error(why));
}

void opening_reads::cancel(std::string_view reason) {
  const auto self = shared_from_this();
  then_ = {};
  for (const auto& one : asks_)
    if (const auto server = one.client.lock(); server && one.ticket != 0) server->cancel(one.ticket, reason);
}

}  // namespace mcpbx::daemon::rpc_door
