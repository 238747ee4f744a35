// The run of a completion. Events are pulled at the end of a turn and while the caller reads, so that simultaneous
// events leave together and a slow caller costs no more than the bound of the run's feed.
#include "daemon/front/completions/completion.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace mcpbx::daemon {
namespace {

/// Bytes in the connection below which it gets more.
constexpr std::size_t feed_below = 256u << 10;
/// Silence after which a stream sends an empty chunk, so that no proxy closes the connection as dead.
constexpr milliseconds longest_silence{15'000};

/// Time that a request naming an unknown tool waits for servers that are still starting.
constexpr milliseconds settle_time{1'000};

const std::string gone = "the caller went away";
const std::string too_slow =
    "This stream was read too slowly: more than 4 MiB waited, and parts of the text were dropped.";

}  // namespace

completion::completion(std::shared_ptr<exchange> x, completion_request request)
    : door_(x->door()), line_(std::move(x)), request_(std::move(request)) {
  head_.model = request_.model;
  head_.created = door_.time.wall_ms() / 1000;
  head_.with_usage = request_.include_usage;
}

void completion::start() {
  request_.run.principal = line_->principal();
  if (missing_tools().empty()) return run();
  door_.daemon.when_settled(settle_time, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->line_ == nullptr) return;
    const auto missing = self->missing_tools();
    if (missing.empty()) return self->run();
    std::string names;
    for (const auto& name : missing) names += (names.empty() ? "" : ", ") + json_quoted(name);
    self->fail({400,
                "tool_choice: expected the name of a function in tools, or of a tool that mcpbx offers (`mcpbx tools` "
                "lists them), got " +
                    names,
                "tool_choice", ""});
  });
}

std::vector<std::string> completion::missing_tools() {
  auto missing = request_.named_tools;
  for (const auto& tool : request_.run.client_tools) std::erase(missing, member_text(tool, "name"));
  if (missing.empty()) return missing;
  const auto ours = door_.tools_for(request_.run.profile);
  std::erase_if(missing, [&](const auto& name) { return ours->find(name) != nullptr; });
  return missing;
}

void completion::run() {
  if (line_ == nullptr) return;
  const auto feed = open_run();
  if (!feed) return fail(fault_of(feed.error()));
  run_ = (*feed)->run();
  head_.id = "chatcmpl-" + run_;
  if (seen_ > 0) head_.id += "-" + std::to_string(seen_);  // a separate answer about the same run
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

result<std::shared_ptr<run_feed>> completion::open_run() {
  if (const auto waiting = door_.handed.take(request_.conversation_before, request_.results, request_.run.principal)) {
    run_request results;
    results.run = waiting->run;
    results.principal = request_.run.principal;
    results.results = request_.results;
    // The run may have ended since. A new run can continue, because the request has the whole conversation.
    seen_ = waiting->seen;
    if (auto feed = door_.daemon.start_run(std::move(results), {})) {
      told_ = waiting->told;
      return feed;
    }
    seen_ = 0;
  }
  auto fresh = request_.run;
  return door_.daemon.start_run(std::move(fresh), {});
}

void completion::on_left() {
  line_ = nullptr;
  silence_.reset();
  if (reader_) reader_->leave(gone);
}

void completion::on_ready(run_event::kind) {
  ask_pull();
}

void completion::ask_pull() {
  if (std::exchange(asked_, true)) return;
  boost::asio::post(door_.executor, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pull();
  });
}

void completion::pull() {
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

void completion::take(const run_event& e) {
  switch (e.type) {
    case run_event::kind::text:
    case run_event::kind::reasoning:
      return take_text(e);
    case run_event::kind::done:
      if (!reader_->told_all()) take_round_text();  // otherwise the result has it
      return;
    case run_event::kind::round:
      take_round_text();
      new_round_ = any_text_;
      if (head_.model.empty()) head_.model = member_text(e.body.join(), "model");
      return;
    case run_event::kind::error:
      return take_error(e.body.join());
    case run_event::kind::snapshot:
      lost_ = true;
      return;
    default:
      return;
  }
}

// Takes the text of a round for an answer without a stream, while the feed still has it.
void completion::take_round_text() {
  if (std::exchange(untaken_, false)) texts_.push_back(reader_->round_text());
}

void completion::take_error(const raw_json& body) {
  error_ = {find_member(body, "retryable").is_true(), find_member(body, "retryAfterMs").as_integer().value_or(0)};
}

void completion::take_text(const run_event& e) {
  const bool said = e.type == run_event::kind::text;
  // An empty line separates the text of different rounds.
  const bool apart = said && std::exchange(new_round_, false);
  any_text_ = any_text_ || said;
  if (!request_.stream) {
    if (!said) thinking_ += e.text;
    untaken_ = untaken_ || said;
    return;
  }
  begin();
  if (line_ == nullptr) return;
  if (!said) return completion_json::append_reasoning(out_, head_, e.text);
  completion_json::append_text(out_, head_, apart ? "\n\n" + e.text : e.text);
}

// Sends the status with the first chunk: until then a run that fails is answered as an error.
void completion::begin() {
  if (line_ == nullptr || std::exchange(begun_, true)) return;
  line_->begin(
      200,
      {{"Content-Type", "text/event-stream; charset=utf-8"}, {"Cache-Control", "no-cache"}, {"x-request-id", run_}});
  completion_json::append_role(out_, head_);
}

void completion::send() {
  if (line_ == nullptr || out_.empty()) return;
  last_sent_ = door_.time.now();
  line_->send(out_);
  out_.clear();
}

void completion::end() {
  const auto self = shared_from_this();
  if (const auto& why = reader_->refusal()) return fail(fault_of(*why));
  // Releases the run before an answer of similar size is made of its result.
  auto result = reader_->result();
  reader_.reset();
  auto o = outcome_of(result, error_, !any_text_ || untaken_);
  if (untaken_) texts_.push_back(std::exchange(o.text, {}));
  if (o.fault) return fail(*o.fault);
  if (lost_) return fail({503, too_slow, "", "too_slow", true});
  if (!o.calls.empty()) {
    handed_calls::waiting w{run_, request_.conversation, {}, seen_, o.used, request_.run.principal};
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
  if (!request_.stream) {
    const bool thought = has_reasoning(result);
    if (!thought) result = {};
    if (thought) take_off_reasoning(texts_, thinking_, result);
    result = {};
    std::string text = any_text_ ? std::string() : std::move(o.text);
    for (auto& one : texts_) {
      if (text.empty()) {
        text = std::move(one);
      } else if (!one.empty()) {
        text += "\n\n";
        text += one;
      }
    }
    auto body = completion_json::answer(head_, text, thinking_, o);
    std::string().swap(text);
    return line->answer({200, {{"Content-Type", "application/json"}, {"x-request-id", run_}}, std::move(body)});
  }
  if (!any_text_ && !o.text.empty()) completion_json::append_text(out_, head_, o.text);
  if (!o.refusal.empty()) completion_json::append_refusal(out_, head_, o.refusal);
  completion_json::append_calls(out_, head_, o.calls);
  completion_json::append_finish(out_, head_, o.finish);
  if (request_.include_usage) completion_json::append_usage(out_, head_, o);
  completion_json::append_done(out_);
  line->send(std::exchange(out_, {}));
  line->finish();
}

// Sends an error. OpenAI's clients repeat a request by themselves on some statuses, unless a header forbids it.
void completion::fail(const completion_fault& f) {
  if (line_ == nullptr) return;
  const auto self = shared_from_this();
  const auto line = std::exchange(line_, nullptr);
  silence_.reset();
  if (begun_) {
    completion_json::append_error(out_, f);
    line->send(std::exchange(out_, {}));
    return line->finish();
  }
  std::vector<http::header> headers{{"Content-Type", "application/json"}};
  if (!run_.empty()) headers.push_back({"x-request-id", run_});
  if (f.final) headers.push_back({"x-should-retry", "false"});
  if (f.retry_after_ms > 0) headers.push_back({"retry-after", std::to_string((f.retry_after_ms + 999) / 1000)});
  line->answer({f.status, std::move(headers), completion_json::error_body(f)});
}

void completion::keep_alive() {
  const auto now = door_.time.now();
  if (now >= last_sent_ + longest_silence) {
    begin();
    completion_json::append_text(out_, head_, "");
    send();
    if (line_ == nullptr) return;
  }
  silence_->arm(last_sent_ + longest_silence, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->line_ != nullptr) self->keep_alive();
  });
}

}  // namespace mcpbx::daemon
