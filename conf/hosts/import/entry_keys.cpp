// The table of keys that an import reads itself, and the keys of times. Other keys mean the same in every program,
// and are read as in a pasted entry.
#include "conf/hosts/import/entry_reader.hpp"
#include "conf/hosts/import/node_making.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace mcpbx::conf::imports {
namespace {

constexpr double second = 1000, day = 86'400'000;

/// Returns the milliseconds of a duration as Go writes it ("1m30s", "500ms"); nullopt: it is none.
std::optional<double> duration(std::string_view text) {
  double all = 0;
  if (text.empty()) return {};
  while (!text.empty()) {
    std::size_t end = 0;
    double number = 0, scale = 1;
    bool behind_point = false;
    while (end < text.size() && ((text[end] >= '0' && text[end] <= '9') || (text[end] == '.' && !behind_point))) {
      if (text[end] == '.') {
        behind_point = true;
      } else if (behind_point) {
        scale /= 10;
        number += scale * (text[end] - '0');
      } else {
        number = number * 10 + (text[end] - '0');
      }
      ++end;
    }
    if (end == 0) return {};
    text.remove_prefix(end);
    const auto unit = text.substr(0, text.find_first_of("0123456789."));
    const double factor = unit == "ms"  ? 1
                          : unit == "s" ? second
                          : unit == "m" ? 60 * second
                          : unit == "h" ? 3600 * second
                                        : 0;
    if (factor == 0) return {};
    all += number * factor;
    text.remove_prefix(unit.size());
  }
  return all;
}

}  // namespace

const entry_reader::key_reader* entry_reader::find_reader(std::string_view key) {
  using e = entry_reader;
  // clang-format off: one key, one cell
  static constexpr key_reader all[] = {
    {"command", &e::command}, {"cmd", &e::command}, {"args", &e::args},
    {"env", &e::env}, {"envs", &e::env}, {"environment", &e::env}, {"env_vars", &e::pass_env}, {"env_keys", &e::pass_env},
    {"inheritParentEnv", &e::whole_environment}, {"envFilter", &e::whole_environment},
    {"cwd", &e::folder_path}, {"working_dir", &e::folder_path}, {"working_directory", &e::folder_path}, {"envFile", &e::env_file},
    {"url", &e::url}, {"httpUrl", &e::url}, {"serverUrl", &e::url}, {"baseUrl", &e::url}, {"uri", &e::url},
    {"headers", &e::headers}, {"http_headers", &e::headers}, {"env_http_headers", &e::env_headers},
    {"bearer_token_env_var", &e::token_variable}, {"requestOptions", &e::request_options},
    {"includeTools", &e::allowed}, {"enabled_tools", &e::allowed}, {"available_tools", &e::allowed}, {"allowedTools", &e::allowed},
    {"tools", &e::tools}, {"disabled_prompts", &e::denied_parts}, {"disabled_resources", &e::denied_parts}, {"expose_prompts", &e::denied_parts},
    {"disabled", &e::switched}, {"startup", &e::startup}, {"max_concurrent_requests", &e::at_once},
    {"protocol", &e::protocol}, {"settings", &e::settings}, {"required", &e::required_value},
    {"timeout", &e::timeout}, {"tool_timeout_sec", &e::call_seconds}, {"requestTimeout", &e::call_milliseconds}, {"request_timeout_ms", &e::call_milliseconds},
    {"startup_timeout_sec", &e::start_seconds}, {"startup_timeout_ms", &e::start_milliseconds}, {"initTimeout", &e::start_milliseconds},
    {"connectionTimeout", &e::start_milliseconds}, {"init_timeout", &e::start_text}, {"launcher_wait_timeout", &e::start_text},
    {"sseReadTimeout", &e::nothing}, {"sse_read_timeout", &e::nothing},
    {"oauth", &e::oauth}, {"oauthClient", &e::oauth}, {"auth", &e::auth}, {"authentication", &e::auth}, {"apiKey", &e::api_key},
    {"oauthClientId", &e::client_id}, {"oauth_client_id", &e::client_id}, {"oauth_client_secret", &e::client_secret},
    {"authProviderType", &e::provider_type}, {"requiresOAuth", &e::nothing}, {"oauthPublicClient", &e::nothing},
    {"oauth_token", &e::foreign_tokens}, {"headersHelper", &e::foreign_login}, {"oauth_headers", &e::foreign_login}, {"oidc", &e::foreign_login},
    {"obo", &e::foreign_login}, {"oauth_resource", &e::foreign_login}, {"oauthGrantType", &e::foreign_login}, {"oauth_callback_port", &e::foreign_login},
    {"targetAudience", &e::foreign_login}, {"targetServiceAccount", &e::foreign_login}, {"client_header_forwarding", &e::foreign_login},
    {"remoteConfigured", &e::nothing}, {"id", &e::nothing}, {"$schema", &e::nothing},
  };
  // clang-format on
  const auto* found = std::ranges::find(all, key, &key_reader::key);
  return found == std::end(all) ? nullptr : found;
}

void entry_reader::required_value(documents::node_member& m) {
  if (m.value.is(documents::node::kind::boolean) && m.value.truth)
    notice(m, "a missing server does not keep mcpbx from starting");
}

void entry_reader::set_time(const documents::node_member& m, std::string_view key, double milliseconds) {
  if (!(milliseconds >= 1)) return notice(m, "is no time, and is left out");
  const auto most = key == "startTimeoutMs" ? 3600 * second : day;
  if (milliseconds > most) notice(m, "is longer than mcpbx waits, and is cut");
  const auto whole = static_cast<std::int64_t>(std::min(std::round(milliseconds), most));
  set_whole(key, whole, m.value.at);
  // The bound that nothing extends is ten minutes unless said otherwise.
  if (key == "callTimeoutMs" && whole > 600'000) set_whole("callHardTimeoutMs", whole, m.value.at);
}

void entry_reader::timeout(documents::node_member& m) {
  const bool number = m.value.is(documents::node::kind::integer) || m.value.is(documents::node::kind::number);
  if (from_.name == "mcpproxy" && m.value.is(documents::node::kind::string)) return start_text(m);
  if (from_.timeout == programs::time_unit::none || !number)
    return notice(m, "is left out: its unit is not known for this program", "write \"callTimeoutMs\" if you need it");
  if (from_.times == programs::time_subject::listing) return notice(m, "is left out: it is for listing tools only");
  const double ms = m.value.real * (from_.timeout == programs::time_unit::seconds ? second : 1);
  if (from_.name == "claude-code" && ms < second)
    return notice(m, "is below a second, and is left out as that program does");
  set_time(m, from_.times == programs::time_subject::start ? "startTimeoutMs" : "callTimeoutMs", ms);
}

void entry_reader::call_seconds(documents::node_member& m) {
  set_time(m, "callTimeoutMs", m.value.real * second);
}
void entry_reader::call_milliseconds(documents::node_member& m) {
  set_time(m, "callTimeoutMs", m.value.real);
}
void entry_reader::start_seconds(documents::node_member& m) {
  set_time(m, "startTimeoutMs", m.value.real * second);
}
void entry_reader::start_milliseconds(documents::node_member& m) {
  set_time(m, "startTimeoutMs", m.value.real);
}
void entry_reader::start_text(documents::node_member& m) {
  const auto ms = m.value.is(documents::node::kind::string) ? duration(m.value.text) : std::nullopt;
  if (!ms) return notice(m, "is no time such as \"30s\", and is left out");
  set_time(m, "startTimeoutMs", *ms);
}

}  // namespace mcpbx::conf::imports
