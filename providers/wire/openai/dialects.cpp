// The presets of wire_options for known servers, each with its reason.
#include "providers/wire/openai/dialects.hpp"

#include "mcp/support/percent.hpp"
#include "mcp/support/text.hpp"
#include "providers/wire/encoding.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace mcpbx::providers::openai {
namespace {

// The newest version of Azure's dated API that is no preview; it streams usage and knows parallel_tool_calls.
constexpr std::string_view usual_api_version = "2024-10-21";

// Returns the path of an address without slashes at its end.
std::string_view path_of(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  while (url.ends_with('/')) url.remove_suffix(1);
  return url;
}

using change = void (*)(wire::wire_options&);

void openai(wire::wire_options& o) {
  // OpenAI's newer models refuse max_tokens; servers that copied its API know nothing else.
  o.max_tokens_field = "max_completion_tokens";
  o.null_content = true;
  // Other servers refuse the member, or call no tool any more.
  o.answer_schema = true;
  o.takes_strict = true;
}

void mistral(wire::wire_options& o) {
  // Mistral wants ids of nine letters and digits and an assistant message behind a tool message, refuses unknown
  // members, and sends usage unasked.
  o.short_call_ids = true;
  o.user_after_tool = false;
  o.stream_options = false;
  o.echo_reasoning = "none";
}

// Some servers refuse their own reasoning when it is sent back.
void no_reasoning_back(wire::wire_options& o) {
  o.echo_reasoning = "none";
}

struct preset {
  std::string_view host;  // matches this host and its subdomains
  change apply;
};
constexpr std::array<preset, 6> presets{{
    {"api.openai.com", openai},
    {"openai.azure.com", openai},
    {"api.mistral.ai", mistral},
    {"codestral.mistral.ai", mistral},
    {"api.groq.com", no_reasoning_back},
    {"api.cerebras.ai", no_reasoning_back},
}};

bool is_at(std::string_view host, std::string_view domain) {
  return host == domain || (host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
}

bool is_short_id(std::string_view id) {
  return id.size() == 9 && std::ranges::all_of(id, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

}  // namespace

void apply_chat_dialect(wire::wire_options& options) {
  const auto host = wire::host_of(options.base_url);
  for (const auto& p : presets)
    if (is_at(host, p.host)) p.apply(options);
}

void apply_azure_dialect(wire::wire_options& options) {
  openai(options);
}

void apply_dial_dialect(wire::wire_options& options) {
  // DIAL sends usage unasked, and passes unknown members on to the model's own server.
  options.stream_options = false;
}

void apply_responses_dialect(wire::wire_options& options) {
  const auto host = wire::host_of(options.base_url);
  // Other servers of this API may not know the member.
  options.answer_schema = is_at(host, "api.openai.com") || is_at(host, "openai.azure.com");
}

std::string dialect_id(std::string_view id, const wire::wire_options& options) {
  if (!options.short_call_ids || is_short_id(id)) return std::string(id);
  constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  auto hash = stable_hash(id);
  std::string out;
  for (int i = 0; i < 9; ++i, hash /= digits.size()) out += digits[hash % digits.size()];
  return out;
}

std::string chat_url(bool deployments, const wire::wire_options& options) {
  const auto path = path_of(options.base_url);
  // Azure's newer addresses look like OpenAI's, and some configurations have the deployment's whole address.
  if (!deployments || path.ends_with("/v1")) return wire::join_url(options.base_url, "/chat/completions");
  std::string below;
  if (path.find("/openai/deployments/") == std::string_view::npos)
    below =
        std::string(path.ends_with("/openai") ? "" : "/openai") + "/deployments/" + percent_encoded(options.model, "/");
  auto url = wire::join_url(options.base_url, below + "/chat/completions");
  if (url.find("api-version=") != std::string::npos) return url;
  url += url.find('?') == std::string::npos ? '?' : '&';
  const std::string_view version = options.api_version.empty() ? usual_api_version : options.api_version;
  return url + "api-version=" + percent_encoded(version, "/");
}

}  // namespace mcpbx::providers::openai
