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

namespace mcpbx::daemon::app {
namespace {

std::shared_ptr<run::run_configuration> runs_of(const references::configuration_ptr& from,
                                                std::shared_ptr<models::model_set> models) {
  auto runs = std::make_shared<run::run_configuration>();
  runs->models = [models = std::move(models)](std::string_view name) { return models->find(name); };
  runs->servers = policy::present_terms(
      std::make_shared<const std::vector<stored::server_terms>>(options::server_terms_of(from->config)));
  return runs;
}

chat::chat_defaults chat_of(const references::configuration_ptr& from, std::shared_ptr<run::run_configuration> runs) {
  chat::chat_defaults c;
  c.base = [from, runs = std::move(runs)](std::string_view model, std::string_view profile) {
    auto base = models::base_for(from->config, from->values, model, profile);
    if (base) base->configured = runs;
    return base;
  };
  c.model = [from](std::string_view name) { return models::check_model_name(from->config, name); };
  c.profiles = [from] {
    std::vector<std::string> names;
    for (const auto& p : from->config.profiles) names.push_back(p.name);
    return names;
  };
  c.bound = [from](std::string_view key) { return models::bound_of(from->config, key); };
  return c;
}

answers::answer_settings answers_of(const references::configuration_ptr& from, policy::terms_ptr entries,
                                    std::shared_ptr<models::model_set> models) {
  return {.servers = options::server_answers_of(from->config, from->values),
          .entries = std::move(entries),
          .models = [models = std::move(models)](std::string_view name) { return models->find(name); }};
}

}  // namespace

request_settings::request_settings(references::configuration_ptr snapshot, models::model_surroundings around)
    : from(std::move(snapshot)),
      models(std::make_shared<models::model_set>(from, std::move(around))),
      runs(runs_of(from, models)),
      chat(std::make_shared<const chat::chat_defaults>(chat_of(from, runs))),
      answers(std::make_shared<const answers::answer_settings>(answers_of(from, runs->servers.configured(), models))) {
  const auto usual = chat->base("", "");
  direct_calls = {.entries = runs->servers.configured(), .destructive = !usual || usual->limits.approve_destructive};
}

present_settings::present_settings(const references::current_configuration& current, models::model_surroundings around)
    : current_(current), around_(std::move(around)) {}

std::shared_ptr<const request_settings> present_settings::get() {
  if (!made_ || made_->from != current_.snapshot())
    made_ = std::make_shared<const request_settings>(current_.snapshot(), around_);
  return made_;
}

}  // namespace mcpbx::daemon::app
