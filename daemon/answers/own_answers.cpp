// One handler for each caller or run, and what they share: the requests of the last minute and the refusals by server.
#include "daemon/answers/own_answers.hpp"

#include "daemon/answers/sampling.hpp"
#include "daemon/policy/policy.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/questions/elicitation.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/formatted.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace mcpbx::daemon::answers {
namespace {

namespace asio = boost::asio;
using mcp::rpc::call_outcome;

constexpr std::chrono::minutes window{1};
constexpr std::size_t most_open = 8;         // sampling requests of one server at the same time
constexpr std::size_t longest_detail = 500;  // bytes of a failure's reason in the log
constexpr int rejected = -1;                 // "User rejected sampling request" (2025-11-25, Sampling, Error Handling)

call_outcome refusal(int code, std::string_view sentence) {
  return {call_outcome::kind::error, json::raw_json::own(json::json_object("code", code, "message", sentence)), {}};
}

call_outcome answered(json::raw_json result) {
  return {call_outcome::kind::result, std::move(result), {}};
}

// Returns the sentence that a server gets for a failure of a model: never an address, a path or a key.
std::string_view sentence_of(providers::model_error::kind kind) {
  using enum providers::model_error::kind;
  switch (kind) {
    case connection:
      return "the model could not be reached";
    case time_limit:
      return "the model did not answer in time";
    case refused:
    case bad_request:
      return "the model did not accept the request";
    case overloaded:
      return "the model is overloaded; try again later";
    case context_full:
      return "the request is too long for the model";
    case cut:
    case garbage:
      return "the model's answer could not be read";
    case configuration:
      break;
  }
  return "the model cannot be used as it is configured";
}

}  // namespace

class own_answers::impl {
 public:
  explicit impl(means m) : by(std::move(m)) {}

  // The requests of one server of late.
  struct history {
    std::deque<time_point> begun;  // within the last minute
    std::size_t open = 0;
    time_point audited = never;     // last refusal that was audited; never: none
    std::uint64_t not_audited = 0;  // refusals since then
  };
  history& of(const std::string& server) { return histories_[server]; }

  // Counts an attempt, whether it succeeds or not. Returns false at the limit.
  bool count(history& h, std::int64_t per_minute) const {
    const auto now = by.time.now();
    while (!h.begun.empty() && now - h.begun.front() >= window) h.begun.pop_front();
    if (h.begun.size() >= static_cast<std::size_t>(per_minute)) return false;
    h.begun.push_back(now);
    return true;
  }

  // Returns true if a refusal is to be audited: the first one in a minute.
  bool tells_refusal(history& h) const {
    const auto now = by.time.now();
    if (h.audited != never && now - h.audited < window) {
      ++h.not_audited;
      return false;
    }
    h.audited = now;
    return true;
  }

  const means by;

 private:
  std::map<std::string, history, std::less<>> histories_;
};

// Answers the questions of one caller or run. Keeps its open requests; each ends by an answer or by withdraw().
class own_answers::handler final : public mcp::clients::question_handler, public std::enable_shared_from_this<handler> {
 public:
  handler(std::shared_ptr<impl> shared, asker who) : shared_(std::move(shared)), who_(std::move(who)) {}
  ~handler() override {
    for (auto& [t, one] : open_) release(*one);
  }

  ticket ask(mcp::clients::server_question q, done_handler done) override {
    const auto t = ++last_;
    auto one = std::make_unique<open_question>(*this, t, std::move(q), std::move(done));
    auto& added = *open_.emplace(t, std::move(one)).first->second;
    if (added.question.method == sampling_method)
      sample(added);
    else if (added.question.method == elicitation_method)
      answer(t, answered(mcp::questions::input_answer("decline")));
    else if (added.question.method == roots_method)
      answer(t, answered(roots_of(added.question.server)));
    else
      answer(t, refusal(mcp::rpc::code::method_not_found, "mcpbx does not answer this request"));
    return t;
  }

  void withdraw(ticket t, std::string_view) override {
    const auto found = open_.find(t);
    if (found == open_.end()) return;
    auto one = std::move(found->second);
    open_.erase(found);
    release(*one);
    // A model call was made, so the audit has it although nobody takes the answer.
    if (one->call && !one->ended)
      record(one->question, mcp::server::call_decision::called, mcp::server::call_end::cancelled, 0, {});
    asio::post(shared_->by.executor, [gone = std::move(one)] {});  // its model call may be in a function of its own
  }

 private:
  struct open_question final : providers::model_events {
    open_question(handler& h, ticket t, mcp::clients::server_question q, done_handler d)
        : owner(h), number(t), question(std::move(q)), done(std::move(d)) {}
    void on_text(std::string_view) override {}
    void on_reasoning(std::string_view) override {}
    void on_reply(providers::model_reply reply) override { owner.replied(*this, reply); }
    void on_error(providers::model_error e) override { owner.failed(*this, e); }

    handler& owner;
    const ticket number;
    const mcp::clients::server_question question;
    done_handler done;
    bool counted = false;  // among the open requests of its server
    bool ended = false;    // its model call has ended, and the audit has it
    sampling_request asked;
    std::shared_ptr<providers::model> model;
    std::unique_ptr<providers::model_call> call;
  };

  // Answers in a later turn, unless the question is withdrawn meanwhile.
  void answer(ticket t, call_outcome outcome) {
    asio::post(shared_->by.executor, [weak = weak_from_this(), t, outcome = std::move(outcome)]() mutable {
      if (const auto self = weak.lock()) self->finish(t, std::move(outcome));
    });
  }

  void finish(ticket t, call_outcome outcome) {
    const auto found = open_.find(t);
    if (found == open_.end()) return;
    auto one = std::move(found->second);
    open_.erase(found);
    release(*one);
    one->done(std::move(outcome));
  }

  void release(open_question& one) {
    if (std::exchange(one.counted, false)) --shared_->of(one.question.server).open;
  }

  json::raw_json roots_of(const std::string& server) const {
    const auto settings = shared_->by.settings();
    const auto* known = settings->find(server);
    return known && known->roots ? known->roots : json::raw_json::literal(R"({"roots":[]})");
  }

  void sample(open_question& one) {
    const auto settings = shared_->by.settings();
    const auto& server = one.question.server;
    const auto* known = settings->find(server);
    if (!known || !known->sampling)
      return refuse(one, mcp::rpc::code::method_not_found, "no model of mcpbx answers sampling requests of this server",
                    "\"sampling\" of its entry names none");
    const auto& rule = *known->sampling;
    auto& history = shared_->of(server);
    if (!shared_->count(history, rule.per_minute))
      return refuse(one, mcp::rpc::code::overloaded,
                    "there were too many sampling requests in the last minute; try again later",
                    "more than " + counted(rule.per_minute, "request") + " in a minute");
    if (history.open >= most_open)
      return refuse(one, mcp::rpc::code::overloaded, "too many sampling requests are open; try again later",
                    "more than " + counted(most_open, "open request"));
    if (!who_.approves && needs_approval(*settings, one.question))
      return refuse(one, rejected, "the request needs a yes of the user, who cannot be asked",
                    "`approve` matches it, and its caller cannot be asked");
    begin(one, *settings, rule, history);
  }

  void begin(open_question& one, const answer_settings& settings, const sampling_rule& rule, impl::history& history) {
    auto model = settings.models(rule.model);
    if (!model)
      return refuse(one, mcp::rpc::code::internal_error, sentence_of(providers::model_error::kind::configuration),
                    model.error().message);
    auto request = read_sampling(one.question.params, rule.max_tokens, (*model)->api());
    if (!request) return refuse(one, mcp::rpc::code::invalid_params, request.error().message, request.error().message);
    one.model = std::move(*model);
    one.asked = std::move(*request);
    one.asked.ask.trace = one.question.trace;
    one.counted = true;
    ++history.open;
    log::info(formatted("the tool server \"{}\" samples model \"{}\"", one.question.server, one.model->name()));
    one.call = one.model->start(one.asked.ask, one);
  }

  static bool needs_approval(const answer_settings& settings, const mcp::clients::server_question& q) {
    const auto tool = sampling_tool_of(settings.entries, q.server);
    const policy::calling_run nobody{
        .rules = {.entries = settings.entries}, .mode = stored::approval_mode::ask, .reachable = false};
    return !policy::decide(nobody, tool.facts(), q.params).allows();
  }

  void replied(open_question& one, const providers::model_reply& reply) {
    one.ended = true;
    auto made = sampling_result(reply, one.asked, one.model->id());
    if (!made) return fail(one, mcp::rpc::code::internal_error, made.error().message, made.error().message);
    const auto bytes = made->text().size();
    record(one.question, mcp::server::call_decision::called, mcp::server::call_end::result, bytes,
           after(one.number, answered(std::move(*made))));
  }

  void failed(open_question& one, const providers::model_error& e) {
    one.ended = true;
    fail(one, mcp::rpc::code::internal_error, sentence_of(e.type), e.message);
  }

  // Ends a request that a model was asked.
  void fail(const open_question& one, int code, std::string_view sentence, std::string_view detail) {
    tell(one.question, "failed", detail);
    record(one.question, mcp::server::call_decision::called, mcp::server::call_end::failed, 0,
           after(one.number, refusal(code, sentence)));
  }

  // Ends a request that no model was asked.
  void refuse(const open_question& one, int code, std::string_view sentence, std::string_view detail) {
    auto& history = shared_->of(one.question.server);
    if (!shared_->tells_refusal(history)) return answer(one.number, refusal(code, sentence));
    const auto more = std::exchange(history.not_audited, 0);
    tell(one.question,
         more == 0 ? "was refused" : "was refused (" + std::to_string(more) + " more since the last line)", detail);
    record(one.question, mcp::server::call_decision::refused, mcp::server::call_end::error, 0,
           after(one.number, refusal(code, sentence)));
  }

  static void tell(const mcp::clients::server_question& q, std::string_view what, std::string_view detail) {
    log::warn(formatted("a sampling request of the tool server \"{}\" {}: {}", q.server, what,
                        redact::cut_for_log(detail, longest_detail, "…")));
  }

  std::function<void()> after(ticket t, call_outcome outcome) {
    return [weak = weak_from_this(), t, kept = std::make_shared<call_outcome>(std::move(outcome))] {
      if (const auto self = weak.lock()) self->finish(t, std::move(*kept));
    };
  }

  // Records the request in the audit, then calls `then` in a later turn.
  void record(const mcp::clients::server_question& q, mcp::server::call_decision decision, mcp::server::call_end end,
              std::size_t bytes, std::function<void()> then) {
    if (!shared_->by.audit) {
      if (then) asio::post(shared_->by.executor, std::move(then));
      return;
    }
    mcp::server::finished_call call{std::string(sampling_method), q.server, q.params, decision, end, bytes};
    shared_->by.audit->append(
        {shared_->by.time.wall_ms(), who_.principal, who_.pid, who_.name, who_.run, std::move(call)},
        then ? std::move(then) : [] {});
  }

  const std::shared_ptr<impl> shared_;
  const asker who_;
  ticket last_ = 0;
  std::unordered_map<ticket, std::unique_ptr<open_question>> open_;
};

own_answers::own_answers(means m) : impl_(std::make_shared<impl>(std::move(m))) {}
own_answers::~own_answers() = default;

std::shared_ptr<mcp::clients::question_handler> own_answers::handler_for(asker who) {
  return std::make_shared<handler>(impl_, std::move(who));
}

bool own_answers::samples_for(std::string_view server) const {
  const auto settings = impl_->by.settings();
  const auto* known = settings->find(server);
  return known && known->sampling;
}

bool own_answers::has_roots_for(std::string_view server) const {
  const auto settings = impl_->by.settings();
  const auto* known = settings->find(server);
  return known && known->roots;
}

bool own_answers::lends(const mcp::clients::server_question& q) const {
  return q.method == roots_method ? has_roots_for(q.server) : answers(q);
}

bool own_answers::answers(const mcp::clients::server_question& q) const {
  return q.method == roots_method || (q.method == sampling_method && samples_for(q.server));
}

policy::tool_facts sampling_tool::facts() const {
  return {.server = server, .own = sampling_method, .names = {.name = listed}, .may_destroy = false};
}

sampling_tool sampling_tool_of(const policy::terms_ptr& entries, std::string_view server) {
  const auto* terms = policy::terms_of(entries, server);
  const auto prefix = terms && !terms->naming.prefix.empty() ? terms->naming.prefix : std::string(server);
  return {std::string(server), prefix + "__" + std::string(sampling_method)};
}

}  // namespace mcpbx::daemon::answers
