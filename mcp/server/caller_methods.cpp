// The handshake of a caller's session, and the table of MCP's methods that callers can use.
#include "mcp/client/views/server_instructions.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/log_levels.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/server/task_listing.hpp"
#include "mcp/server/told_capabilities.hpp"

#include <utility>

namespace mcpbx::mcp::callers {
namespace {

/// Larger values are not kept for the life of a connection; tool servers then get mcpbx's own clientInfo.
constexpr std::size_t longest_client_info = 16 * 1024;
constexpr std::size_t longest_instructions = 32 * 1024;

}  // namespace

// Returns the method tables. Sessions with the usual table of kinds share them, which are made once.
std::shared_ptr<const caller_session::tables> caller_session::tables_for(protocol::feature_table kinds) {
  const auto make = [](protocol::feature_table rows) {
    tables t;
    using self = caller_session;
    for (methods* m : {&t.legacy, &t.modern}) add_list_methods(*m, rows);
    add_call_methods(t.legacy, false);
    add_call_methods(t.modern, true);
    add_legacy_opening(t.legacy);
    add_modern_opening(t.modern);
    t.legacy.add("logging/setLevel",
                 [](self& s, const json::raw_json& p, const server::reply_once& r) { s.set_level(p, r); });
    t.legacy.add("resources/subscribe",
                 [](self& s, const json::raw_json& p, const server::reply_once& r) { s.watches().subscribe(p, r); });
    t.legacy.add("resources/unsubscribe",
                 [](self& s, const json::raw_json& p, const server::reply_once& r) { s.watches().unsubscribe(p, r); });
    t.legacy.add("tasks/list",
                 [](self& s, const json::raw_json& p, const server::reply_once& r) { task_listing::start(s, p, r); });
    t.modern.add("subscriptions/listen",
                 [](self& s, const json::raw_json& p, const server::reply_once& r) { s.listen_table().open(p, r); });
    return std::make_shared<const tables>(std::move(t));
  };
  static const std::shared_ptr<const tables> usual = make(protocol::feature_kinds());
  return kinds.data() == protocol::feature_kinds().data() ? usual : make(kinds);
}

std::expected<std::string, rpc::rpc_error> caller_session::read_opening(const json::raw_json& params) {
  const auto wrong = [](std::string text) { return std::unexpected(server::invalid_params(std::move(text))); };
  if (initialized())
    return std::unexpected(
        rpc::rpc_error{rpc::code::invalid_request, "invalid request: this session is initialized already", {}});
  if (params.empty()) return wrong("params: expected an object with protocolVersion, capabilities and clientInfo");
  const auto opened = json::raw_object::open(params, {"protocolVersion", "clientInfo"});
  if (!opened) return wrong("params: " + opened.error().message);
  const json::raw_json asked = opened->find("protocolVersion"), info = opened->find("clientInfo");
  auto version = asked.as_string();
  if (!version) return wrong("params.protocolVersion: expected a string, got " + server::describe(asked));
  if (!info.empty() && !info.is_object())
    return wrong("params.clientInfo: expected an object, got " + server::describe(info));

  if (!info.empty() && info.text().size() <= longest_client_info) client_info_ = info.detached();
  const json::raw_json declared = json::find_member(params, "capabilities");
  capabilities_ = protocol::read_caller_capabilities(declared);
  if (declared.text().size() <= longest_client_info) declared_ = without_tasks(declared).detached();
  extends_ = json::find_member(declared_, "extensions").is_object() ||
             json::find_member(declared_, "experimental").is_object();
  return std::move(*version);
}

// The instructions of servers that are starting belong into the answer to the caller's first request.
void caller_session::when_settled(std::function<void()> then) {
  if (host_.settled()) return then();
  host_.when_settled(options_.settle, std::move(then));
}

void caller_session::write_capabilities(json::json_writer& out, std::string_view revision) const {
  callers::write_capabilities(out, options_.kinds, host_.tools()->capabilities(), revision, host_.uses_extensions());
}

json::raw_json caller_session::make_server_info() const {
  return json::raw_json::own(json::json_object("name", "mcpbx", "version", options_.version));
}

std::string caller_session::instructions() const {
  return views::joined_instructions(host_.tools()->entries(), longest_instructions);
}

void caller_session::set_level(const json::raw_json& params, const server::reply_once& reply) {
  const json::raw_json word = json::find_member(params, "level");
  const auto level = protocol::log_level_of(word.as_string().value_or(""));
  if (!level)
    return reply.error(
        server::invalid_params("params.level: expected a level such as \"info\", got " + server::describe(word)));
  level_ = level;
  watches().set_level(*level);
  reply.result(json::raw_json::literal("{}"));
}

// Tells the tool servers, which ask for the roots again when they need them (2025-11-25, roots, "Root List Changes").
void caller_session::roots_changed() {
  if (!ready() || !capabilities_.roots) return;
  for (const auto& server : watches::servers_in(host_.tools())) server->roots_changed();
}

watches::caller_watches& caller_session::watches() {
  if (!watches_) watches_ = std::make_unique<watches::caller_watches>(host_, options_.settle);
  return *watches_;
}

watches::caller_listens& caller_session::listen_table() {
  if (!listens_)
    listens_ = std::make_unique<watches::caller_listens>(host_, options_.listens, options_.kinds, options_.settle);
  return *listens_;
}

void caller_session::end_listens(bool tell) {
  if (!closed() && listens_) listens_->end(tell);
}

}  // namespace mcpbx::mcp::callers
