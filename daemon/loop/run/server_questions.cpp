// Decides about each question by its method. Servers get fixed sentences; people get reasons.
#include "daemon/loop/run/server_questions.hpp"

#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/policy/policy.hpp"
#include "mcp/crypto/sha256.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/questions/elicitation.hpp"
#include "mcp/redact/secret_name.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace mcpbx::daemon::run {
namespace {

using mcp::rpc::call_outcome;

constexpr std::size_t most_open = 64;  // questions of one run that wait for people
constexpr int rejected = -1;           // as in daemon/answers

call_outcome refused(int code, std::string_view sentence) {
  return {call_outcome::kind::error, json::raw_json::own(json::json_object("code", code, "message", sentence)), {}};
}

// Returns the name of a field with its words apart: "apiKey" becomes "api_Key".
std::string in_words(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !out.empty() && out.back() >= 'a' && out.back() <= 'z') out += '_';
    out += c;
  }
  return out;
}

call_outcome answered(json::raw_json result) {
  return {call_outcome::kind::result, std::move(result), {}};
}

bool is_input(const mcp::clients::server_question& q) {
  return q.method == answers::elicitation_method;
}

}  // namespace

// Keeps the questions of one attempt of a call until each is answered or withdrawn.
class server_questions::call_handler final : public mcp::clients::question_handler,
                                             public std::enable_shared_from_this<call_handler> {
 public:
  call_handler(std::string call, std::weak_ptr<listener> told, boost::asio::any_io_executor executor)
      : call_(std::move(call)), told_(std::move(told)), executor_(std::move(executor)) {}

  ticket ask(mcp::clients::server_question q, done_handler done) override {
    const auto t = ++last_;
    pending_.emplace(t, pending{std::move(done), nullptr, 0});
    if (const auto l = told_.lock())
      l->on_server_question({shared_from_this(), t, call_, std::move(q)});
    else
      boost::asio::post(executor_, [self = shared_from_this(), t] {
        self->finish(t, refused(mcp::rpc::code::cancelled, "the run of this call is over"));
      });
    return t;
  }
  void withdraw(ticket t, std::string_view reason) override {
    auto found = pending_.extract(t);
    if (found.empty()) return;
    if (const auto& one = found.mapped(); one.own) one.own->withdraw(one.own_ticket, reason);
    if (const auto l = told_.lock()) l->on_question_gone({shared_from_this(), t});
  }

  bool waits(ticket t) const { return pending_.contains(t); }
  void finish(ticket t, call_outcome outcome) {
    auto found = pending_.extract(t);
    if (!found.empty()) found.mapped().done(std::move(outcome));
  }
  /// Lets `own` answer; null: nobody does.
  void delegate(ticket t, mcp::clients::server_question q, const std::shared_ptr<mcp::clients::question_handler>& own) {
    const auto found = pending_.find(t);
    if (found == pending_.end()) return;
    if (!own)
      return finish(t, is_input(q) ? answered(mcp::questions::input_answer("decline"))
                                   : refused(mcp::rpc::code::method_not_found, "mcpbx does not answer this request"));
    found->second.own = own;
    found->second.own_ticket = own->ask(std::move(q), [weak = weak_from_this(), t](call_outcome&& outcome) {
      if (const auto self = weak.lock()) self->finish(t, std::move(outcome));
    });
  }

 private:
  struct pending {
    done_handler done;
    std::shared_ptr<mcp::clients::question_handler> own;  // set while it is asked
    ticket own_ticket;
  };
  std::string call_;
  std::weak_ptr<listener> told_;
  boost::asio::any_io_executor executor_;
  ticket last_ = 0;
  std::map<ticket, pending> pending_;
};

std::shared_ptr<mcp::clients::question_handler> server_questions::own() {
  if (!own_ && of_.answers)
    own_ = of_.answers->handler_for({.principal = of_.request.principal, .run = of_.request.run, .approves = true});
  return own_;
}

void server_questions::attach_to(mcp::clients::server_call& call, const std::string& id,
                                 const std::weak_ptr<listener>& told) {
  call.principal = of_.request.principal;
  call.questions = std::make_shared<call_handler>(id, told, of_.executor);
  std::string json;
  json::json_writer w(json);
  w.begin_object();
  if (reachable()) w.key("elicitation").token(R"({"form":{},"url":{}})");
  const auto& server = of_.core.facts().report(id).server;
  if (of_.answers && of_.answers->has_roots_for(server)) w.key("roots").token("{}");
  if (of_.answers && of_.answers->samples_for(server)) w.key("sampling").token(R"({"tools":{}})");
  w.end_object();
  call.caller.capabilities = w.json();
}

server_questions::reaction server_questions::take(asked a) {
  if (!a.at->waits(a.ticket)) return {};
  a.question.trace = of_.request.trace;
  if (!of_.core.is_open(a.call) || of_.core.ending()) {
    a.at->finish(a.ticket, is_input(a.question) ? answered(mcp::questions::input_answer("cancel"))
                                                : refused(mcp::rpc::code::cancelled, "the run of this call is ending"));
    return {};
  }
  if (is_input(a.question)) return take_input(std::move(a));
  if (a.question.method == answers::sampling_method) return take_sampling(std::move(a));
  a.at->delegate(a.ticket, std::move(a.question), own());
  return {};
}

server_questions::reaction server_questions::take_input(asked a) {
  const auto read = mcp::questions::read_input_request(a.question.params);
  if (!read) {
    a.at->finish(a.ticket, refused(mcp::rpc::code::invalid_params, read.error().message));
    return {};
  }
  if (open_.size() >= most_open) {
    a.at->finish(a.ticket, refused(mcp::rpc::code::overloaded, "too many questions are open; ask again later"));
    return {};
  }
  if (!reachable()) {
    a.at->finish(a.ticket, answered(mcp::questions::input_answer("decline")));
    return {{}, loop::words::input_declined(a.question.server)};
  }
  auto q = question_of(a, "input", event_json::input(a.question.server, tool_of(a.call), a.question.params));
  open_.push_back({q.id, std::move(a), {}});
  return {std::move(q), {}};
}

// A request that no model of ours may answer is refused by own_answers, before anybody is asked for an approval.
server_questions::reaction server_questions::take_sampling(asked a) {
  if (!of_.answers || !of_.answers->samples_for(a.question.server)) {
    a.at->delegate(a.ticket, std::move(a.question), own());
    return {};
  }
  const auto tool = answers::sampling_tool_of(of_.entries, a.question.server);
  auto hash = hash_of(a);
  const auto says = judge(a, tool, hash);
  if (says.allows()) {
    a.at->delegate(a.ticket, std::move(a.question), own());
    return {};
  }
  if (says.denies() || open_.size() >= most_open) {
    a.at->finish(a.ticket, refused(rejected, "the request needs a yes of the user, who cannot be asked"));
    return {{}, loop::words::sampling_refused(a.question.server)};
  }
  auto q = question_of(
      a, "approval",
      event_json::approval(a.question.server, tool.listed, a.question.params, loop::words::wants_approval(says.by)));
  q.tool_sha256 = std::move(hash);
  open_.push_back({q.id, std::move(a), {}});
  return {std::move(q), {}};
}

policy::decision server_questions::judge(const asked& a, const answers::sampling_tool& tool,
                                         const std::string& sha256) const {
  const auto& request = of_.request;
  const policy::calling_run who{
      .rules = {.entries = of_.entries, .profile = request.approve, .then = request.tools.beside.get()},
      .mode = request.limits.approve,
      .reachable = reachable(),
      .ending = of_.core.ending(),
      .approved = [&](const json::raw_json&) { return of_.core.approved_always(tool.listed, sha256); },
  };
  return policy::decide(who, tool.facts(), a.question.params);
}

// Binds a lasting approval to the server; its sampling is what a person has seen.
std::string server_questions::hash_of(const asked& a) const {
  return crypto::sha256_hex(a.question.server + "\n" + std::string(answers::sampling_method));
}

std::string server_questions::tool_of(const std::string& call) const {
  return of_.core.facts().report(call).name;
}

stored::record::question server_questions::question_of(const asked& a, std::string_view kind,
                                                       json::raw_json body) const {
  stored::record::question q;
  q.id = "q_" + hex(of_.random.next(), 16);
  q.kind = kind;
  q.call_id = a.call;
  q.body = std::move(body);
  q.expires_ms = of_.time.wall_ms() + of_.request.limits.question_timeout_ms;
  q.during_call = true;
  return q;
}

std::optional<stored::record::answer> server_questions::withdrawn(const gone& g) {
  const auto found = std::ranges::find_if(
      open_, [&](const open_question& q) { return q.from.at == g.at && q.from.ticket == g.ticket; });
  if (found == open_.end()) return std::nullopt;
  stored::record::answer a;
  a.id = std::move(found->id);
  a.body = mcp::questions::input_answer("cancel");
  a.withdrawn = true;
  open_.erase(found);
  if (!of_.core.find_question(a.id)) return std::nullopt;
  return a;
}

result<void> server_questions::check(const stored::record::question& q, const json::raw_json& body) {
  const auto wrong = [](std::string what) { return fail(errc::invalid_argument, "params." + std::move(what)); };
  const auto action = json::find_member(body, "action").as_string();
  if (q.kind != "input") {
    if (action) return wrong("approve: expected true or false, because the question asks for an approval, got nothing");
    return {};
  }
  if (!action) return wrong(R"(action: expected "accept", "decline" or "cancel", because the question asks for input)");
  const auto content = json::find_member(body, "content");
  if (*action != "accept") return {};
  const auto asked = mcp::questions::read_input_request(q.body);
  if (!asked || asked->is_url) return {};
  const auto right = mcp::questions::check_content(*asked, content);
  return right ? result<void>() : wrong(right.error().message);
}

json::raw_json server_questions::kept(const stored::record::question& q, const json::raw_json& body) {
  const auto open = std::ranges::find(open_, q.id, &open_question::id);
  if (q.kind != "input" || open == open_.end()) return body;
  const auto properties =
      json::raw_object::open(json::find_member(json::find_member(q.body, "requestedSchema"), "properties"));
  auto content = json::raw_object::open(json::find_member(body, "content"));
  auto whole = json::raw_object::open(body);
  if (!properties || !content || !whole) return body;
  std::vector<std::string> secrets;
  content->for_each([&](std::string_view name, const json::raw_json&) {
    const json::raw_json field = properties->find(name);
    if (redact::secret_name(in_words(name)) || json::member_text(field, "format") == "password" ||
        json::find_member(field, "writeOnly").is_true())
      secrets.emplace_back(name);
  });
  if (secrets.empty()) return body;
  for (const auto& name : secrets) content->set(name, json::raw_json::literal("\"***\""));
  whole->set("content", content->json());
  open->said = body.detached();
  return whole->json();
}

void server_questions::pass(const stored::record::question& q, const stored::record::answer& a) {
  const auto found = std::ranges::find(open_, q.id, &open_question::id);
  if (found == open_.end()) return;
  auto from = std::move(found->from);
  const json::raw_json said = found->said && !a.expired && !a.withdrawn ? found->said : a.body;
  open_.erase(found);
  if (q.kind == "input")
    return from.at->finish(from.ticket, answered(said ? said : mcp::questions::input_answer("cancel")));
  if (json::find_member(a.body, "approve").is_true())
    return from.at->delegate(from.ticket, std::move(from.question), own());
  from.at->finish(from.ticket, refused(rejected, a.expired ? "nobody approved the request" : "the user refused it"));
}

}  // namespace mcpbx::daemon::run
