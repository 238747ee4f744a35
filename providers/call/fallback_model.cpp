// Makes up to two calls in a row and passes on the events of one of them.
#include "providers/call/fallback_model.hpp"

#include "mcp/support/log.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::call {
namespace {

using kind = model_error::kind;

constexpr std::size_t max_kept_forms = 16;

// Returns true if any further call would fail in the same way.
bool lasts(const model_error& e) {
  switch (e.type) {
    case kind::connection:
    case kind::time_limit:
    case kind::refused:
    case kind::overloaded:
    case kind::configuration:
      return true;
    case kind::bad_request:
      return e.http_status == 401 || e.http_status == 402 || e.http_status == 403 || e.http_status == 404 ||
             e.http_status == 429;
    case kind::context_full:
    case kind::cut:
    case kind::garbage:
      return false;
  }
  return false;
}

bool has_tool(const tool_set* tools, std::string_view name) {
  return tools != nullptr && std::ranges::find(tools->tools, name, &tool_definition::name) != tools->tools.end();
}

struct model_pair {
  std::shared_ptr<model> first, second;
  time_source& time;
  fallback_options options;
  time_point resting_until{};
  // A set of tools converted for the second model, cut to its limit. Kept while the original set lives, because the
  // rounds of a run share one set.
  struct kept_form {
    std::weak_ptr<const tool_set> from;
    std::shared_ptr<const tool_set> made;
  };
  std::vector<kept_form> kept_forms{};

  std::shared_ptr<const tool_set> tools_for_second(std::shared_ptr<const tool_set> tools) {
    if (!tools) return tools;
    const bool same_api = first->api() == second->api();
    const auto most = second->max_tools() == 0 ? tools->tools.size() : second->max_tools();
    const auto others = tools->tools.size() - tools->own;
    // Keep places for own tools of later rounds, so that a tool that joins then pushes out none offered before.
    const auto kept = std::max(tools->reserved, tools->own);
    auto room = second->max_tools() == 0 ? others : most > kept ? most - kept : 0;
    if (same_api && others <= room) return tools;
    std::erase_if(kept_forms, [](const kept_form& k) { return k.from.expired(); });
    for (const auto& k : kept_forms)
      if (k.from.lock() == tools) return k.made;
    std::vector<std::optional<tool_definition>> forms;
    if (!same_api && tools->forms_for) forms = tools->forms_for(second->api());
    auto made = std::make_shared<tool_set>();
    made->reserved = tools->reserved;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < tools->tools.size(); ++i) {
      const auto& t = tools->tools[i];
      if (i < others && room == 0) {
        ++left_out;
        continue;
      }
      auto one = forms.empty() ? std::optional(t) : std::move(forms[i]);
      if (!one) continue;
      if (one->name != t.name) {  // the run has shown the tool under this name already
        one->name = t.name;
        one->encoded = nullptr;
      }
      made->tools.push_back(std::move(*one));
      if (i < others)
        --room;
      else
        ++made->own;
    }
    if (left_out > 0)
      log::warn("the last " + std::to_string(left_out) + " of " + std::to_string(tools->tools.size()) +
                " tools are not offered to the fallback model \"" + second->name() + "\", which takes " +
                std::to_string(most) +
                "; offer fewer with tools.allow of the servers or of a profile, or set its maxTools");
    if (kept_forms.size() == max_kept_forms) kept_forms.erase(kept_forms.begin());
    kept_forms.push_back({tools, made});
    return made;
  }
};

class fallback_call final : public model_call, private model_events {
 public:
  fallback_call(std::shared_ptr<model_pair> shared, model_request request, model_events& events)
      : shared_(std::move(shared)), request_(std::move(request)), events_(events) {
    if (shared_->time.now() < shared_->resting_until)
      turn_to_second();
    else
      call_ = shared_->first->prepare(request_, *this);
  }
  fallback_call(const fallback_call&) = delete;
  fallback_call& operator=(const fallback_call&) = delete;
  void begin() override {
    begun_ = true;
    call_->begin();
  }
  usage spent() const override {
    auto all = failed_ ? failed_->usage : usage{};
    return all += call_->spent();
  }

 private:
  void turn_to_second() {
    on_second_ = true;
    request_.tools = shared_->tools_for_second(std::move(request_.tools));
    // Drop the duty to call a tool that the second API cannot take.
    if (!request_.required_tool.empty() && !has_tool(request_.tools.get(), request_.required_tool)) {
      log::warn("the tool \"" + request_.required_tool +
                "\" that was to be called is not offered to the fallback model \"" + shared_->second->name() +
                "\"; it may answer without");
      request_.tool_mode = tool_mode::automatic;
      request_.required_tool.clear();
    }
    spent_ = std::move(call_);  // we may be inside an event of it
    call_ = shared_->second->prepare(std::move(request_), *this);
    if (begun_) call_->begin();
  }

  void on_text(std::string_view delta) override {
    shown_ = true;
    events_.on_text(delta);
  }
  void on_reasoning(std::string_view delta) override {
    shown_ = true;
    events_.on_reasoning(delta);
  }
  void on_reply(model_reply reply) override {
    if (failed_) reply.usage += failed_->usage;
    events_.on_reply(std::move(reply));
  }
  void on_error(model_error e) override {
    if (on_second_) {
      if (failed_) {
        failed_->message +=
            " The fallback model \"" + shared_->second->name() + "\" gave no answer either: " + e.message;
        failed_->partial_text = std::move(e.partial_text);
        failed_->usage += e.usage;
        e = *std::move(failed_);
      }
      return events_.on_error(std::move(e));
    }
    if (lasts(e)) shared_->resting_until = shared_->time.now() + shared_->options.rest;
    if (shown_) return events_.on_error(std::move(e));
    log::warn("model \"" + shared_->first->name() + "\" gave no answer, asking \"" + shared_->second->name() +
              "\": " + e.message);
    failed_ = std::move(e);
    turn_to_second();
  }

  std::shared_ptr<model_pair> shared_;
  model_request request_;
  model_events& events_;
  std::unique_ptr<model_call> call_, spent_;
  std::optional<model_error> failed_;
  bool begun_ = false, on_second_ = false, shown_ = false;
};

class fallback_model final : public model {
 public:
  explicit fallback_model(std::shared_ptr<model_pair> shared) : shared_(std::move(shared)) {}
  const std::string& name() const override { return shared_->first->name(); }
  const std::string& id() const override { return shared_->first->id(); }
  const std::string& api() const override { return shared_->first->api(); }
  std::string_view default_system() const override { return shared_->first->default_system(); }
  std::size_t max_tools() const override { return shared_->first->max_tools(); }
  std::unique_ptr<model_call> prepare(model_request request, model_events& events) override {
    return std::make_unique<fallback_call>(shared_, std::move(request), events);
  }

 private:
  std::shared_ptr<model_pair> shared_;
};

}  // namespace

std::unique_ptr<model> make_fallback_model(std::shared_ptr<model> first, std::shared_ptr<model> second,
                                           time_source& time, fallback_options o) {
  auto shared = std::make_shared<model_pair>(model_pair{std::move(first), std::move(second), time, o});
  return std::make_unique<fallback_model>(std::move(shared));
}

}  // namespace mcpbx::providers::call
