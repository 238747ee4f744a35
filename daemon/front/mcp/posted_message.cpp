// Tells the eras apart.
#include "daemon/front/mcp/posted_message.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace mcpbx::daemon::mcp_door {
namespace {

constexpr std::string_view version_header = "mcp-protocol-version";

mcp_refusal unsupported(std::string_view asked, const mcp::rpc::message& m) {
  std::string json;
  json::json_writer data(json);
  data.begin_object().key("supported").begin_array().value(mcp::protocol::revision::modern);
  for (const auto r : mcp::protocol::revision::legacy) data.value(r);
  data.end_array().member("requested", asked).end_object();
  return {400,
          {mcp::protocol::mcp_code::unsupported_protocol_version,
           "Unsupported protocol version in the header MCP-Protocol-Version: " + redact::cut_for_people(asked, 80),
           data.json()},
          m.id};
}

/// Members of `_meta` that tell the eras apart. Absent ones are missing.
struct era_members {
  json::raw_json revision, capabilities;
};

// Of a key that is given twice the last one counts; the method refuses it.
era_members read_era(const json::raw_json& meta) {
  if (!meta.is_object()) return {};
  if (const auto both = json::read_members(
          meta, {mcp::protocol::meta_key::protocol_version, mcp::protocol::meta_key::client_capabilities}))
    return {meta.slice(both->front().text()), meta.slice(both->back().text())};
  return {json::find_member(meta, mcp::protocol::meta_key::protocol_version),
          json::find_member(meta, mcp::protocol::meta_key::client_capabilities)};
}

/// Returns the reason to refuse the `_meta` of a modern request (2026-07-28, basic, "_meta").
std::optional<mcp::rpc::rpc_error> fault_in_meta(const era_members& meta) {
  const auto missing = [](std::string_view key, std::string_view kind) {
    return mcp::rpc::rpc_error{mcp::rpc::code::invalid_params,
                               "params._meta: expected the member \"" + std::string(key) + "\", " + std::string(kind) +
                                   ", in a request of revision 2026-07-28",
                               {}};
  };
  if (!meta.revision.is_string()) return missing(mcp::protocol::meta_key::protocol_version, "a string");
  if (!meta.capabilities.is_object()) return missing(mcp::protocol::meta_key::client_capabilities, "an object");
  return {};
}

}  // namespace

named_revision revision_in(const http::servers::request_head& head) {
  const auto given =
      std::ranges::count_if(head.headers, [](const http::header& h) { return http::is_word(h.name, version_header); });
  if (given == 0) return named_revision::none;
  const auto value = trimmed(http::find_header(head.headers, version_header));
  if (given > 1) return named_revision::unknown;
  if (value == mcp::protocol::revision::modern) return named_revision::modern;
  return mcp::protocol::revision::is_legacy(value) ? named_revision::legacy : named_revision::unknown;
}

std::expected<posted_message, mcp_refusal> read_post(const http::servers::request_head& head, shared_bytes body,
                                                     int max_depth) {
  auto read = mcp::rpc::parse_message(json::raw_json::whole(std::move(body)), max_depth);
  if (!read) {
    const std::string_view kind =
        read.error().code == mcp::rpc::code::parse_error ? "parse error: " : "invalid request: ";
    return std::unexpected(mcp_refusal{400,
                                       {read.error().code, std::string(kind) + read.error().what, {}},
                                       read.error().answers ? mcp::rpc::rpc_id() : read.error().id});
  }
  posted_message p{.m = std::move(*read), .revision = {}};
  const auto named = revision_in(head);
  const era_members meta =
      p.m.type == mcp::rpc::message::kind::request ? read_era(json::find_member(p.m.params, "_meta")) : era_members();
  p.revision = meta.revision;
  p.modern = named == named_revision::modern || bool(p.revision);
  if (!p.modern) {
    if (named == named_revision::unknown)
      return std::unexpected(unsupported(http::find_header(head.headers, version_header), p.m));
    return p;
  }
  switch (p.m.type) {
    case mcp::rpc::message::kind::request:
      if (auto fault = fault_in_meta(meta)) return std::unexpected(mcp_refusal{400, std::move(*fault), p.m.id});
      return p;
    case mcp::rpc::message::kind::notification:
      return p;
    case mcp::rpc::message::kind::response:
      return std::unexpected(mcp_refusal::invalid_request(
          400, "invalid request: a client of revision 2026-07-28 sends no responses; answers go into inputResponses"));
    case mcp::rpc::message::kind::batch:
      break;
  }
  return std::unexpected(
      mcp_refusal::invalid_request(400, "invalid request: a batch; send one request or notification in each POST"));
}

}  // namespace mcpbx::daemon::mcp_door
