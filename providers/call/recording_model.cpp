// One recorded call: prepares the file on the lane, asks the recorded model, appends its reply on the lane, passes it
// on.
#include "providers/call/recording_model.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace mcpbx::providers::call {
namespace {

struct recording_state {
  recording_options options;
  std::shared_ptr<model> recorded;
  offload blocking;
  replay::header header;
  replay::exchange_writer writer;
  growing_recording file;
  random_source& random;

  // Takes over the state of the prepared file. If it was replaced or cut, the writer's known messages are not in it.
  void prepared(const growing_recording& now) {
    if (now.id != file.id || now.size < file.size) writer.forget();
    file = now;
  }
  void written(const replay::exchange_writer::entry& entry, const growing_recording& now) {
    if (now.id != file.id) return;
    writer.written(entry);
    file.size = std::max(file.size, now.size);
  }
};

class recording_run final : public model_events, public std::enable_shared_from_this<recording_run> {
 public:
  recording_run(std::shared_ptr<recording_state> state, model_request request, model_events& events)
      : state_(std::move(state)), request_(std::move(request)), events_(&events) {}

  void begin() {
    prepare([this] { call_ = state_->recorded->start(request_, *this); });
  }
  usage spent() const { return call_ ? call_->spent() : usage{}; }
  void cancel() {
    events_ = nullptr;
    call_.reset();
  }

 private:
  void prepare(std::function<void()> then) {
    auto outcome = std::make_shared<result<growing_recording>>();
    state_->header.id = hex(state_->random.next(), 16);
    state_->blocking(
        [path = state_->options.path, header = state_->header, outcome] { *outcome = prepare_recording(path, header); },
        [weak = weak_from_this(), then = std::move(then), outcome](const result<void>& ran) {
          if (!ran) *outcome = std::unexpected(ran.error());
          const auto self = weak.lock();
          if (!self || self->events_ == nullptr) return;
          if (!*outcome) return self->refuse(outcome->error());
          self->state_->prepared(**outcome);
          self->prepared_ = **outcome;
          then();
        });
  }

  void on_text(std::string_view delta) override { on_delta(false, delta); }
  void on_reasoning(std::string_view delta) override { on_delta(true, delta); }
  void on_delta(bool reasoning, std::string_view delta) {
    if (events_ == nullptr) return;
    pieces_.add(reasoning, delta);
    if (reasoning)
      events_->on_reasoning(delta);
    else
      events_->on_text(delta);
  }
  void on_error(model_error e) override {
    if (events_ == nullptr) return;
    // A configuration error says nothing about the model and will be fixed before the recording is played.
    if (e.type == model_error::kind::configuration) return std::exchange(events_, nullptr)->on_error(std::move(e));
    failure_ = std::move(e);
    stream_ = pieces_.take();
    save();
  }
  void on_reply(model_reply reply) override {
    if (events_ == nullptr) return;
    reply_ = std::move(reply);
    stream_ = pieces_.take();
    save();
  }

  void save() {
    auto entry = std::make_shared<replay::exchange_writer::entry>(
        failure_ ? state_->writer.make(request_, *failure_, stream_) : state_->writer.make(request_, reply_, stream_));
    auto outcome = std::make_shared<result<std::optional<growing_recording>>>();
    state_->blocking([path = state_->options.path, prepared = prepared_, entry,
                      outcome] { *outcome = append_to_recording(path, prepared, entry->line); },
                     [weak = weak_from_this(), state = std::weak_ptr(state_), entry, outcome](const result<void>& ran) {
                       if (!ran) *outcome = std::unexpected(ran.error());
                       // The entry is in the file even if the caller has cancelled the call.
                       if (const auto s = state.lock(); s && *outcome && **outcome) s->written(*entry, ***outcome);
                       if (const auto self = weak.lock()) self->saved(*outcome);
                     });
  }

  void saved(const result<std::optional<growing_recording>>& outcome) {
    if (events_ == nullptr) return;
    if (!outcome) return refuse(outcome.error());
    // The file was replaced while the model answered: prepare the new one and append to that.
    if (!*outcome) return prepare([this] { save(); });
    auto* const events = std::exchange(events_, nullptr);
    if (failure_)
      events->on_error(std::move(*failure_));
    else
      events->on_reply(std::move(reply_));
  }

  void refuse(const error& why) {
    if (failure_) {
      failure_->message += " (This is not recorded: " + why.message + ")";
      return std::exchange(events_, nullptr)->on_error(std::move(*failure_));
    }
    model_error e;
    e.type = model_error::kind::configuration;
    e.message = "The exchange with the model \"" + state_->recorded->name() + "\" is not recorded: " + why.message;
    std::exchange(events_, nullptr)->on_error(std::move(e));
  }

  std::shared_ptr<recording_state> state_;
  model_request request_;
  model_events* events_;
  std::unique_ptr<model_call> call_;
  growing_recording prepared_;
  replay::pieces pieces_;
  std::vector<replay::piece> stream_;
  model_reply reply_;
  std::optional<model_error> failure_;  // set: the call failed, and reply_ is unused
};

class recording_call final : public model_call {
 public:
  explicit recording_call(std::shared_ptr<recording_run> run) : run_(std::move(run)) {}
  ~recording_call() override { run_->cancel(); }
  recording_call(const recording_call&) = delete;
  recording_call& operator=(const recording_call&) = delete;
  void begin() override { run_->begin(); }
  usage spent() const override { return run_->spent(); }

 private:
  std::shared_ptr<recording_run> run_;
};

class recording_model final : public model {
 public:
  explicit recording_model(std::shared_ptr<recording_state> state) : state_(std::move(state)) {}
  const std::string& name() const override { return state_->options.name; }
  const std::string& id() const override { return state_->recorded->id(); }
  const std::string& api() const override { return state_->recorded->api(); }
  std::string_view default_system() const override { return state_->header.system; }
  std::size_t max_tools() const override { return state_->recorded->max_tools(); }
  std::unique_ptr<model_call> prepare(model_request request, model_events& events) override {
    return std::make_unique<recording_call>(std::make_shared<recording_run>(state_, std::move(request), events));
  }

 private:
  std::shared_ptr<recording_state> state_;
};

}  // namespace

std::unique_ptr<model> make_recording_model(recording_options options, std::shared_ptr<model> recorded,
                                            random_source& random, offload blocking) {
  replay::header header{recorded->api(), options.system ? *options.system : std::string(recorded->default_system()),
                        ""};
  auto state = std::make_shared<recording_state>(
      recording_state{std::move(options), std::move(recorded), std::move(blocking), std::move(header), {}, {}, random});
  return std::make_unique<recording_model>(std::move(state));
}

}  // namespace mcpbx::providers::call
