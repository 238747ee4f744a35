// The configuration without any file, and the look-ups of entries by name.
#include "conf/load.hpp"
#include "conf/model/spec.hpp"

#include <unistd.h>

namespace mcpbx::conf {
namespace {

template <class T>
const T* find_named(const std::vector<T>& list, std::string_view name) {
  for (const auto& entry : list)
    if (entry.name == name) return &entry;
  return nullptr;
}

model::model_entry environment_model(std::string name, model::model_api api, std::string id,
                                     const std::string& variable) {
  model::model_entry m;
  m.built_in = true;
  const auto where = documents::member_path("models", name);
  m.name = std::move(name);
  m.api = api;
  m.model = model::reference_string{std::move(id), where + ".model", false};
  m.api_key = model::reference_string{"${env:" + variable + "}", where + ".apiKey", false};
  return m;
}

}  // namespace

const model::server_entry* model::configuration::find_server(std::string_view name) const {
  return find_named(servers, name);
}
const model::model_entry* model::configuration::find_model(std::string_view name) const {
  return find_named(models, name);
}
const model::profile_entry* model::configuration::find_profile(std::string_view name) const {
  return find_named(profiles, name);
}

environment environment::of_process() {
  environment e;
  for (char** v = ::environ; v && *v; ++v) {
    const std::string_view line(*v);
    if (const auto cut = line.find('='); cut != line.npos && cut != 0)
      e.values.emplace(line.substr(0, cut), line.substr(cut + 1));
  }
  return e;
}

void add_demo_model(model::configuration& config) {
  if (config.find_model("demo")) return;
  model::model_entry m;
  m.name = "demo";
  m.built_in = true;
  m.api = model::model_api::rehearsal;
  config.models.push_back(std::move(m));
}

void add_environment_models(model::configuration& c, const environment& env) {
  if (env.filled("OPENAI_API_KEY")) {
    auto m = environment_model("gpt", model::model_api::openai_chat, "gpt-5.2", "OPENAI_API_KEY");
    if (env.filled("OPENAI_BASE_URL"))
      m.base_url = model::reference_string{"${env:OPENAI_BASE_URL}", "models.gpt.baseUrl", false};
    c.models.push_back(std::move(m));
  }
  if (env.filled("ANTHROPIC_API_KEY"))
    c.models.push_back(
        environment_model("claude", model::model_api::anthropic, "claude-sonnet-4-5", "ANTHROPIC_API_KEY"));
  if (!c.models.empty() && !c.default_model) c.default_model = c.models.front().name;
}

model::configuration defaults(const environment& env) {
  model::configuration c;
  static_cast<model::loop_settings&>(c.loop) = model::default_loop();
  model::server_entry toolbox;
  toolbox.name = toolbox.prefix = "toolbox";
  toolbox.bundled = true;
  toolbox.command = model::reference_string{"mcpbx-toolbox", "mcpServers.toolbox.command", true};
  c.servers.push_back(std::move(toolbox));

  add_environment_models(c, env);
  add_demo_model(c);
  return c;
}

}  // namespace mcpbx::conf
