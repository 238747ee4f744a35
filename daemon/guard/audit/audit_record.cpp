// Writes audit records as lines of JSON.
#include "daemon/guard/audit/audit_record.hpp"

#include "daemon/guard/state_file.hpp"
#include "mcp/crypto/sha256.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"

#include <string_view>

namespace mcpbx::daemon::audit {
namespace {

constexpr std::size_t longest_name = 256;

/// Returns a URI without the parts in which secrets stand.
std::string shown_uri(std::string_view uri) {
  std::string text = redact::redactor::redact(uri.substr(0, uri.find_first_of("?#")));
  const auto begin = text.find("://");
  const auto host = begin == std::string::npos ? begin : begin + 3;
  if (host != std::string::npos)
    if (const auto at = text.rfind('@', text.find('/', host)); at != std::string::npos && at > host)
      text.erase(host, at + 1 - host);
  return std::string(cut_utf8(text, longest_name));
}

}  // namespace

std::string to_line(const audit_record& r) {
  std::string json;
  json::json_writer out(json);
  const auto name = [&out](std::string_view key, std::string_view text) {
    if (!text.empty()) out.member(key, cut_utf8(text, longest_name));
  };
  out.begin_object().member("time", guard::utc_text(r.wall_ms));
  name("principal", r.principal);
  if (r.pid >= 0) out.member("pid", r.pid);
  name("name", r.name);
  name("run", r.run);
  if (r.call.method == "prompts/get")
    out.member("prompt", cut_utf8(r.call.name, longest_name));
  else if (r.call.method == "resources/read")
    out.member("resource", shown_uri(r.call.name));
  else if (r.call.method == "tools/call")
    out.member("tool", cut_utf8(r.call.name, longest_name));
  else {
    out.member("method", cut_utf8(r.call.method, longest_name));
    name("extension", r.call.name);
  }
  name("server", r.call.server);
  out.member("decision", mcp::server::to_string(r.call.decision)).member("end", mcp::server::to_string(r.call.end));
  if (r.arguments_known)
    out.member("argumentsSha256", crypto::sha256_hex(r.call.arguments.empty() ? "{}" : r.call.arguments.text()));
  out.member("resultBytes", r.call.result_bytes).end_object();
  return out.str() + "\n";
}

}  // namespace mcpbx::daemon::audit
