// The messages of one caller as HTTP. They leave in a turn of their own, because a caller may not be closed from inside
// of its transport; it is destroyed in a later turn still.
#include "daemon/front/api/api_call.hpp"

#include "daemon/front/dialects/openai_error.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/rpc/rpc_message.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace mcpbx::daemon::api_door {
namespace {

/// Silence after which a stream gets a comment, so that no proxy closes the connection as dead.
constexpr milliseconds longest_silence{15'000};

/// Beginning of the lines that event_stream writes, up to the id of the request. Only our own text is compared.
constexpr std::string_view event_begin = R"({"jsonrpc":"2.0","method":"mcpbx/event","params":{"request":)";

// Returns the status for a JSON-RPC error of the socket.
int status_of(std::int64_t code, std::string_view cause) {
  if (code == mcp::rpc::code::invalid_params) return 400;
  if (code == mcp::rpc::code::not_found || code == mcp::rpc::code::method_not_found) return 404;
  if (code == mcp::rpc::code::invalid_request) return 403;
  if (code == mcp::rpc::code::overloaded) return 429;
  if (cause == "timed_out") return 504;
  if (cause == "unavailable" || cause == "cancelled") return 503;
  if (cause == "peer" || cause == "protocol") return 502;
  return 500;
}

dialects::request_fault fault_in(const json::raw_json& error) {
  constexpr std::string_view prefix = "params.";
  dialects::request_fault f;
  auto cause = json::member_text(json::find_member(error, "data"), "cause");
  f.status = status_of(json::find_member(error, "code").as_integer().value_or(0), cause);
  f.message = json::member_text(error, "message");
  f.code = std::move(cause);
  if (f.message.starts_with(prefix)) {
    f.message.erase(0, prefix.size());
    f.param = f.message.substr(0, f.message.find(": "));
  }
  return f;
}

}  // namespace

// The transport of the caller: everything that it sends goes to the call.
class api_call::line final : public mcp::transports::transport {
 public:
  explicit line(const std::shared_ptr<api_call>& of) : of_(of) {}
  void start(mcp::transports::transport_events& events) override {
    if (const auto of = of_.lock()) of->events_ = &events;
  }
  void send(const json::segments& text, mcp::rpc::outgoing) override {
    if (const auto of = of_.lock()) of->take(text);
  }
  std::size_t unsent() const noexcept override {
    const auto of = of_.lock();
    return of && of->line_ ? of->line_->unsent() + of->out_.size() : 0;
  }
  void pause_reading(bool) override {}
  void finish_sending() override {}
  void close() override {
    const auto of = of_.lock();
    if (!of) return;
    of->events_ = nullptr;
    of->cut();
  }

 private:
  std::weak_ptr<api_call> of_;
};

api_call::api_call(std::shared_ptr<routes::exchange> x, bool stream) : line_(std::move(x)), stream_(stream) {}

void api_call::start(const std::shared_ptr<routes::exchange>& x, std::string_view method, const json::raw_json& params,
                     bool stream) {
  const auto call = std::make_shared<api_call>(x, stream);
  x->keep(call);
  call->open();
  call->ask(method, params);
}

void api_call::start_detached(const std::shared_ptr<routes::exchange>& x, const json::raw_json& params) {
  const auto call = std::make_shared<api_call>(x, true);
  call->follows_ = true;
  x->keep(call);
  call->open();
  call->ask("mcpbx/chat", params);
}

void api_call::open() {
  auto& door = line_->door();
  caller_ = std::make_shared<rpc_door::rpc_caller>(door, std::make_unique<line>(shared_from_this()), line_->pid(),
                                                   line_->principal());
  caller_->set_name("http");
  caller_->start();
  last_sent_ = door.time.now();
  if (!stream_) return;
  silence_ = door.time.make_timer();
  keep_alive();
}

void api_call::ask(std::string_view method, const json::raw_json& params) {
  if (events_ == nullptr) return;
  std::string text;
  json::json_writer w(text);
  w.begin_object().member("jsonrpc", "2.0").member("id", ++asked_).member("method", method).given("params", params);
  w.end_object();
  // The body was checked by its reader, and a message of ours is whole.
  if (auto m = mcp::rpc::parse_message(w.json(), line_->door().settings.framing.max_depth)) {
    const auto kept = caller_;
    return events_->on_message(std::move(*m));
  }
  if (const auto x = end())
    x->refuse(dialects::error_answer({400, "body: expected an object that nests less deeply", "body", ""}));
}

void api_call::on_drained() {
  const auto kept = caller_;
  if (events_ != nullptr) events_->on_drained();
}

void api_call::on_left() {
  (void)end();
}

// Ends the call and returns its exchange, once.
std::shared_ptr<routes::exchange> api_call::end() {
  silence_.reset();
  auto x = std::exchange(line_, nullptr);
  if (auto caller = std::exchange(caller_, nullptr)) {
    caller->close("");
    const auto executor = caller->door().executor;
    boost::asio::post(executor, [kept = std::move(caller)] {});
  }
  return x;
}

// Ends the answer of a caller that was closed because it did not read.
void api_call::cut() {
  const auto x = end();
  if (!x) return;
  if (begun_) return x->finish(false);
  x->answer(dialects::error_answer({503, "mcpbx has closed this request; ask again.", "", "unavailable"}));
}

// Takes a message while the caller sends it: nothing may end here.
void api_call::take(const json::segments& text) {
  if (!line_) return;
  const auto whole = text.join();
  if (whole.text().starts_with(event_begin)) {
    if (!stream_) return;
    append_event(whole.text().substr(event_begin.size()));
  } else if (json::find_member(whole, "id")) {
    response_ = whole;
  } else {
    return;
  }
  if (std::exchange(pump_asked_, true)) return;
  boost::asio::post(line_->door().executor, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  });
}

// Appends an event: its members without the request, and as id the place from which a caller can continue. `text`
// begins with the id of the request, `,"run":"…","seq":N,`, and ends the message.
void api_call::append_event(std::string_view text) {
  constexpr std::string_view run = R"(,"run":)", seq = R"(,"seq":)";
  const auto run_at = text.find(run), seq_at = text.find(seq, run_at);
  if (run_at == std::string_view::npos || seq_at == std::string_view::npos) return;
  text.remove_suffix(1);  // the brace of the message
  const auto number = text.substr(seq_at + seq.size());
  out_ += "id: " + json::unescaped(text.substr(run_at + run.size(), seq_at - run_at - run.size())) + ":";
  out_ += number.substr(0, number.find_first_not_of("0123456789"));
  out_ += "\ndata: {";
  out_ += text.substr(run_at + 1);
  out_ += "\n\n";
}

// Sends what was taken since the last turn.
void api_call::pump() {
  pump_asked_ = false;
  if (!line_) return;
  if (!out_.empty()) send(std::exchange(out_, {}));
  if (line_ && response_) take_response(std::exchange(response_, {}));
}

void api_call::send(std::string_view part) {
  begin();
  if (!line_) return;
  last_sent_ = line_->door().time.now();
  line_->send(part);
}

void api_call::take_response(const json::raw_json& message) {
  if (const auto error = json::find_member(message, "error")) return fail(error);
  const auto result = json::find_member(message, "result");
  if (std::exchange(follows_, false)) {
    std::string params;
    json::json_writer w(params);
    w.begin_object().member("run", json::find_member(result, "run")).end_object();
    return ask("mcpbx/attach", w.json());
  }
  const auto x = end();
  if (begun_) return x->finish();
  x->answer({200, {{"Content-Type", "application/json"}}, std::string(result.text())});
}

void api_call::begin() {
  if (!line_ || std::exchange(begun_, true)) return;
  line_->begin(200, {{"Content-Type", "text/event-stream; charset=utf-8"},
                     {"Cache-Control", "no-cache"},
                     {"X-Accel-Buffering", "no"}});
}

void api_call::fail(const json::raw_json& error) {
  const auto f = fault_in(error);
  const auto x = end();
  if (!begun_) return x->refuse(dialects::error_answer(f));
  x->send("event: error\ndata: " + dialects::openai_error_body(f) + "\n\n");
  x->finish();
}

void api_call::keep_alive() {
  auto& time = line_->door().time;
  if (time.now() >= last_sent_ + longest_silence) {
    send(": still here\n\n");
    if (!line_) return;
  }
  silence_->arm(last_sent_ + longest_silence, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->line_) self->keep_alive();
  });
}

}  // namespace mcpbx::daemon::api_door
