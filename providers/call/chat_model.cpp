// One model call: credentials, request, answer, and retries where they are safe. Nothing is repeated once a delta was
// passed on.
#include "providers/call/chat_model.hpp"

#include "mcp/http/url.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/registry/registry.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace mcpbx::providers::call {
namespace {

constexpr std::size_t max_error_body = 64 * 1024;
// Largest answer in bytes of text. More than any model writes, and small enough that a compressed bomb (G33) fits into
// the feeds and queues of all listeners.
constexpr std::size_t max_words = 4u << 20;
// Time for the rest of a body after the stream's end mark, so that the connection can be used again.
constexpr milliseconds drain_time{50};

class chat_run;

struct endpoint_state {
  chat_model_options options;
  http::clients::client& client;
  time_source& time;
  random_source& random;
  const wire::codec& wire;
  std::vector<std::string> registered;  // credentials that the redactor got last
  std::vector<std::shared_ptr<chat_run>> draining;
};

std::string_view to_string(http::clients::stage s) {
  switch (s) {
    case http::clients::stage::resolve:
      return "name look-up";
    case http::clients::stage::connect:
      return "connecting";
    case http::clients::stage::tls:
      return "TLS";
    case http::clients::stage::send:
      return "sending";
    case http::clients::stage::first_byte:
      return "waiting for the answer";
    case http::clients::stage::body:
      return "reading the answer";
  }
  return "";
}

class chat_run final : public http::clients::response_events,
                       public wire::decoder_sink,
                       public std::enable_shared_from_this<chat_run> {
 public:
  chat_run(std::shared_ptr<endpoint_state> shared, model_request request, model_events& events)
      : shared_(std::move(shared)), request_(std::move(request)), events_(&events), started_(shared_->time.now()) {}

  void start() {
    ++attempt_;
    if (!shared_->options.credentials) return write({});
    starting_ = true;
    shared_->options.credentials([weak = weak_from_this()](result<std::vector<http::header>> got) {
      if (const auto self = weak.lock()) self->got_credentials(std::move(got));
    });
    starting_ = false;
  }

  void begin() {
    begun_ = true;
    if (ready_) leave();
  }

  // Providers report no usage for an answer that is broken off, though they charge for the request.
  usage spent() const {
    auto all = before_;
    if (!draining_ && exchange_ && (decoder_ || (status_ == 0 && exchange_->sent()))) all += spent_estimate();
    return all;
  }

  void cancel() {
    events_ = nullptr;
    if (draining_) return;
    exchange_.reset();
    timer_.reset();
  }

 private:
  usage spent_estimate() const {
    usage u;
    u.estimated = true;
    u.input = static_cast<std::int64_t>(request_bytes_ / 4 + 1);
    u.output = static_cast<std::int64_t>(words_ / 4);
    return u;
  }

  // Estimates the input tokens from the size of the request if the provider reported no usage.
  usage counted(const model_reply& reply) const {
    auto u = reply.usage;
    if (u.estimated) u.input = static_cast<std::int64_t>(request_bytes_ / 4 + 1);
    return u;
  }

  // Makes the timer at its first use, because few calls need it.
  timer& clock() {
    if (!timer_) timer_ = shared_->time.make_timer();
    return *timer_;
  }

  void got_credentials(result<std::vector<http::header>> got) {
    if (events_ == nullptr) return;
    if (got) return write(*std::move(got));
    model_error e;
    e.type = model_error::kind::configuration;
    e.message = "The key of " + wire::named(shared_->options.wire) + " is not available: " + got.error().message;
    if (!starting_) return tell(std::move(e));
    tell_later(std::move(e));
  }

  // Reports an error in a later turn, since no event may come from inside prepare().
  void tell_later(model_error e) {
    clock().arm_next([weak = weak_from_this(), e = std::move(e)] {
      if (const auto self = weak.lock()) self->tell(e);
    });
  }

  void write(std::vector<http::header> credentials) {
    const auto& o = shared_->options;
    if (!std::ranges::equal(credentials, shared_->registered, {}, &http::header::value)) {
      register_credentials(credentials);
      shared_->registered.clear();
      for (const auto& c : credentials) shared_->registered.push_back(c.value);
    }
    auto encoded = shared_->wire.encode(request_, o.wire);
    if (encoded.unsaid) {
      model_error e;
      e.type = model_error::kind::bad_request;
      e.message = "The " + wire::who(o.wire) +
                  " was not asked: its API takes no conversation without content beside the system prompt. Put what "
                  "you ask into a message of the user.";
      return tell_later(std::move(e));
    }
    http::clients::request r;
    r.url = std::move(encoded.url);
    r.headers.reserve(credentials.size() + encoded.headers.size() + o.headers.size() + 2);
    for (auto& [name, value] : encoded.headers) put_header(r.headers, {std::move(name), std::move(value)});
    if (!request_.trace.empty()) r.headers.push_back({"traceparent", request_.trace.parent});
    if (!request_.trace.state.empty()) r.headers.push_back({"tracestate", request_.trace.state});
    for (const auto& h : o.headers) put_header(r.headers, h);
    for (auto& h : credentials) put_header(r.headers, std::move(h));
    r.body = std::move(encoded.body);
    r.trust = o.trust;
    r.limits = o.limits;
    request_bytes_ = r.body.size();
    status_ = 0;
    decoder_.reset();
    held_.set(0);
    error_body_.clear();
    advice_ = {};
    ready_ = std::move(r);
    if (begun_) leave();
  }

  void leave() {
    ready_->limits.total = std::max(left(), milliseconds(1));
    exchange_ = shared_->client.start(*std::exchange(ready_, std::nullopt), *this);
  }

  milliseconds left() const {
    return std::chrono::duration_cast<milliseconds>(started_ + shared_->options.limits.total - shared_->time.now());
  }

  // http::clients::response_events
  void on_head(int status, const std::vector<http::header>& headers) override {
    status_ = status;
    if (status / 100 == 2)
      decoder_ =
          shared_->wire.make_decoder(http::find_header(headers, "content-type"), shared_->options.wire, &request_);
    else
      advice_ = read_advice(headers, shared_->time.wall_ms());
    request_id_.clear();
    for (const auto* name : {"x-request-id", "request-id", "x-generation-id"})
      if (request_id_.empty()) request_id_ = http::find_header(headers, name);
    if (log::enabled(log::level::debug)) log::debug(status_line());
  }

  void on_body(std::string_view bytes) override {
    const auto self = shared_from_this();
    if (draining_ || events_ == nullptr) return;
    if (decoder_) {
      if (!decoder_->done()) decoder_->feed(bytes, *this);
      held_.set(decoder_->held_bytes());
      if (words_ > max_words && !decoder_->done()) stop_words();
      // An error in the stream is final; ignore anything behind it.
      if (failed_) settle();
    } else {
      error_body_ += bytes.substr(0, max_error_body - std::min(max_error_body, error_body_.size()));
      if (error_body_.size() == max_error_body) settle();
    }
  }

  void on_pause() override {
    if (!reply_ || draining_) return;
    if (asks_again_for_call()) return;
    // The end mark came without the end of the body: give that a moment, so that the connection can be kept.
    const auto self = shared_from_this();
    draining_ = true;
    shared_->draining.push_back(self);
    clock().arm(shared_->time.now() + drain_time, [weak = weak_from_this()] {
      if (const auto run = weak.lock()) run->drained();
    });
    settle();
  }

  void on_end() override {
    const auto self = shared_from_this();
    if (draining_) return drained();
    if (decoder_ && !decoder_->done()) decoder_->finish(*this);
    settle();
  }

  void on_failure(http::clients::failure f) override {
    const auto self = shared_from_this();
    if (draining_) return drained();
    if (!decoder_ && status_ != 0) return settle();  // an error answer whose body broke off says enough
    const bool complete = decoder_ && (decoder_->done() || decoder_->finish_seen());
    if (decoder_ && !decoder_->done()) decoder_->finish(*this);
    if (complete) return settle();
    model_error e;
    if (failed_) e.partial_text = std::move(failed_->partial_text);
    const bool limit = f.why.code == errc::timed_out;
    e.type = limit                                                                ? model_error::kind::time_limit
             : f.why.code == errc::limit || f.why.code == errc::protocol          ? model_error::kind::garbage
             : f.stage == http::clients::stage::body                              ? model_error::kind::cut
             : f.why.code == errc::config || f.why.code == errc::invalid_argument ? model_error::kind::configuration
                                                                                  : model_error::kind::connection;
    e.http_status = status_;
    e.retryable = e.type != model_error::kind::configuration;
    if (f.stage == http::clients::stage::first_byte || f.stage == http::clients::stage::body)
      e.usage = spent_estimate();
    // The cause begins with the place.
    e.message = "The " + wire::named(shared_->options.wire) + " gave no usable answer (" +
                std::string(to_string(f.stage)) + "): " + f.why.message;
    if (e.type == model_error::kind::connection && f.stage == http::clients::stage::tls)
      e.message += " If an authority of your own has signed its certificate, name that in \"caFile\" of the model.";
    else if (e.type == model_error::kind::connection)
      e.message += " Check the address and the network.";
    else if (e.type == model_error::kind::cut)
      e.message.append(" ").append(wire::cut_mend);
    else if (limit)
      e.message += " If it may take longer, raise the limit in the model's entry.";
    failed_.reset();
    reply_.reset();
    if (is_repeatable(f) && try_again({}, e.usage)) return;
    tell(std::move(e));
  }

  // decoder_sink
  void on_text(std::string_view delta) override {
    shown_ = true;
    words_ += delta.size();
    if (events_ != nullptr) events_->on_text(delta);
  }
  void on_reasoning(std::string_view delta) override {
    shown_ = true;
    words_ += delta.size();
    if (events_ != nullptr) events_->on_reasoning(delta);
  }
  void on_end(model_reply reply) override { reply_ = std::move(reply); }
  void on_error(model_error e) override { failed_ = std::move(e); }

  std::string status_line() const {
    return "model \"" + shared_->options.name + "\" answers with status " + std::to_string(status_) +
           (request_id_.empty() ? "" : ", request id " + redact::cut_for_people(request_id_, 100));
  }

  // Logs the endpoint's own words. The user gets one sentence; the cause may be in the rest.
  void log_said(model_error& e) const {
    const auto said = std::exchange(e.said, {});
    if (log::enabled(log::level::info)) log::info(status_line() + ": " + said);
  }

  // Returns true for a failed generation of a request without tools. With tools, text_tools_model.hpp reads the text.
  bool is_lost_call(const model_error& e) const { return !e.failed_generation.empty() && !request_.offered(); }

  // Repeats the request if the reply was one unreadable call and nothing else: the second attempt is mostly right.
  bool asks_again_for_call() {
    const bool unreadable = reply_ ? reply_->reason == end_reason::malformed_call && reply_->message->calls().empty()
                                   : failed_ && is_lost_call(*failed_);
    if (!unreadable || !try_again({}, reply_ ? counted(*reply_) : usage{})) return false;
    reply_.reset();
    failed_.reset();
    return true;
  }

  // Repeats the request after an overload error inside the stream, as after one by status.
  bool asks_again_when_overloaded() {
    if (!failed_ || failed_->type != model_error::kind::overloaded || !failed_->retryable) return false;
    if (!try_again({.wait_ms = failed_->retry_after_ms, .should_retry = {}})) return false;
    failed_.reset();
    return true;
  }

  void stop_words() {
    decoder_->finish(*this);
    model_error e;
    if (failed_) e.partial_text = std::move(failed_->partial_text);
    e.type = model_error::kind::garbage;
    e.http_status = status_;
    e.message = "The " + wire::who(shared_->options.wire) + " wrote more than " + std::to_string(max_words >> 20) +
                " MiB without an end, so its answer was stopped. Ask for less at once.";
    reply_.reset();
    failed_ = std::move(e);
  }

  // Reports the reply or the error after the end of the exchange, unless the request is repeated.
  void settle() {
    if (!draining_) exchange_.reset();
    if (events_ == nullptr) return;
    if (failed_ && !failed_->said.empty()) log_said(*failed_);
    if (!draining_ && (asks_again_for_call() || asks_again_when_overloaded())) return;
    if (reply_) {
      decoder_.reset();
      held_.set(0);
      auto reply = *std::exchange(reply_, std::nullopt);
      reply.usage = counted(reply);
      reply.usage += before_;
      std::exchange(events_, nullptr)->on_reply(std::move(reply));
      return;
    }
    if (failed_) {
      const bool refused = failed_->type != model_error::kind::cut && failed_->type != model_error::kind::garbage;
      if (!refused || words_ > 0) failed_->usage = spent_estimate();
      add_wait(*failed_);
      return tell(*std::exchange(failed_, std::nullopt));
    }
    auto e = shared_->wire.decode_error(status_, error_body_, shared_->options.wire);
    log_said(e);
    // The wait in a header wins over the one in the body.
    if (advice_.wait_ms < 0) advice_.wait_ms = e.retry_after_ms;
    e.retry_after_ms = advice_.wait_ms;
    const bool may = (advice_.should_retry.value_or(is_repeatable(status_)) && e.retryable) || is_lost_call(e);
    if (may && try_again(advice_)) return;
    add_wait(e);
    tell(std::move(e));
  }

  static void add_wait(model_error& e) {
    if (e.retryable && e.retry_after_ms > 0)
      e.message += " It asks to wait " + std::to_string((e.retry_after_ms + 999) / 1000) + " s.";
  }

  // Schedules another attempt if the rules allow it. `used` is the usage of the failed attempt.
  bool try_again(const retry_advice& advice, const usage& used = {}) {
    if (shown_ || events_ == nullptr || !request_.may_repeat) return false;
    const auto needed_in = std::chrono::floor<milliseconds>(request_.needed_by - shared_->time.now());
    const auto wait = wait_before_retry(shared_->options.retries, attempt_, advice, shared_->random.next(),
                                        std::min(left(), needed_in));
    if (!wait) return false;
    before_ += used;
    exchange_.reset();
    log::info("model \"" + shared_->options.name +
              "\": " + (status_ != 0 ? "status " + std::to_string(status_) : "no connection") + ", asking again in " +
              std::to_string(wait->count()) + " ms");
    clock().arm(shared_->time.now() + *wait, [weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->events_ != nullptr) self->start();
    });
    return true;
  }

  void tell(model_error e) {
    exchange_.reset();
    e.usage += before_;
    if (attempt_ > 1) e.message += " (asked " + std::to_string(attempt_) + " times)";
    if (auto* const events = std::exchange(events_, nullptr)) events->on_error(std::move(e));
  }

  void drained() {
    const auto self = shared_from_this();
    timer_.reset();
    exchange_.reset();
    std::erase(shared_->draining, self);
  }

  std::shared_ptr<endpoint_state> shared_;
  model_request request_;
  model_events* events_;
  time_point started_;
  std::unique_ptr<timer> timer_;
  std::optional<http::clients::request> ready_;  // the encoded request until it is sent
  std::unique_ptr<http::clients::exchange> exchange_;
  std::unique_ptr<wire::stream_decoder> decoder_;
  byte_share held_;  // bytes that decoder_ holds
  std::string error_body_, request_id_;
  retry_advice advice_;
  std::optional<model_reply> reply_;
  std::optional<model_error> failed_;
  usage before_;  // usage of earlier attempts
  std::size_t request_bytes_ = 0;
  std::size_t words_ = 0;  // bytes of text passed on so far
  int status_ = 0, attempt_ = 0;
  bool shown_ = false, draining_ = false, starting_ = false, begun_ = false;
};

class chat_call final : public model_call {
 public:
  explicit chat_call(std::shared_ptr<chat_run> run) : run_(std::move(run)) {}
  ~chat_call() override { run_->cancel(); }
  chat_call(const chat_call&) = delete;
  chat_call& operator=(const chat_call&) = delete;
  void begin() override { run_->begin(); }
  usage spent() const override { return run_->spent(); }

 private:
  std::shared_ptr<chat_run> run_;
};

class chat_model final : public model {
 public:
  explicit chat_model(std::shared_ptr<endpoint_state> shared) : shared_(std::move(shared)) {}
  ~chat_model() override { shared_->draining.clear(); }
  chat_model(const chat_model&) = delete;
  chat_model& operator=(const chat_model&) = delete;
  const std::string& name() const override { return shared_->options.name; }
  const std::string& id() const override { return shared_->options.wire.model; }
  const std::string& api() const override { return shared_->options.api; }
  std::string_view default_system() const override { return shared_->options.system; }
  std::size_t max_tools() const override { return shared_->options.max_tools; }
  std::unique_ptr<model_call> prepare(model_request request, model_events& events) override {
    auto run = std::make_shared<chat_run>(shared_, std::move(request), events);
    run->start();
    return std::make_unique<chat_call>(std::move(run));
  }

 private:
  std::shared_ptr<endpoint_state> shared_;
};

}  // namespace

result<std::unique_ptr<model>> make_chat_model(chat_model_options options, http::clients::client& client,
                                               time_source& time, random_source& random) {
  const auto* wire = registry::find_codec(options.api);
  if (wire == nullptr)
    return fail(errc::config, "Model \"" + options.name + "\": the API \"" + options.api + "\" is not known.");
  options.wire.name = options.name;
  options.wire.base_url = http::appendable(options.wire.base_url);
  if (const auto url = http::parse_url(options.wire.base_url); !url)
    return fail(errc::config, "Model \"" + options.name + "\": " + url.error().message);
  auto shared =
      std::make_shared<endpoint_state>(endpoint_state{std::move(options), client, time, random, *wire, {}, {}});
  return std::make_unique<chat_model>(std::move(shared));
}

}  // namespace mcpbx::providers::call
