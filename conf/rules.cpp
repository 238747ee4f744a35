// The rules between keys, one function per subject.
#include "conf/rules.hpp"

#include "conf/loop/loop_choices.hpp"
#include "conf/loop/loop_numbers.hpp"
#include "conf/model/forms.hpp"
#include "conf/model/loop_levels.hpp"
#include "conf/model/references.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace mcpbx::conf {
namespace {

struct reporter {
  const model::configuration& config;
  const report_fn& error;
  const report_fn& notice;

  std::vector<std::string_view> model_names() const {
    std::vector<std::string_view> names;
    for (const auto& m : config.models) names.push_back(m.name);
    return names;
  }

  /// `name` is a configured model, NAME/ID, or (where profiles may be named) profile:NAME.
  void model_exists(const std::string& path, const std::string& name, bool profiles) const {
    if (profiles && name.starts_with("profile:")) {
      const auto profile = name.substr(8);
      if (config.find_profile(profile)) return;
      std::vector<std::string_view> names;
      for (const auto& p : config.profiles) names.push_back(p.name);
      error(path, "names the profile \"" + profile + "\", which is not configured" + did_you_mean(profile, names),
            "add it to \"profiles\", or name another one");
      return;
    }
    const auto model = name.substr(0, name.find('/'));
    if (config.find_model(model)) return;
    error(path, "names the model \"" + model + "\", which is not configured" + did_you_mean(model, model_names()),
          "add it to \"models\", or name another one");
  }
};

void check_server(const model::server_entry& s, const reporter& r) {
  const auto path = documents::member_path("mcpServers", s.name);
  const auto useless = [&](std::string_view key, bool given, std::string_view with) {
    if (given)
      r.notice(documents::member_path(path, key), "has no effect beside \"" + std::string(with) + "\"", "take it out");
  };
  if (s.command) {
    useless("headers", !s.headers.empty(), "command");
    useless("auth", s.auth.has_value(), "command");
    useless("caFile", s.ca_file.has_value(), "command");
    useless("clientCertFile", s.client_cert_file.has_value(), "command");
    useless("clientKeyFile", s.client_key_file.has_value(), "command");
    useless("transport", s.transport != "auto", "command");
  } else if (s.url) {
    useless("args", !s.args.empty(), "url");
    useless("env", !s.env.empty(), "url");
    useless("envFile", s.env_file.has_value(), "url");
    useless("passEnv", !s.pass_env.empty(), "url");
    useless("cwd", s.cwd.has_value(), "url");
    if (s.client_key_file && !s.client_cert_file)
      r.error(documents::member_path(path, "clientKeyFile"), "is the key of a certificate that is not named",
              "name the certificate in \"clientCertFile\"");
  }
  for (const auto& arg : s.args)
    if (s.command && model::refers_to_secret(arg))
      r.notice(arg.where,
               "a secret would stand in the server's command line, where every user of this machine can read it",
               "better give it in \"env\", from where the server takes it");
  if (s.cwd && s.cwd->text == "caller" && s.sharing == model::sharing_mode::shared)
    r.error(documents::member_path(path, "cwd"),
            "\"caller\" needs a process per caller or run, and this server is shared by all",
            "add \"sharing\": \"perCaller\", or name a directory");
  if (s.sampling && !s.sampling->model.empty()) r.model_exists(path + ".sampling.model", s.sampling->model, false);
  if (s.call_hard_timeout_ms < s.call_timeout_ms)
    r.error(documents::member_path(path, "callHardTimeoutMs"),
            "is " + std::to_string(s.call_hard_timeout_ms.count()) + ", less than callTimeoutMs, " +
                std::to_string(s.call_timeout_ms.count()),
            "raise callHardTimeoutMs or lower callTimeoutMs");
}

/// Reports tools of one entry that `rename` gives the same name: one would hide the other.
void check_renames(const std::string& path, const model::tool_filter& tools, const reporter& r) {
  std::set<std::string_view> targets;
  for (const auto& [from, to] : tools.rename)
    if (!targets.insert(to).second)
      r.error(documents::member_path(path + ".tools.rename", from), "gives a second tool the name \"" + to + "\"",
              "choose another name");
}

/// Checks `record`: it must name a model entry that is no replay itself.
void check_record(const model::model_entry& m, const reporter& r) {
  if (!m.record) return;
  const auto path = documents::member_path("models", m.name) + ".record";
  if (m.api != model::model_api::replay) return r.notice(path, "has an effect with the API replay only", "take it out");
  r.model_exists(path, *m.record, false);
  const auto* recorded = r.config.find_model(m.record->substr(0, m.record->find('/')));
  if (recorded && recorded->api == model::model_api::replay)
    r.error(path, "names \"" + recorded->name + "\", which replays a recording itself", "name the model that answers");
}

/// Reports a chain of fallback models that leads back to its start.
void check_fallback(const model::model_entry& m, const reporter& r) {
  if (!m.fallback_model) return;
  const auto path = documents::member_path("models", m.name) + ".fallbackModel";
  r.model_exists(path, *m.fallback_model, false);
  std::set<const model::model_entry*> seen;
  for (const auto* at = &m; at && at->fallback_model;) {
    at = r.config.find_model(std::string_view(*at->fallback_model).substr(0, at->fallback_model->find('/')));
    if (at == &m) return r.error(path, "leads back to \"" + m.name + "\" itself", "let one of the models have none");
    if (!seen.insert(at).second) return;  // a circle without this entry; its own members report it
  }
}

/// Reports keys that the entry's API ignores, and members of `body` that mcpbx writes itself.
void check_wire(const model::model_entry& m, const reporter& r) {
  const auto path = documents::member_path("models", m.name);
  const auto useless = [&](std::string_view key, std::string_view apis) {
    r.notice(documents::member_path(path, key), "has an effect with the APIs " + std::string(apis) + " only",
             "take it out");
  };
  const bool deployment = m.api == model::model_api::azure || m.api == model::model_api::dial;
  if (m.api_version && !deployment && m.api != model::model_api::anthropic)
    useless("apiVersion", "azure, dial and anthropic");
  if (m.api == model::model_api::anthropic && !m.api_version && (m.temperature || m.top_p))
    r.notice(documents::member_path(path, m.temperature ? "temperature" : "topP"),
             "is not sent: the API takes no sampling from its version 2026-10-21 on",
             "take it out, or write an older apiVersion");
  if (m.max_tools && (m.api == model::model_api::rehearsal || m.api == model::model_api::replay))
    r.notice(documents::member_path(path, "maxTools"), "has no effect with the APIs rehearsal and replay",
             "take it out");
  const auto& d = m.dialect;
  const bool dialect = d.max_tokens_field || d.empty_content || d.system_role || d.call_ids || d.user_after_tool ||
                       d.stream_options || d.parallel_tool_calls || d.strict || d.answer_schema || d.echo_reasoning;
  // Some switches mean something to the newer APIs of OpenAI and Anthropic as well.
  const bool chat = deployment || m.api == model::model_api::openai_chat;
  const bool newer = m.api == model::model_api::openai_responses || m.api == model::model_api::anthropic;
  const bool chat_only = d.max_tokens_field || d.empty_content || d.system_role || d.call_ids || d.user_after_tool ||
                         d.stream_options || d.echo_reasoning;
  if (dialect && !chat && !newer) useless("dialect", "openai-chat, openai-responses, anthropic, azure and dial");
  if (newer && chat_only)
    r.notice(documents::member_path(path, "dialect"), "has switches without effect for this API",
             "parallelToolCalls, strict and answerSchema have one");
  if (!m.body) return;
  const auto body = json::raw_object::open(json::raw_json::own(m.body->text));
  if (!body) return;
  for (const std::string_view key : {"model", "stream", "store", "messages", "input", "tools", "contents",
                                     "systemInstruction", "system", "instructions"})
    if (body->contains(key))
      r.error(documents::member_path(documents::member_path(path, "body"), key), "is written by mcpbx itself",
              "take it out");
}

/// Reports settings above loop.max: an error in `loop` itself, a notice elsewhere, where the value is cut.
void check_ceilings(const std::string& path, const model::loop_settings& l, const model::loop_settings& max,
                    const report_fn& report, std::string_view mend) {
  for (const auto& n : loop::loop_numbers()) {
    const auto value = l.*n.open, most = n.ceiling(max);
    if (!value || !most || !n.exceeds(*value, *most)) continue;
    const std::string none = n.zero_is_none && *value == 0 ? " (no limit)" : "";
    report(documents::member_path(path, n.key),
           "is " + std::to_string(*value) + none + ", more than the " + std::to_string(*most) + " of loop.max." +
               std::string(n.key),
           std::string(mend));
  }
}

/// Reports texts that name a model entry which does not exist.
void check_models(const std::string& path, const model::loop_settings& l, const reporter& r) {
  loop::each_choice([&](const auto& m) {
    if constexpr (loop::is_text<decltype(m.settled)>)
      if (m.names_model && l.*m.open) r.model_exists(documents::member_path(path, m.key), *(l.*m.open), false);
  });
}

// Returns true for postgresql://USER:PASSWORD@… and …?password=… with the password written out.
bool has_literal_password(std::string_view url) {
  if (!model::forms::is_postgres_url(url) || model::has_references(url)) return false;
  if (url.contains("?password=") || url.contains("&password=")) return true;
  const auto begin = url.find("://");
  const auto at = url.find('@');
  if (begin == url.npos || at == url.npos) return false;
  const auto user = url.substr(begin + 3, at - begin - 3);
  return user.find('/') == user.npos && user.find(':') != user.npos;
}

}  // namespace

void check_rules(const model::configuration& config, const report_fn& error, const report_fn& notice) {
  const reporter r{config, error, notice};
  for (const auto& s : config.servers) {
    check_server(s, r);
    check_renames(documents::member_path("mcpServers", s.name), s.tools, r);
  }
  const auto& max = config.loop.max;
  check_ceilings("loop", config.loop, max, error, "lower it or raise the ceiling");
  check_models("loop", config.loop, r);
  for (const auto& m : config.models) {
    if (m.built_in) continue;
    const auto path = documents::member_path("models", m.name) + ".loop";
    check_ceilings(path, m.loop, max, notice, "it counts as the ceiling");
    check_models(path, m.loop, r);
    if (m.script && m.api != model::model_api::rehearsal && m.api != model::model_api::replay)
      notice(documents::member_path("models", m.name) + ".script",
             "has an effect with the APIs rehearsal and replay only", "take it out");
    check_record(m, r);
    check_fallback(m, r);
    check_wire(m, r);
  }
  for (const auto& p : config.profiles) {
    const auto path = documents::member_path("profiles", p.name);
    check_renames(path, p.tools, r);
    if (p.model) r.model_exists(path + ".model", *p.model, false);
    check_ceilings(path + ".loop", p.loop, max, notice, "it counts as the ceiling");
    check_models(path + ".loop", p.loop, r);
  }
  if (config.store.url && has_literal_password(config.store.url->text))
    notice("store.url", "a password stands in the file itself",
           "better write ${env:NAME}, ${file:PATH} or ${cmd:WORDS} in its place, or use ~/.pgpass");
  if (config.default_model) r.model_exists("defaultModel", *config.default_model, true);
  if (config.limits.total_bytes < config.limits.max_message_bytes)
    error("limits.totalBytes",
          "is " + std::to_string(config.limits.total_bytes) + ", less than one message may have (maxMessageBytes, " +
              std::to_string(config.limits.max_message_bytes) + ")",
          "raise totalBytes or lower maxMessageBytes");
}

std::string server_prefix(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if ((u & 0xC0) == 0x80) continue;  // continuation byte of a character that became one _
    const bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    if (good)
      out += c;
    else if (out.empty() || out.back() != '_')
      out += '_';
  }
  return out;
}

void assign_prefixes(model::configuration& config, const report_fn& notice) {
  std::set<std::string> taken;
  // Names that need no change come first, so that a plain name never loses its prefix to one with odd characters.
  for (auto& s : config.servers)
    if (server_prefix(s.name) == s.name) taken.insert(s.prefix = s.name);
  for (auto& s : config.servers) {
    if (!s.prefix.empty()) continue;
    s.prefix = server_prefix(s.name);
    const auto wanted = s.prefix;
    for (int digits = 4; !taken.insert(s.prefix).second; ++digits)
      s.prefix = wanted + (wanted.ends_with('_') ? "" : "_") + hex(stable_hash(s.name), std::min(digits, 16));
    if (s.prefix != wanted)
      notice(documents::member_path("mcpServers", s.name),
             "would give its tools the same names as another server; they start with \"" + s.prefix + "__\"",
             "rename one of the two to choose another");
  }
}

}  // namespace mcpbx::conf
