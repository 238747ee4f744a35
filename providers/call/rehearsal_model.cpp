// Passes on the replies that providers/rehearsal plans, through a timer, so that no event comes from inside begin().
#include "providers/call/rehearsal_model.hpp"

#include "providers/rehearsal/rehearsal.hpp"

#include <utility>

namespace mcpbx::providers::call {
namespace {

// Returns the position behind the next word and its blanks.
std::size_t next_word(std::string_view text) {
  const auto end = text.find_first_of(" \n");
  return end == std::string_view::npos ? text.size() : end + 1;
}

class rehearsal_run : public std::enable_shared_from_this<rehearsal_run> {
 public:
  rehearsal_run(model_request request, std::shared_ptr<const rehearsal::script> with, model_events& events,
                time_source& time)
      : request_(std::move(request)), with_(std::move(with)), events_(&events), timer_(time.make_timer()) {}

  void begin() {
    timer_->arm_next([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->tell(rehearsal::plan_reply(self->request_, self->with_.get()));
    });
  }
  void cancel() {
    events_ = nullptr;
    timer_->cancel();
  }

 private:
  void tell(model_reply reply) {
    const auto text = reply.message->text();
    for (std::string_view rest = text; !rest.empty() && events_ != nullptr;) {
      const auto n = next_word(rest);
      events_->on_text(rest.substr(0, n));
      rest.remove_prefix(n);
    }
    if (auto* const events = std::exchange(events_, nullptr)) events->on_reply(std::move(reply));
  }

  model_request request_;
  std::shared_ptr<const rehearsal::script> with_;
  model_events* events_;
  std::unique_ptr<timer> timer_;
};

class rehearsal_call final : public model_call {
 public:
  explicit rehearsal_call(std::shared_ptr<rehearsal_run> run) : run_(std::move(run)) {}
  ~rehearsal_call() override { run_->cancel(); }
  rehearsal_call(const rehearsal_call&) = delete;
  rehearsal_call& operator=(const rehearsal_call&) = delete;
  void begin() override { run_->begin(); }

 private:
  std::shared_ptr<rehearsal_run> run_;
};

class rehearsal_model final : public model {
 public:
  rehearsal_model(std::string name, std::shared_ptr<const rehearsal::script> with, time_source& time)
      : name_(std::move(name)), with_(std::move(with)), time_(time) {}
  const std::string& name() const override { return name_; }
  const std::string& id() const override { return api_; }
  const std::string& api() const override { return api_; }
  std::unique_ptr<model_call> prepare(model_request request, model_events& events) override {
    return std::make_unique<rehearsal_call>(std::make_shared<rehearsal_run>(std::move(request), with_, events, time_));
  }

 private:
  std::string name_, api_{rehearsal::api};
  std::shared_ptr<const rehearsal::script> with_;
  time_source& time_;
};

}  // namespace

std::unique_ptr<model> make_rehearsal_model(std::string name, std::shared_ptr<const rehearsal::script> with,
                                            time_source& time) {
  return std::make_unique<rehearsal_model>(std::move(name), std::move(with), time);
}

}  // namespace mcpbx::providers::call
