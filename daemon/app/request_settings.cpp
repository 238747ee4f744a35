// Creation of the settings of one snapshot. Their functions hold the snapshot, which lives as long as its last request.
#include "daemon/app/request_settings.hpp"

#include "daemon/app/models/limits.hpp"
#include "daemon/app/models/profiles.hpp"
#include "daemon/app/options/server_answers.hpp"
#include "daemon/app/options/server_entries.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon {
namespace {

std::shared_ptr<run_configuration> runs_of(const configuration_ptr& from, std::shared_ptr<model_set> models) {
  auto runs = std::make_shared<run_configuration>();
  runs->models = [models = std::move(models)](std::string_view name) { return models->find(name); };
  runs->servers = present_terms(std::make_shared<const std::vector<server_terms>>(server_terms_of(from->config)));
  return runs;
}

chat_defaults chat_of(const configuration_ptr& from, std::shared_ptr<run_configuration> runs) {
  chat_defaults c;
  c.base = [from, runs = std::move(runs)](std::string_view model, std::string_view profile) {
    auto base = base_for(from->config, from->values, model, profile);
    if (base) base->configured = runs;
    return base;
  };
  c.model = [from](std::string_view name) { return check_model_name(from->config, name); };
  c.profiles = [from] {
    std::vector<std::string> names;
    for (const auto& p : from->config.profiles) names.push_back(p.name);
    return names;
  };
  c.bound = [from](std::string_view key) { return bound_of(from->config, key); };
  return c;
}

answer_settings answers_of(const configuration_ptr& from, terms_ptr entries, std::shared_ptr<model_set> models) {
  return {.servers = server_answers_of(from->config, from->values),
          .entries = std::move(entries),
          .models = [models = std::move(models)](std::string_view name) { return models->find(name); }};
}

}  // namespace

request_settings::request_settings(configuration_ptr snapshot, model_surroundings around)
    : from(std::move(snapshot)),
      models(std::make_shared<model_set>(from, std::move(around))),
      runs(runs_of(from, models)),
      chat(std::make_shared<const chat_defaults>(chat_of(from, runs))),
      answers(std::make_shared<const answer_settings>(answers_of(from, runs->servers.configured(), models))) {
  const auto usual = chat->base("", "");
  direct_calls = {.entries = runs->servers.configured(), .destructive = !usual || usual->limits.approve_destructive};
}

present_settings::present_settings(const current_configuration& current, model_surroundings around)
    : current_(current), around_(std::move(around)) {}

std::shared_ptr<const request_settings> present_settings::get() {
  if (!made_ || made_->from != current_.snapshot())
    made_ = std::make_shared<const request_settings>(current_.snapshot(), around_);
  return made_;
}

}  // namespace mcpbx::daemon
