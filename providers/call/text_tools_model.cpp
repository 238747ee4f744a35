// One call through the wrapper: translates the request, parses the streamed text, and puts the found calls into the
// reply.
#include "providers/call/text_tools_model.hpp"

#include "mcp/support/log.hpp"
#include "providers/call/quoted_calls.hpp"
#include "providers/call/text_conversation.hpp"
#include "providers/text/marks/json_calls.hpp"
#include "providers/text/parsers.hpp"
#include "providers/text/stop_finder.hpp"
#include "providers/wire/finished_calls.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace mcpbx::providers::call {
namespace {

struct text_tools_state {
  std::shared_ptr<model> inner;
  const text::tool_format* format;
  bool fall_back, may_lose_calls;
  bool warned = false;    // about calls in a form that the model was not told to use
  bool lost_one = false;  // with native tools, one reply was nothing but calls as text

  void change_to(const text::tool_format& to, std::string_view why) {
    format = &to;
    log::warn("model \"" + inner->name() + "\" " + std::string(why) + "; from now on it is told of tools in text (" +
              std::string(to.name()) + "). Set \"toolFormat\" of the model to choose another form.");
  }
};

bool was_stopped(end_reason r) {
  return r != end_reason::stop && r != end_reason::tool_calls && r != end_reason::pause;
}

// Turns a quoted call into one with a problem, so that the model is told and nothing runs.
void refuse_quotation(tool_call_block& call) {
  call.problem =
      "This call stands in a tool's result, in a message of the user or in the instructions of a tool server, and text "
      "from there is never run, so no tool was. Answer in your own words, or make another call.";
  call.arguments = {};
}

// Estimates tokens as a quarter of the bytes.
std::int64_t tokens_of(const model_request& request) {
  std::size_t bytes = 0;
  for (const auto& m : request.messages)
    for (const auto& b : m->blocks)
      if (const auto* t = std::get_if<text_block>(&b)) bytes += t->text.size();
  return static_cast<std::int64_t>(bytes / 4 + 1);
}

class text_run final : public model_events, public std::enable_shared_from_this<text_run> {
 public:
  text_run(std::shared_ptr<text_tools_state> shared, model_request request, model_events& events)
      : shared_(std::move(shared)), request_(std::move(request)), events_(&events) {}

  void prepare() {
    format_ = shared_->format;
    // Without tools nothing is a call, unless earlier calls in the conversation teach the model to write more.
    parses_ = request_.offered() || request_.has_calls();
    stops_.reset();
    if (!request_.settings.stop.empty()) stops_.emplace(request_.settings.stop);
    parser_.reset();
    call_ = shared_->inner->prepare(format_ != nullptr ? in_text(request_, *format_) : request_, *this);
  }
  void begin() {
    begun_ = true;
    call_->begin();
  }
  usage spent() const { return call_ ? call_->spent() : usage{}; }
  void cancel() {
    events_ = nullptr;
    call_.reset();
  }

 private:
  // model_events, of the inner model
  void on_text(std::string_view delta) override {
    if (events_ == nullptr) return;
    const auto self = shared_from_this();
    if (!stops_) return take_text(delta);
    take_text(stops_->feed(delta));
    if (events_ != nullptr && stops_->found()) stop();
  }
  void take_text(std::string_view delta) {
    if (delta.empty()) return;
    if (!parses_) {
      if (stops_) written_ += delta;
      shown_ = true;
      return events_->on_text(delta);
    }
    written_ += delta;
    if (!parser_) make_parser();
    parser_->feed(delta, words_);
    // The provider was asked to stop at this point; end the call if it goes on.
    if (events_ != nullptr && parser_->stopped()) stop();
  }
  void on_reasoning(std::string_view delta) override {
    if (events_ == nullptr) return;
    shown_ = true;
    reasoned_ += delta;
    events_->on_reasoning(delta);
  }
  void on_reply(model_reply reply) override {
    if (events_ == nullptr) return;
    const auto self = shared_from_this();
    if (stops_) take_text(stops_->rest());
    if (events_ == nullptr) return;
    if (parser_) read(reply);
    if (events_ != nullptr) std::exchange(events_, nullptr)->on_reply(std::move(reply));
  }
  void on_error(model_error e) override {
    if (events_ == nullptr) return;
    if (format_ == nullptr && shared_->fall_back && !shown_ && request_.offered() && says_no_tools(e)) {
      // Another call may have changed the format already.
      if (shared_->format == nullptr) shared_->change_to(text::format_of_model(shared_->inner->id()), "takes no tools");
      written_.clear();
      visible_.clear();
      thoughts_.clear();
      reasoned_.clear();
      old_call_ = std::move(call_);  // kept alive: this event comes from inside it
      prepare();
      if (begun_) call_->begin();
      return;
    }
    if (request_.offered() && !e.failed_generation.empty() && recover(e.failed_generation)) return;
    if (parses_) e.partial_text = visible_;
    std::exchange(events_, nullptr)->on_error(std::move(e));
  }

  // Makes the parser at the first text, because most replies with native calls have none.
  void make_parser() {
    using bare = text::marks::parser_options::bare;
    text::marks::parser_options options;
    options.untagged = format_ != nullptr ? bare::anywhere : bare::alone;
    options.show_unreadable = last_attempt_ = unreadable_replies(request_) >= 2;
    const text::marks::offered_tools tools(request_.offered());
    parser_ = format_ != nullptr ? format_->make_parser(tools, options) : text::make_tagged_parser(tools, options);
  }

  void stop() {
    auto m = own_message();
    if (!written_.empty()) m->blocks.emplace_back(text_block{written_});
    stops_.reset();
    old_call_.reset();
    const auto leaving = std::move(call_);
    on_reply(own_reply(std::move(m), "stop sequence", written_.size()));
  }

  // Starts the message of a reply that we end ourselves.
  std::shared_ptr<message> own_message() const {
    auto m = std::make_shared<message>();
    m->role = role::assistant;
    m->origin = {shared_->inner->api(), {}, shared_->inner->id()};
    return m;
  }
  model_reply own_reply(message_ptr m, std::string raw_reason, std::size_t bytes) const {
    model_reply reply;
    reply.message = std::move(m);
    reply.raw_reason = std::move(raw_reason);
    reply.usage.estimated = true;
    reply.usage.input = tokens_of(format_ != nullptr ? in_text(request_, *format_) : request_);
    reply.usage.output = static_cast<std::int64_t>(bytes / 4 + 1);
    return reply;
  }

  std::string counted_words() const;
  void read(model_reply& reply);
  bool recover(const std::string& written);
  bool is_own_tool(std::string_view name) const;
  void settle_quotations(std::vector<tool_call_block>& calls, bool native_calls);
  void add_calls(message& m, std::vector<tool_call_block> calls) const;
  void tell_forms(unsigned forms, bool any_call);

  // Receiver of the parser's events.
  struct parsed_words final : text::marks::parse_sink {
    explicit parsed_words(text_run& owner) : run(owner) {}
    void on_text(std::string_view delta) override {
      run.visible_ += delta;
      run.shown_ = true;
      if (run.events_ == nullptr) return;
      // Reasoning that was shown as text before gets a visible end.
      if (std::exchange(apart, false)) run.events_->on_text("\n\n");
      if (run.events_ != nullptr) run.events_->on_text(delta);
    }
    void on_text_was_reasoning() override {
      apart = apart || !run.visible_.empty();
      run.thoughts_ += std::exchange(run.visible_, {});
    }
    void on_reasoning(std::string_view delta) override {
      run.thoughts_ += delta;
      run.shown_ = true;
      if (run.events_ != nullptr) run.events_->on_reasoning(delta);
    }
    text_run& run;
    bool apart = false;  // part the next text from reasoning that was shown as text
  };

  std::shared_ptr<text_tools_state> shared_;
  model_request request_;
  model_events* events_;
  const text::tool_format* format_ = nullptr;
  bool parses_ = false;                               // the text may hold calls
  std::unique_ptr<text::marks::text_parser> parser_;  // made at the first text
  std::optional<text::stop_finder> stops_;            // stop sequences of the request, which not every API takes
  std::unique_ptr<model_call> call_, old_call_;
  std::string written_, visible_;    // all text of the model, and the part for people
  std::string thoughts_, reasoned_;  // reasoning inside the text, and reasoning from the API
  bool begun_ = false, shown_ = false;
  bool last_attempt_ = false;  // show unreadable calls as the answer
  parsed_words words_{*this};
};

// Returns the model's words without invented results.
std::string text_run::counted_words() const {
  std::string words;
  std::size_t at = 0;
  for (const auto& part : parser_->left_out()) {
    words.append(written_, at, part.begin - at);
    at = part.end;
  }
  return words.append(written_, at, parser_->counted() - at);
}

// Finishes the parser and replaces the reply's message if the text held calls.
void text_run::read(model_reply& reply) {
  auto parsed = parser_->finish(words_);
  const bool native_calls = !reply.message->calls().empty();
  const bool cut = was_stopped(reply.reason);
  if (native_calls && (!parsed.calls.empty() || parsed.incomplete)) {
    log::warn("model \"" + shared_->inner->name() + "\" made tool calls both as it should and as text; the latter " +
              "are not run");
    parsed.calls.clear();
  } else if (parsed.incomplete && !cut && !native_calls && !last_attempt_) {
    parsed.calls.push_back(text::marks::unreadable_call({}, "it ends before it is complete"));
  }
  settle_quotations(parsed.calls, native_calls);
  if (parsed.too_many)
    log::warn("model \"" + shared_->inner->name() + "\" wrote more than " + std::to_string(max_reply_calls) +
              " tool calls in one reply; the later ones are dropped");
  const bool found = !parsed.calls.empty();
  const bool made_up = parser_->counted() < written_.size();
  if (found)
    tell_forms(parsed.forms, std::ranges::any_of(parsed.calls, [](const auto& c) { return c.problem.empty(); }));
  // A plain answer needs no change, and its raw bytes go back to the provider as they came.
  if (!found && !made_up && visible_ == written_) return;

  auto m = std::make_shared<message>();
  m->role = role::assistant;
  m->origin = reply.message->origin;
  for (const auto& b : reply.message->blocks)
    if (!std::holds_alternative<text_block>(b)) m->blocks.push_back(b);
  if (!thoughts_.empty()) m->blocks.emplace_back(reasoning_block{thoughts_, {}});
  if (!visible_.empty()) m->blocks.emplace_back(text_block{visible_});
  if (found) {
    add_calls(*m, std::move(parsed.calls));
    if (!cut) reply.reason = end_reason::tool_calls;
  }
  if (native_calls) {
    // A message with native calls goes back to its origin as it came.
    m->raw = reply.message->raw;
  } else if (format_ != nullptr) {
    m->blocks.emplace_back(own_words(*format_, counted_words()));
  }
  reply.message = std::move(m);
}

// Returns true for the run's own tools, which read on in long results. Results quote calls of them on purpose.
bool text_run::is_own_tool(std::string_view name) const {
  const auto offered = request_.offered();
  if (!offered) return false;
  const auto own = std::min(offered->own, offered->tools.size());
  return std::any_of(offered->tools.end() - static_cast<std::ptrdiff_t>(own), offered->tools.end(),
                     [name](const auto& t) { return t.name == name; });
}

// Removes or refuses calls as text that are quotations or, with native tools, stand among other words.
void text_run::settle_quotations(std::vector<tool_call_block>& calls, bool native_calls) {
  if (calls.empty() || native_calls) return;
  const bool alone = visible_.find_first_not_of(" \t\r\n") == std::string::npos;
  const auto leave_out = [&](const char* why) {
    const auto names = "\"" + calls.front().name + "\"";
    log::warn("model \"" + shared_->inner->name() + "\" wrote a call of " + names + " in its text, which " + why +
              "; it is not run");
    if (!alone) words_.on_text("\n\n[Left out here, and not run: a call of the tool " + names + "]");
    calls.clear();
  };
  if (format_ == nullptr && !shared_->may_lose_calls)
    return leave_out("is no way to call a tool at its API (a \"toolFormat\" of the model makes it one)");
  if (format_ == nullptr && !alone)
    return leave_out("stands among other words (a \"toolFormat\" of the model makes it a call)");
  quoted_calls quoted(request_.messages);
  std::size_t quotations = 0;
  for (auto& c : calls) {
    if (!c.problem.empty() || is_own_tool(c.name) || !quoted.has(c)) continue;
    ++quotations;
    refuse_quotation(c);
  }
  if (quotations == calls.size() && !alone) return leave_out("repeats a tool's result or a message of the user");
  if (quotations != 0)
    log::warn("model \"" + shared_->inner->name() +
              "\" repeated a call that stands in a tool's result or in a message " +
              "of the user; it is not run, and the model is told");
}

void text_run::add_calls(message& m, std::vector<tool_call_block> calls) const {
  wire::call_ids ids(&request_);
  const auto made = ids.settle(std::vector<std::string>(calls.size()));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i].id = made[i];
    m.blocks.emplace_back(std::move(calls[i]));
  }
}

// Reads a call that the server could not parse (Groq's `failed_generation`), or tells the model that it is unreadable.
// Returns false if the model was told twice already.
bool text_run::recover(const std::string& written) {
  text::marks::parser_options options;
  options.untagged = text::marks::parser_options::bare::anywhere;
  const auto parser = text::make_tagged_parser(text::marks::offered_tools(request_.offered()), options);
  // Do not show its text: a part was shown already, and the rest is marks that made the server give up.
  text::marks::unheard_words words;
  parser->feed(written, words);
  auto parsed = parser->finish(words);
  quoted_calls quoted(request_.messages);
  for (auto& c : parsed.calls)
    if (c.problem.empty() && !is_own_tool(c.name) && quoted.has(c)) refuse_quotation(c);
  const bool found =
      !parsed.incomplete && std::ranges::any_of(parsed.calls, [](const auto& c) { return c.problem.empty(); });
  if (!found && unreadable_replies(request_) >= 2) return false;
  if (parsed.incomplete || parsed.calls.empty()) {
    parsed.calls = {text::marks::unreadable_call(
        written, parsed.incomplete ? "it ends before it is complete" : "there is no call in it")};
  }
  log::warn("model \"" + shared_->inner->name() + "\" wrote a tool call that its server could not read; " +
            (found ? "it was read from what the model wrote" : "the model is told"));
  auto m = own_message();
  const auto thoughts = reasoned_ + thoughts_;
  if (!thoughts.empty()) m->blocks.emplace_back(reasoning_block{thoughts, {}});
  if (!visible_.empty()) m->blocks.emplace_back(text_block{visible_});
  add_calls(*m, std::move(parsed.calls));
  auto reply = own_reply(std::move(m), "failed_generation", written.size());
  reply.reason = end_reason::tool_calls;
  if (events_ != nullptr) std::exchange(events_, nullptr)->on_reply(std::move(reply));
  return true;
}

void text_run::tell_forms(unsigned forms, bool any_call) {
  const auto& name = shared_->inner->name();
  const bool asked = format_ != nullptr && (format_->name() == "hermes" || format_->name() == "qwen3-coder");
  if ((forms & text::marks::form_tool_call) != 0 && !asked && !std::exchange(shared_->warned, true))
    log::warn("model \"" + name +
              "\" wrote a tool call as <tool_call>, a deprecated form that it was not told to use; " +
              "set its \"toolFormat\" to \"hermes\" if it was trained on it");
  if (format_ != nullptr || !any_call || !request_.offered()) return;
  const auto* like = text::format_of_calls(forms);
  // Change the format at the second time only: the first may be an accident, and the change affects all conversations.
  if (shared_->fall_back && shared_->format == nullptr && std::exchange(shared_->lost_one, true))
    shared_->change_to(like != nullptr ? *like : text::format_of_model(shared_->inner->id()),
                       "wrote a tool call as text although it was offered tools as its API has it");
  else
    log::info("model \"" + name + "\" wrote a tool call as text; it is run like any other");
}

class text_call final : public model_call {
 public:
  explicit text_call(std::shared_ptr<text_run> run) : run_(std::move(run)) {}
  ~text_call() override { run_->cancel(); }
  text_call(const text_call&) = delete;
  text_call& operator=(const text_call&) = delete;
  void begin() override { run_->begin(); }
  usage spent() const override { return run_->spent(); }

 private:
  std::shared_ptr<text_run> run_;
};

class text_tools_model final : public model {
 public:
  explicit text_tools_model(std::shared_ptr<text_tools_state> shared) : shared_(std::move(shared)) {}
  const std::string& name() const override { return shared_->inner->name(); }
  const std::string& id() const override { return shared_->inner->id(); }
  const std::string& api() const override { return shared_->inner->api(); }
  std::string_view default_system() const override { return shared_->inner->default_system(); }
  std::size_t max_tools() const override { return shared_->inner->max_tools(); }
  std::unique_ptr<model_call> prepare(model_request request, model_events& events) override {
    auto run = std::make_shared<text_run>(shared_, std::move(request), events);
    run->prepare();
    return std::make_unique<text_call>(std::move(run));
  }

 private:
  std::shared_ptr<text_tools_state> shared_;
};

}  // namespace

std::unique_ptr<model> make_text_tools_model(std::shared_ptr<model> inner, text_tools_options options) {
  return std::make_unique<text_tools_model>(std::make_shared<text_tools_state>(
      text_tools_state{std::move(inner), options.format, options.fall_back, options.may_lose_calls}));
}
}  // namespace mcpbx::providers::call
