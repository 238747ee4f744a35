// The presets of wire_options for known servers, each with its reason.
#include "providers/wire/openai/dialects.hpp"

#include "mcp/support/text.hpp"
#include "providers/wire/encoding.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace mcpbx::providers {
namespace {

// The newest version of Azure's dated API that is no preview; it streams usage and knows parallel_tool_calls.
constexpr std::string_view usual_api_version = "2024-10-21";

std::string_view domain_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (const auto at = url.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
  return url.substr(0, url.find(':'));
}

// Returns the path of an address without slashes at its end.
std::string_view path_of(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  while (url.ends_with('/')) url.remove_suffix(1);
  return url;
}

using change = void (*)(wire_options&);

void openai(wire_options& o) {
  // OpenAI's newer models refuse max_tokens; servers that copied its API know nothing else.
  o.max_tokens_field = "max_completion_tokens";
  o.null_content = true;
  // Other servers refuse the member, or call no tool any more.
  o.answer_schema = true;
  o.takes_strict = true;
}

void mistral(wire_options& o) {
  // Mistral wants ids of nine letters and digits and an assistant message behind a tool message, refuses unknown
  // members, and sends usage unasked.
  o.short_call_ids = true;
  o.user_after_tool = false;
  o.stream_options = false;
  o.echo_reasoning = "none";
}

// Some servers refuse their own reasoning when it is sent back.
void no_reasoning_back(wire_options& o) {
  o.echo_reasoning = "none";
}

// Returns true for OpenAI's reasoning models, also behind a proxy ("openai/o3-mini"): they refuse stop sequences.
bool refuses_stop(std::string_view model) {
  model.remove_prefix(model.rfind('/') + 1);
  return std::ranges::any_of(std::array<std::string_view, 4>{"o1", "o3", "o4", "gpt-5"},
                             [&](std::string_view family) { return model.starts_with(family); });
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

std::string_view usual_base_url(std::string_view api) {
  if (api == "openai-chat" || api == "openai-responses") return "https://api.openai.com/v1";
  if (api == "anthropic") return "https://api.anthropic.com";
  if (api == "gemini") return "https://generativelanguage.googleapis.com/v1beta";
  if (api == "ollama") return "http://127.0.0.1:11434";
  return {};
}

// OpenAI and services that copied its API refuse more tools. Other APIs document no limit.
std::size_t usual_max_tools(std::string_view api) {
  return api == "openai-chat" || api == "openai-responses" || api == "azure" || api == "dial" ? 128 : 0;
}

void apply_dialect(std::string_view api, wire_options& options) {
  options.stop_sequences = !refuses_stop(options.model);
  if (api == "azure") return openai(options);
  if (api == "dial") {
    // DIAL sends usage unasked, and passes unknown members on to the model's own server.
    options.stream_options = false;
    return;
  }
  const auto host = domain_of(options.base_url);
  // Other servers of these two APIs may not know the member.
  if (api == "openai-responses")
    options.answer_schema = is_at(host, "api.openai.com") || is_at(host, "openai.azure.com");
  if (api == "anthropic") options.answer_schema = options.takes_strict = host == "api.anthropic.com";
  if (api != "openai-chat") return;
  for (const auto& p : presets)
    if (is_at(host, p.host)) p.apply(options);
}

std::string dialect_id(std::string_view id, const wire_options& options) {
  if (!options.short_call_ids || is_short_id(id)) return std::string(id);
  constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  auto hash = stable_hash(id);
  std::string out;
  for (int i = 0; i < 9; ++i, hash /= digits.size()) out += digits[hash % digits.size()];
  return out;
}

std::string chat_url(std::string_view api, const wire_options& options) {
  const auto path = path_of(options.base_url);
  const bool deployments = api == "azure" || api == "dial";
  // Azure's newer addresses look like OpenAI's, and some configurations have the deployment's whole address.
  if (!deployments || path.ends_with("/v1")) return join_url(options.base_url, "/chat/completions");
  std::string below;
  if (path.find("/openai/deployments/") == std::string_view::npos)
    below = std::string(path.ends_with("/openai") ? "" : "/openai") + "/deployments/" + encoded_path(options.model);
  auto url = join_url(options.base_url, below + "/chat/completions");
  if (url.find("api-version=") != std::string::npos) return url;
  url += url.find('?') == std::string::npos ? '?' : '&';
  const std::string_view version = options.api_version.empty() ? usual_api_version : options.api_version;
  return url + "api-version=" + encoded_path(version);
}

}  // namespace mcpbx::providers
