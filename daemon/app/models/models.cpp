// Construction of models from their entries: wire options, time limits, and credentials that are resolved at use.
#include "daemon/app/models/models.hpp"

#include "conf/model/references.hpp"
#include "conf/model/secrets.hpp"
#include "daemon/app/references/system_references.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/call/fallback_model.hpp"
#include "providers/call/recording_model.hpp"
#include "providers/call/rehearsal_model.hpp"
#include "providers/call/replay_model.hpp"
#include "providers/call/text_tools_model.hpp"
#include "providers/wire/registry/registry.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace mcpbx::daemon::models {
namespace {

// Headers that are resolved for each request: the key and the headers of the entry.
struct secret_headers {
  providers::wire::key_header key;  // place of the key
  std::optional<conf::model::reference_string> api_key;
  conf::model::reference_map headers;
};

result<std::vector<http::header>> resolve_headers(const secret_headers& s) {
  references::system_references source;
  std::vector<http::header> out;
  if (s.api_key) {
    auto key = conf::model::resolve_secret(*s.api_key, source);
    if (!key) return std::unexpected(key.error());
    if (!s.key.token_start.empty() && key->reveal().starts_with(s.key.token_start))
      out.push_back({"Authorization", "Bearer " + key->reveal()});
    else if (!key->empty())
      out.push_back({std::string(s.key.name), std::string(s.key.prefix) + key->reveal()});
  }
  for (const auto& [name, value] : s.headers) {
    auto resolved = conf::model::resolve(value, source);
    if (!resolved) return std::unexpected(resolved.error());
    conf::model::register_secrets(name, *resolved);
    out.push_back({name, *resolved});
  }
  return out;
}

bool needs_lane(const secret_headers& s) {
  if (s.api_key && conf::model::needs_lane(*s.api_key)) return true;
  for (const auto& [name, value] : s.headers)
    if (conf::model::needs_lane(value)) return true;
  return false;
}

// Returns the description of the entry's API, or null for rehearsal and replay, which have no endpoint.
const providers::wire::api_description* api_of(const conf::model::model_entry& e) {
  return providers::registry::find_api(conf::loop::to_string(*e.api));
}

bool may_lose_calls(const conf::model::model_entry& e, const providers::wire::api_description& api) {
  return api.lost_calls == providers::wire::call_loss::always ||
         (api.lost_calls == providers::wire::call_loss::at_other_addresses && e.base_url);
}

// Returns the format of tools in text, or null if tools go into the API's own place for them.
const providers::text::tool_format* text_format_of(conf::model::tool_format format) {
  if (format == conf::model::tool_format::tagged_json) format = conf::model::tool_format::hermes;
  return providers::text::find_format(conf::loop::to_string(format));
}

std::string at_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return conf::model::expand_home(path, home != nullptr ? home : "/");
}

// Returns the headers of the entry, with the key where the API expects it.
secret_headers headers_of(const conf::model::model_entry& e, const providers::wire::api_description& api) {
  // Such an API takes either a key or a token and refuses both together.
  const bool has_token =
      std::ranges::any_of(e.headers, [](const auto& h) { return http::is_word(h.first, "Authorization"); });
  return {api.key, api.key.replaced_by_token && has_token ? std::nullopt : e.api_key, e.headers};
}

// Applies the entry's dialect settings, which take precedence over those known for the address.
void apply_dialect(const conf::model::dialect_settings& d, providers::wire::wire_options& o) {
  if (d.max_tokens_field) o.max_tokens_field = conf::loop::to_string(*d.max_tokens_field);
  if (d.empty_content) o.null_content = *d.empty_content == conf::model::empty_content::null;
  if (d.system_role) o.developer_role = *d.system_role == conf::model::system_role::developer;
  if (d.call_ids) o.short_call_ids = *d.call_ids == conf::model::call_id_shape::short_ids;
  // Servers that want short ids use a template of Mistral's, which refuses this as well.
  if (o.short_call_ids) o.user_after_tool = false;
  if (d.user_after_tool) o.user_after_tool = *d.user_after_tool;
  if (d.stream_options) o.stream_options = *d.stream_options;
  if (d.parallel_tool_calls) o.parallel_tool_calls = d.parallel_tool_calls;
  if (d.strict) o.strict = d.strict;
  if (d.answer_schema) o.answer_schema = *d.answer_schema;
  if (d.echo_reasoning) o.echo_reasoning = *d.echo_reasoning;
}

result<std::string> script_path(const conf::model::model_entry& e, const references::start_values& values) {
  auto path = values.value(*e.script);
  if (!path) return path;
  return at_home(*path);
}

// Returns the shortest digits that read back as the same number, independent of the locale, as JSON needs them.
std::string number_text(double value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

}  // namespace

std::string_view meant_model(const conf::model::configuration& all, std::string_view name) {
  const std::string_view usual = all.default_model ? std::string_view(*all.default_model) : "";
  if (name.empty()) name = usual;
  if (!name.starts_with("profile:")) return name;
  const auto* profile = all.find_profile(name.substr(8));
  if (profile == nullptr) return name;
  if (profile->model) return *profile->model;
  if (!usual.starts_with("profile:")) return usual;
  const auto* other = all.find_profile(usual.substr(8));
  return other != nullptr && other->model ? std::string_view(*other->model) : "";
}

const conf::model::model_entry* model_entry_of(const conf::model::configuration& all, std::string_view name) {
  name = meant_model(all, name);
  if (const auto* e = all.find_model(name)) return e;
  return all.find_model(name.substr(0, name.find('/')));
}

result<void> check_model_name(const conf::model::configuration& all, std::string_view name) {
  const auto meant = meant_model(all, name);
  if (meant.empty() || all.find_model(meant) != nullptr) return {};
  const auto slash = meant.find('/');
  if (const auto* e = model_entry_of(all, meant)) {
    if (slash + 1 < meant.size()) return {};
    return fail(errc::config, "expected an ID behind the slash of \"" + std::string(meant) + "\"; write \"" + e->name +
                                  "\" for the model of that entry, or \"" + e->name + "/ID\" for another one");
  }
  std::vector<std::string_view> names;
  for (const auto& m : all.models) names.push_back(m.name);
  return fail(errc::config, "there is no model \"" + std::string(cut_utf8(redact::printable(meant), 100)) + "\"" +
                                did_you_mean(meant, names) + "; `mcpbx models` lists them");
}

result<std::string> base_url_of(const conf::model::model_entry& e, const references::start_values& values) {
  if (e.base_url) {
    auto url = values.value(*e.base_url);
    // Registers secrets of the query, because endpoints may repeat it in errors. For values from files and programs
    // start_values has done so already.
    if (url && !conf::model::needs_lane(*e.base_url)) {
      references::system_references source;
      conf::model::register_query_secrets(*e.base_url, source);
    }
    return url;
  }
  const auto* api = api_of(e);
  if (api == nullptr || api->base_url.empty()) return fail(errc::config, "model \"" + e.name + "\" has no \"baseUrl\"");
  return std::string(api->base_url);
}

std::size_t max_tools_of(const conf::model::model_entry& e) {
  if (e.max_tools) return static_cast<std::size_t>(*e.max_tools);
  // For tools in text there is no limit of an API.
  const auto* api = api_of(e);
  return text_format_of(e.format) != nullptr || api == nullptr ? 0 : api->max_tools;
}

result<std::shared_ptr<providers::model>> model_set::find(std::string_view name) {
  const auto& all = configuration();
  const std::string key(meant_model(all, name));
  if (key.empty()) {
    if (all.default_model || !name.empty())
      return fail(errc::config, "\"" + std::string(name.empty() ? std::string_view(*all.default_model) : name) +
                                    "\" names no model and there is no other default; add \"model\" to the profile");
    return fail(errc::config,
                "no model is configured: set OPENAI_API_KEY or ANTHROPIC_API_KEY, or write one under \"models\" with a "
                "\"defaultModel\" in "
                "~/.config/mcpbx/config.json; to try mcpbx without a model, ask with -m demo");
  }
  if (auto known = made_.find(key); known != made_.end()) return known->second;
  if (auto there = check_model_name(all, key); !there) return std::unexpected(std::move(there.error()));
  const conf::model::model_entry* e = model_entry_of(all, key);
  const auto slash = all.find_model(key) != nullptr ? std::string::npos : key.find('/');
  auto made = make(*e, slash == std::string::npos ? std::string_view{} : std::string_view(key).substr(slash + 1));
  if (!made) return made;
  if (e->fallback_model) {
    // The recursion ends: the configuration was checked for cycles of fallbacks.
    auto second = find(*e->fallback_model);
    if (!second) {
      // Not cached: the next request checks again if the fallback can be used.
      log::warn("model \"" + e->name + "\" answers without its fallback: " + second.error().message);
      return made;
    }
    made = std::shared_ptr<providers::model>(
        providers::call::make_fallback_model(std::move(*made), std::move(*second), around_.time));
  }
  // Bounded, because callers can invent NAME/ID.
  if (made_.size() < 1024) made_[key] = *made;
  return made;
}

result<std::shared_ptr<providers::model>> model_set::make_rehearsal(const conf::model::model_entry& e) const {
  std::shared_ptr<const providers::rehearsal::script> script;
  if (e.script) {
    auto path = script_path(e, values());
    if (!path) return std::unexpected(path.error());
    // Reads on the main thread, once: a script is a small local file of the user's.
    auto text = references::system_references().file(*path);
    if (!text) return fail(errc::config, "the script of model \"" + e.name + "\": " + text.error().message);
    auto read = providers::rehearsal::read_script(*text);
    if (!read) return fail(errc::config, "the script of model \"" + e.name + "\": " + read.error().message);
    script = *read;
  }
  return std::shared_ptr<providers::model>(providers::call::make_rehearsal_model(e.name, script, around_.time));
}

result<std::shared_ptr<providers::model>> model_set::make_replay(const conf::model::model_entry& e,
                                                                 std::string_view id) {
  auto path = script_path(e, values());
  if (!path) return std::unexpected(path.error());
  std::optional<std::string> system;
  if (e.system) {
    auto prompt = values().value(*e.system);
    if (!prompt) return std::unexpected(prompt.error());
    system = std::move(*prompt);
  }
  providers::call::offload blocking = [&keys = around_.keys, executor = around_.executor,
                                       key = "recordings of " + e.name](std::function<void()> work,
                                                                        std::function<void(result<void>)> done) {
    auto posted = keys.post(key, [work = std::move(work), done, executor]() mutable {
      work();
      boost::asio::post(executor, [done = std::move(done)] { done({}); });
    });
    if (!posted) boost::asio::post(executor, [done = std::move(done), posted = std::move(posted)] { done(posted); });
  };
  if (e.record) {
    auto recorded = find(id.empty() ? *e.record : e.record->substr(0, e.record->find('/')) + "/" + std::string(id));
    if (!recorded) return std::unexpected(recorded.error());
    return std::shared_ptr<providers::model>(providers::call::make_recording_model(
        {e.name, std::move(*path), std::move(system)}, *recorded, around_.random, std::move(blocking)));
  }
  // Reads the first line only; the recording itself is read on a lane.
  auto header = providers::call::read_recording_header(*path);
  if (!header) return fail(errc::config, "model \"" + e.name + "\": " + header.error().message);
  return std::shared_ptr<providers::model>(providers::call::make_replay_model(
      {e.name, std::move(*path), std::move(*header), std::move(system)}, std::move(blocking)));
}

result<std::shared_ptr<providers::model>> model_set::make(const conf::model::model_entry& e, std::string_view id) {
  if (*e.api == conf::model::model_api::rehearsal) return make_rehearsal(e);
  if (*e.api == conf::model::model_api::replay) return make_replay(e, id);
  auto reached = connection_options(e);
  if (!reached) return std::unexpected(reached.error());
  auto& o = *reached;
  if (!id.empty()) o.name += "/" + std::string(id);  // the name under which a later request finds it again
  o.wire.model = id;
  if (id.empty()) {
    auto model = values().value(*e.model);
    if (!model) return std::unexpected(model.error());
    o.wire.model = std::move(*model);
  }
  if (e.system) {
    auto prompt = values().value(*e.system);
    if (!prompt) return std::unexpected(prompt.error());
    o.system = std::move(*prompt);
  }
  providers::registry::apply_dialect(o.api, o.wire);
  apply_dialect(e.dialect, o.wire);
  if (e.body) o.wire.body = json::raw_json::own(e.body->text);
  o.wire.max_output_tokens = e.max_tokens.value_or(0);
  if (e.temperature) o.wire.temperature = number_text(*e.temperature);
  if (e.top_p) o.wire.top_p = number_text(*e.top_p);
  o.max_tools = max_tools_of(e);
  o.retries.max_retries = static_cast<int>(e.max_retries);
  auto made = providers::call::make_chat_model(std::move(o), around_.client, around_.time, around_.random);
  if (!made) return std::unexpected(made.error());
  return std::shared_ptr<providers::model>(providers::call::make_text_tools_model(
      std::move(*made), {.format = text_format_of(e.format),
                         .fall_back = e.format == conf::model::tool_format::automatic,
                         .may_lose_calls = may_lose_calls(e, *api_of(e))}));
}

result<providers::call::chat_model_options> model_set::connection_options(const conf::model::model_entry& e) {
  providers::call::chat_model_options o;
  o.name = e.name;
  const auto* api = api_of(e);
  if (api == nullptr)
    return fail(errc::config, "Model \"" + e.name + "\": the API \"" + std::string(conf::loop::to_string(*e.api)) +
                                  "\" has no endpoint.");
  o.api = api->name;
  auto base = base_url_of(e, values());
  if (!base) return std::unexpected(base.error());
  o.wire.base_url = std::move(*base);
  if (e.api_version) {
    auto version = values().value(*e.api_version);
    if (!version) return std::unexpected(version.error());
    o.wire.api_version = std::move(*version);
  }
  if (e.ca_file) {
    auto path = values().value(*e.ca_file);
    if (!path) return std::unexpected(path.error());
    o.trust.ca_file = at_home(*path);
  }
  o.limits = {.connect = e.connect_timeout_ms,
              .first_byte = e.first_byte_timeout_ms,
              .idle = e.idle_timeout_ms,
              .total = e.total_timeout_ms,
              .max_body = 32u << 20};

  auto secrets = std::make_shared<const secret_headers>(headers_of(e, *api));
  const bool blocking = needs_lane(*secrets);
  using got_headers = std::function<void(result<std::vector<http::header>>)>;
  // Requests that arrive while a command or file is being read share its result, so that one that hangs holds one
  // thread only.
  auto waiting = std::make_shared<std::vector<got_headers>>();
  o.credentials = [secrets, blocking, waiting, name = e.name, &keys = around_.keys,
                   executor = around_.executor](got_headers then) {
    if (!blocking) return then(resolve_headers(*secrets));
    waiting->push_back(std::move(then));
    if (waiting->size() > 1) return;
    const auto tell = [waiting](const result<std::vector<http::header>>& headers) {
      for (const auto& one : std::exchange(*waiting, {})) one(headers);
    };
    auto posted = keys.post(name, [secrets, executor, tell] {
      boost::asio::post(executor, [headers = resolve_headers(*secrets), tell] { tell(headers); });
    });
    if (!posted) tell(std::unexpected(std::move(posted.error())));
  };
  return o;
}

}  // namespace mcpbx::daemon::models
