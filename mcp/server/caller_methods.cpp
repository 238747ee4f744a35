// The handshake of a caller's session, and the table of MCP's methods that callers can use.
#include "mcp/client/catalog/server_instructions.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/server/caller_session.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp {
namespace {

/// Larger values are not kept for the life of a connection; tool servers then get mcpbx's own clientInfo.
constexpr std::size_t longest_client_info = 16 * 1024;
constexpr std::size_t longest_instructions = 32 * 1024;

/// Returns true for the first kind of each capability. Kinds that share one are a single member of the capabilities.
bool is_first_of_capability(const feature_kind& kind, feature_table kinds) {
  const auto first = std::ranges::find(kinds, kind.capability, &feature_kind::capability);
  return first->id == kind.id;
}

}  // namespace

// Returns the method table. Sessions with the usual table of kinds share one, which is made once.
std::shared_ptr<const caller_session::methods> caller_session::methods_for(feature_table kinds) {
  const auto make = [](feature_table rows) {
    methods m;
    using self = caller_session;
    m.add("initialize", [](self& s, const raw_json& params, const reply_once& reply) { s.initialize(params, reply); });
    m.add("ping", [](self&, const raw_json&, const reply_once& reply) { reply.result(raw_json::literal("{}")); });
    add_list_methods(m, rows);
    add_tool_methods(m);
    return std::make_shared<const methods>(std::move(m));
  };
  static const std::shared_ptr<const methods> usual = make(feature_kinds());
  return kinds.data() == feature_kinds().data() ? usual : make(kinds);
}

void caller_session::initialize(const raw_json& params, const reply_once& reply) {
  if (phase_ != phase::fresh)
    return reply.error(rpc_error{code::invalid_request, "invalid request: this session is initialized already", {}});
  if (params.empty())
    return reply.error(invalid_params("params: expected an object with protocolVersion, capabilities and clientInfo"));
  const auto opened = raw_object::open(params, {"protocolVersion", "clientInfo"});
  if (!opened) return reply.error(invalid_params("params: " + opened.error().message));
  const raw_json asked = opened->find("protocolVersion"), info = opened->find("clientInfo");
  const auto version = asked.as_string();
  if (!version) return reply.error(invalid_params("params.protocolVersion: expected a string, got " + describe(asked)));
  if (!info.empty() && !info.is_object())
    return reply.error(invalid_params("params.clientInfo: expected an object, got " + describe(info)));

  // MCP: answer with the requested revision if it is supported, otherwise with the latest supported one.
  revision_ = revision::is_legacy(*version) ? *version : std::string(revision::latest_legacy);
  if (!info.empty() && info.text().size() <= longest_client_info) client_info_ = info.detached();
  capabilities_ = read_caller_capabilities(find_member(params, "capabilities"));
  phase_ = phase::answered;
  if (host_.settled()) return reply.result(handshake());
  // The instructions of servers that are starting belong into the answer.
  host_.when_settled(options_.settle, [this, reply] {
    if (reply.open()) reply.result(handshake());
  });
}

raw_json caller_session::handshake() const {
  std::string json;
  json_writer out(json);
  out.begin_object().member("protocolVersion", revision_);
  out.key("capabilities").begin_object();
  for (const feature_kind& kind : options_.kinds)
    if (is_first_of_capability(kind, options_.kinds))
      out.key(kind.capability).begin_object().member("listChanged", true).end_object();
  out.end_object();
  out.key("serverInfo").begin_object().member("name", "mcpbx").member("version", options_.version).end_object();
  const std::string instructions = joined_instructions(host_.tools()->entries(), longest_instructions);
  if (!instructions.empty()) out.member("instructions", instructions);
  out.end_object();
  return out.json();
}

}  // namespace mcpbx::mcp
