// Checks the members of `_meta` that belong to the protocol.
#include "mcp/server/base/modern_request.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/log_levels.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/search/has_word.hpp"
#include "mcp/server/base/param_reader.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/support/text.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace mcpbx::mcp::server {
namespace {

std::unexpected<rpc::rpc_error> wrong(std::string_view key, const std::string& what) {
  return std::unexpected(invalid_params(
      "params._meta" + (key.empty() ? std::string() : "[" + json::json_quoted(key) + "]") + ": " + what));
}

rpc::rpc_error unsupported(const std::string& asked) {
  std::string json;
  json::json_writer(json)
      .begin_object()
      .key("supported")
      .begin_array()
      .value(protocol::revision::modern)
      .end_array()
      .member("requested", cut_utf8(asked, 64))
      .end_object();
  return {protocol::mcp_code::unsupported_protocol_version,
          "the protocol version " + json::json_quoted(cut_utf8(asked, 64)) + " cannot be named in _meta; " +
              std::string(protocol::revision::modern) + " can, and older ones begin with initialize",
          json::raw_json::own(json)};
}

// Longest params that are searched before their members are cut apart.
constexpr std::size_t longest_searched_params = 4096;

// Returns true if `params` have no member `_meta`, as those of most requests of 2025-11-25: a key can be written in
// other ways only with a backslash.
bool lack_meta(std::string_view params) {
  return params.size() <= longest_searched_params && !search::has_word(params, "_meta") &&
         params.find('\\') == std::string_view::npos;
}

}  // namespace

std::expected<std::unique_ptr<modern_request>, rpc::rpc_error> read_modern_request(const json::raw_json& params,
                                                                                   bool only_modern,
                                                                                   known_meta* known) {
  if (!only_modern && (!params || params.is_object()) && lack_meta(params.text())) return nullptr;
  const auto in_params = json::read_members(params ? params : json::raw_json::literal("{}"), {"_meta"});
  if (!in_params) return std::unexpected(invalid_params("params: " + in_params.error().message));
  const json::raw_json& meta = in_params->front();
  if (!meta.is_object()) {
    if (only_modern) return wrong("", "expected an object with " + std::string(protocol::meta_key::protocol_version));
    return nullptr;  // a wrong one is found where it is needed
  }
  if (known != nullptr && known->text && known->text.text() == meta.text())
    return std::make_unique<modern_request>(known->read);
  const auto members = json::read_members(meta, {protocol::meta_key::protocol_version, protocol::meta_key::client_info,
                                                 protocol::meta_key::client_capabilities, protocol::meta_key::log_level,
                                                 protocol::meta_key::progress_token});
  if (!members) return wrong("", members.error().message);
  const auto& [version, info, capabilities, level, token] = *members;
  if (!version) {
    if (!only_modern && !info && !capabilities) return nullptr;
    return wrong(protocol::meta_key::protocol_version,
                 "missing; every request names the protocol version that it speaks");
  }
  const auto asked = version.as_string();
  if (!asked) return wrong(protocol::meta_key::protocol_version, "expected a string, got " + describe(version));
  if (*asked != protocol::revision::modern) return std::unexpected(unsupported(*asked));
  if (!capabilities.is_object())
    return wrong(protocol::meta_key::client_capabilities, capabilities
                                                              ? "expected an object, got " + describe(capabilities)
                                                              : "missing; {} says that the client has none");
  if (info && !info.is_object())
    return wrong(protocol::meta_key::client_info, "expected an object, got " + describe(info));
  auto out = std::make_unique<modern_request>();
  if (level) {
    const auto word = level.as_string();
    if (!word || !protocol::log_level_of(*word))
      return wrong(protocol::meta_key::log_level, "expected a level such as \"info\", got " + describe(level));
    out->log_level = *word;
  }
  // A call may be held long after its message, which is not kept for these small parts of it.
  const bool small = params.text().size() <= 4096;
  out->capabilities = small ? params.slice(capabilities.text()) : capabilities.detached();
  if (token) out->token = small ? params.slice(token.text()) : token.detached();
  out->able = protocol::read_caller_capabilities(out->capabilities);
  // One with a progress token is not sent again.
  if (known != nullptr && !token && meta.text().size() <= known_meta::longest) {
    known->text = meta.detached();
    known->read = *out;
    known->read.capabilities = json::find_member(known->text, protocol::meta_key::client_capabilities);
  }
  return out;
}

}  // namespace mcpbx::mcp::server
