// Answers calls from the recording. Checks the file on the lane before each answer; calls that come meanwhile wait for
// the same check.
#include "providers/call/replay_model.hpp"

#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mcpbx::providers::call {
namespace {

class replay_run;

struct replay_state : std::enable_shared_from_this<replay_state> {
  replay_state(replay_options o, offload b) : options(std::move(o)), blocking(std::move(b)) {}

  void wait(std::weak_ptr<replay_run> run);
  void loaded(result<loaded_recording> outcome);

  replay_options options;
  offload blocking;
  std::shared_ptr<const replay::recording> recording;
  file_stamp stamp;
  std::unordered_map<std::size_t, std::size_t> turns;  // answers given so far, by place in the recording
  std::vector<std::weak_ptr<replay_run>> waiting;
};

// Clears ids of recorded calls that the conversation has already used, so that the run makes new ones.
model_reply with_free_ids(model_reply reply, const model_request& request) {
  std::unordered_set<std::string_view> taken;
  for (const auto& m : request.messages)
    for (const auto* call : m->calls()) taken.insert(call->id);
  if (taken.empty()) return reply;
  auto copy = std::make_shared<message>();
  copy->role = reply.message->role;
  copy->origin = reply.message->origin;
  copy->raw = reply.message->raw;
  copy->blocks = reply.message->blocks;
  for (auto& b : copy->blocks)
    if (auto* call = std::get_if<tool_call_block>(&b); call && taken.contains(call->id)) call->id.clear();
  reply.message = std::move(copy);
  return reply;
}

class replay_run {
 public:
  replay_run(std::shared_ptr<replay_state> state, model_request request, model_events& events)
      : state_(std::move(state)), request_(std::move(request)), events_(&events) {}

  void cancel() { events_ = nullptr; }

  void refuse(model_error::kind type, std::string message) {
    auto* const events = std::exchange(events_, nullptr);
    if (events == nullptr) return;
    model_error e;
    e.type = type;
    e.message = std::move(message);
    events->on_error(std::move(e));
  }

  void answer() {
    const auto recording = state_->recording;  // keeps the exchange alive
    const auto& o = state_->options;
    const auto found = recording->find(request_);
    if (!found)
      return refuse(model_error::kind::bad_request,
                    "The model \"" + o.name + "\" replays " + o.path + ", and this conversation is not in it: " +
                        found.error().message + ". Record it with \"record\" in the entry of the model.");
    const auto turn = state_->turns[found->place]++;
    const auto& recorded = *found->answers[turn % found->answers.size()];
    for (const auto& p : recorded.stream) {
      if (events_ == nullptr) return;
      if (p.reasoning)
        events_->on_reasoning(p.text);
      else
        events_->on_text(p.text);
    }
    auto* const events = std::exchange(events_, nullptr);
    if (events == nullptr) return;
    if (recorded.error)
      events->on_error(*recorded.error);
    else
      events->on_reply(with_free_ids(recorded.reply, request_));
  }

 private:
  std::shared_ptr<replay_state> state_;
  model_request request_;
  model_events* events_;
};

void replay_state::wait(std::weak_ptr<replay_run> run) {
  waiting.push_back(std::move(run));
  if (waiting.size() > 1) return;
  auto outcome = std::make_shared<result<loaded_recording>>();
  blocking([path = options.path, known = stamp, outcome] { *outcome = load_recording(path, known); },
           [weak = weak_from_this(), outcome](const result<void>& ran) {
             if (!ran) *outcome = std::unexpected(ran.error());
             if (const auto self = weak.lock()) self->loaded(std::move(*outcome));
           });
}

void replay_state::loaded(result<loaded_recording> outcome) {
  if (outcome && outcome->recording) {
    recording = std::move(outcome->recording);
    stamp = outcome->stamp;
    options.header = recording->header();
    turns.clear();
  }
  for (const auto& weak : std::exchange(waiting, {})) {
    const auto run = weak.lock();
    if (!run) continue;
    if (outcome)
      run->answer();
    else
      run->refuse(model_error::kind::configuration,
                  "The model \"" + options.name + "\" cannot answer: " + outcome.error().message);
  }
}

class replay_call final : public model_call {
 public:
  replay_call(std::shared_ptr<replay_state> state, std::shared_ptr<replay_run> run)
      : state_(std::move(state)), run_(std::move(run)) {}
  ~replay_call() override { run_->cancel(); }
  replay_call(const replay_call&) = delete;
  replay_call& operator=(const replay_call&) = delete;
  void begin() override { state_->wait(run_); }

 private:
  std::shared_ptr<replay_state> state_;
  std::shared_ptr<replay_run> run_;
};

class replay_model final : public model {
 public:
  explicit replay_model(std::shared_ptr<replay_state> state) : state_(std::move(state)) {}
  const std::string& name() const override { return state_->options.name; }
  const std::string& id() const override { return id_; }
  const std::string& api() const override { return state_->options.header.api; }
  std::string_view default_system() const override {
    const auto& o = state_->options;
    return o.system ? *o.system : o.header.system;
  }
  std::unique_ptr<model_call> prepare(model_request request, model_events& events) override {
    return std::make_unique<replay_call>(state_, std::make_shared<replay_run>(state_, std::move(request), events));
  }

 private:
  std::shared_ptr<replay_state> state_;
  std::string id_ = "replay";
};

}  // namespace

std::unique_ptr<model> make_replay_model(replay_options options, offload blocking) {
  return std::make_unique<replay_model>(std::make_shared<replay_state>(std::move(options), std::move(blocking)));
}

}  // namespace mcpbx::providers::call
