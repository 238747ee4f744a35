// The run behind an answer. Events are pulled at the end of a turn and while the caller reads, so that simultaneous
// events leave together and a slow caller costs no more than the bound of the run's feed.
#include "daemon/front/dialects/answered_run.hpp"

#include "daemon/front/dialects/message_builder.hpp"
#include "daemon/front/exchange/request_trace.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <ranges>
#include <utility>

namespace mcpbx::daemon::dialects {
namespace {

/// Bytes in the connection below which it gets more.
constexpr std::size_t feed_below = 256u << 10;
/// Silence after which a stream says something without meaning, so that no proxy closes the connection as dead.
constexpr milliseconds longest_silence{15'000};

/// Time that a request naming an unknown tool waits for servers that are still starting.
constexpr milliseconds settle_time{1'000};
/// Unknown tools that a refusal names.
constexpr std::size_t most_shown = 10;

const std::string gone = "the caller went away";
const std::string too_slow =
    "This stream was read too slowly: more than 4 MiB waited, and parts of the text were dropped.";

}  // namespace

answered_run::answered_run(std::shared_ptr<routes::exchange> x, dialect_request request,
                           std::unique_ptr<answer_writer> writer, answered then)
    : door_(x->door()),
      line_(std::move(x)),
      request_(std::move(request)),
      writer_(std::move(writer)),
      then_(std::move(then)) {}

void answered_run::start(const std::shared_ptr<routes::exchange>& x, dialect_request request,
                         std::unique_ptr<answer_writer> writer, answered then) {
  const auto going = std::make_shared<answered_run>(x, std::move(request), std::move(writer), std::move(then));
  x->keep(going);
  going->begin_run();
}

void answered_run::begin_run() {
  request_.run.principal = line_->principal();
  request_.run.trace = routes::trace_of(line_->head().headers);
  if (missing_tools().empty()) return run();
  door_.daemon.when_settled(settle_time, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->line_ == nullptr) return;
    const auto missing = self->missing_tools();
    if (missing.empty()) return self->run();
    std::string names;
    for (const auto& name : missing | std::views::take(most_shown))
      names += (names.empty() ? "" : ", ") + shown_name(name);
    if (missing.size() > most_shown) names += " and " + std::to_string(missing.size() - most_shown) + " more";
    self->fail({400,
                "tool_choice: expected the name of a function in tools, or of a tool that mcpbx offers (`mcpbx tools` "
                "lists them), got " +
                    names,
                "tool_choice", ""});
  });
}

// Names the member when the run that the request itself names cannot go on.
request_fault answered_run::start_fault(const error& e) const {
  auto f = fault_of(e);
  if (request_.continues.empty() || (e.code != errc::invalid_argument && e.code != errc::not_found)) return f;
  f.status = 400;
  f.param = "previous_response_id";
  return f;
}

std::vector<std::string> answered_run::missing_tools() {
  auto missing = request_.named_tools;
  for (const auto& tool : request_.run.client_tools) std::erase(missing, json::member_text(tool, "name"));
  if (missing.empty()) return missing;
  const auto ours = door_.tools_for(request_.run.profile);
  std::erase_if(missing, [&](const auto& name) { return ours->find(name) != nullptr; });
  return missing;
}

void answered_run::run() {
  if (line_ == nullptr) return;
  const auto feed = open_run();
  if (!feed) return fail(start_fault(feed.error()));
  run_ = (*feed)->run();
  answer_head head{std::string(writer_->id_prefix()) + run_, request_.model, door_.time.wall_ms() / 1000};
  if (seen_ > 0) head.id += "-" + std::to_string(seen_);  // a separate answer about the same run
  writer_->name(std::move(head));
  // For a JSON answer, text beside tool calls would make it invalid: the answer is sent whole, at the end.
  reader_ = (*feed)->attach(*this, {.after = seen_, .deltas = !request_.run.answer_schema, .answers = false});
  if (line_ == nullptr) return reader_->leave(gone);
  last_sent_ = door_.time.now();
  if (request_.stream) {
    silence_ = door_.time.make_timer();
    keep_alive();
  }
  ask_pull();
}

result<std::shared_ptr<run::run_feed>> answered_run::open_run() {
  const auto& named = request_.continues;
  const auto& principal = request_.run.principal;
  const auto waiting = named.empty() ? door_.handed.take(request_.conversation_before, request_.results, principal)
                                     : door_.handed.take_run(named, request_.results, principal);
  if (!waiting && !named.empty())
    return mcpbx::fail(errc::invalid_argument,
                       "previous_response_id: expected a response that waits for exactly these results; send the whole "
                       "conversation as input instead");
  if (waiting) {
    run::run_request results;
    results.run = waiting->run;
    results.principal = principal;
    results.results = request_.results;
    // The run may have ended since. A new run can continue, because the request has the whole conversation.
    seen_ = waiting->seen;
    auto feed = door_.daemon.start_run(std::move(results), {});
    if (feed) told_ = waiting->told;
    if (feed || !named.empty()) return feed;
    seen_ = 0;
  }
  auto fresh = request_.run;
  return door_.daemon.start_run(std::move(fresh), {});
}

void answered_run::on_left() {
  line_ = nullptr;
  silence_.reset();
  if (reader_) reader_->leave(gone);
}

void answered_run::on_ready(run::run_event::kind) {
  ask_pull();
}

void answered_run::ask_pull() {
  if (std::exchange(asked_, true)) return;
  boost::asio::post(door_.executor, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pull();
  });
}

void answered_run::pull() {
  asked_ = false;
  if (line_ == nullptr || !reader_) return;
  while (line_ != nullptr && line_->unsent() + out_.size() < feed_below) {
    const auto* e = reader_->peek();
    if (e == nullptr) break;
    seen_ = e->seq;
    take(e->event);
    if (line_ == nullptr) return;
    reader_->pop();
  }
  send();
  if (line_ != nullptr && reader_->ended()) end();
}

void answered_run::take(const run::run_event& e) {
  switch (e.type) {
    case run::run_event::kind::text:
    case run::run_event::kind::reasoning:
      return take_text(e);
    case run::run_event::kind::done:
      if (!reader_->told_all()) take_round_text();  // otherwise the result has it
      return;
    case run::run_event::kind::round:
      take_round_text();
      new_round_ = any_text_;
      if (!writer_->has_model()) writer_->set_model(json::member_text(e.body.join(), "model"));
      return;
    case run::run_event::kind::error:
      return take_error(e.body.join());
    case run::run_event::kind::snapshot:
      lost_ = true;
      return;
    default:
      return;
  }
}

// Takes the text of a round for an answer without a stream, while the feed still has it.
void answered_run::take_round_text() {
  if (std::exchange(untaken_, false)) said_.rounds.push_back(reader_->round_text());
}

void answered_run::take_error(const json::raw_json& body) {
  error_ = {json::find_member(body, "retryable").is_true(),
            json::find_member(body, "retryAfterMs").as_integer().value_or(0)};
}

void answered_run::take_text(const run::run_event& e) {
  const bool said = e.type == run::run_event::kind::text;
  const bool apart = said && std::exchange(new_round_, false);
  any_text_ = any_text_ || said;
  if (!request_.stream) {
    if (!said) said_.thinking += e.text;
    untaken_ = untaken_ || said;
    return;
  }
  begin();
  if (line_ == nullptr) return;
  if (said)
    writer_->text(out_, e.text, apart);
  else
    writer_->reasoning(out_, e.text);
}

// Sends the status with the first chunk: until then a run that fails is answered as an error.
void answered_run::begin() {
  if (line_ == nullptr || std::exchange(begun_, true)) return;
  line_->begin(200, {{"Content-Type", "text/event-stream; charset=utf-8"},
                     {"Cache-Control", "no-cache"},
                     {std::string(writer_->request_id_header()), run_}});
  writer_->begin(out_);
}

void answered_run::send() {
  if (line_ == nullptr || out_.empty()) return;
  last_sent_ = door_.time.now();
  line_->send(out_);
  out_.clear();
}

void answered_run::end() {
  const auto self = shared_from_this();
  if (const auto& why = reader_->refusal()) return fail(fault_of(*why));
  // Releases the run before an answer of similar size is made of its result.
  auto result = reader_->result();
  reader_.reset();
  auto o = outcome_of(result, error_, !any_text_ || untaken_);
  if (untaken_) said_.rounds.push_back(std::exchange(o.text, {}));
  if (o.fault) return fail(*o.fault);
  if (lost_) return fail({503, too_slow, "", "too_slow", true});
  if (!o.calls.empty()) {
    front::handed_calls::waiting w{run_, request_.conversation, {}, seen_, o.used, request_.run.principal};
    for (const auto& c : o.calls) w.calls.push_back(c.id);
    if (const auto given_up = door_.handed.keep(std::move(w)))
      door_.daemon.cancel_run(*given_up, "too many runs wait for results of their callers", {});
  }
  // Subtracts usage of earlier answers, so that a client's sum counts each model request once.
  o.used -= told_;
  if (request_.stream) begin();
  if (line_ == nullptr) return;  // the caller left while the replaced run was cancelled
  const auto line = std::exchange(line_, nullptr);
  silence_.reset();
  if (any_text_) o.text.clear();  // said already
  if (!request_.stream) return answer_whole(line, std::move(result), std::move(o));
  writer_->end(out_, o);
  if (then_) then_(json::member_text(result, "session"));
  line->send(std::exchange(out_, {}));
  line->finish();
}

void answered_run::answer_whole(const std::shared_ptr<routes::exchange>& line, json::raw_json result, run_outcome o) {
  if (has_reasoning(result)) take_off_reasoning(said_.rounds, said_.thinking, result);
  auto session = then_ ? json::member_text(result, "session") : std::string();
  result = {};  // released before an answer of similar size is made
  auto body = writer_->body(std::move(said_), o);
  if (then_) then_(std::move(session));
  line->answer({200,
                {{"Content-Type", "application/json"}, {std::string(writer_->request_id_header()), run_}},
                std::move(body)});
}

void answered_run::fail(const request_fault& f) {
  if (line_ == nullptr) return;
  const auto self = shared_from_this();
  const auto line = std::exchange(line_, nullptr);
  silence_.reset();
  if (begun_) {
    writer_->broken(out_, f);
    line->send(std::exchange(out_, {}));
    return line->finish();
  }
  line->answer(fault_answer(*writer_, f, run_));
}

void answered_run::keep_alive() {
  const auto now = door_.time.now();
  if (now >= last_sent_ + longest_silence) {
    begin();
    writer_->keep_alive(out_);
    send();
    if (line_ == nullptr) return;
  }
  silence_->arm(last_sent_ + longest_silence, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->line_ != nullptr) self->keep_alive();
  });
}

}  // namespace mcpbx::daemon::dialects
