// Reads the verdict from the answer to a probe.
#include "mcp/client/session/era_probe.hpp"

#include "mcp/protocol/revisions.hpp"
#include "mcp/redact/cut_text.hpp"

#include <optional>
#include <vector>

namespace mcpbx::mcp::session {
namespace {

constexpr std::size_t most_versions = 32;

/// Returns the strings of a list of revisions, or nullopt if it is not such a list.
std::optional<std::vector<std::string>> versions(const json::raw_json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> out;
  json::for_each_element(list, [&](const json::raw_json& v) {
    if (auto text = v.as_string()) out.push_back(std::move(*text));
    return out.size() < most_versions;
  });
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : ", ") + redact::cut_for_people(w, 32);
  return out.empty() ? "none" : out;
}

/// Returns the newest handshake revision among `offered`, or "".
std::string_view newest_legacy(const std::vector<std::string>& offered) {
  for (auto r = protocol::revision::legacy.rbegin(); r != protocol::revision::legacy.rend(); ++r)
    if (std::ranges::find(offered, *r) != offered.end()) return *r;
  return {};
}

probe_verdict choose(const std::vector<std::string>& offered, probe_verdict::kind when_modern, bool pinned) {
  probe_verdict v;
  if (std::ranges::find(offered, protocol::revision::modern) != offered.end()) {
    v.type = when_modern;
    v.revision = protocol::revision::modern;
    return v;
  }
  v.revision = pinned ? std::string_view() : newest_legacy(offered);
  if (!v.revision.empty()) return v;
  v.type = probe_verdict::kind::refused;
  v.why = "supports the MCP revisions " + joined(offered) + "; mcpbx needs one of 2024-11-05 to 2026-07-28";
  if (pinned) v.why = "supports the MCP revisions " + joined(offered) + ", not the configured one";
  return v;
}

}  // namespace

probe_verdict read_probe(const rpc::call_outcome& outcome, std::string_view pinned) {
  const bool is_pinned = pinned != "auto";
  if (outcome.type == rpc::call_outcome::kind::result) {
    if (const auto offered = versions(json::find_member(outcome.value, "supportedVersions"))) {
      auto v = choose(*offered, probe_verdict::kind::modern, is_pinned);
      v.capabilities = json::find_member(outcome.value, "capabilities");
      v.instructions = json::find_member(outcome.value, "instructions");
      return v;
    }
  }
  if (outcome.type == rpc::call_outcome::kind::error &&
      json::find_member(outcome.value, "code").as_integer() == protocol::mcp_code::unsupported_protocol_version) {
    if (const auto offered = versions(json::find_member(json::find_member(outcome.value, "data"), "supported")))
      return choose(*offered, probe_verdict::kind::ask_again, is_pinned);
  }
  probe_verdict v;
  if (!is_pinned) {
    v.revision = protocol::revision::latest_legacy;
    return v;
  }
  v.type = probe_verdict::kind::refused;
  v.why = "does not answer server/discover as revision " + std::string(pinned) + " asks";
  return v;
}

}  // namespace mcpbx::mcp::session
