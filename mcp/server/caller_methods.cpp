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
std::shared_ptr<const caller_session::method_tables> caller_session::tables_for(protocol::feature_table kinds) {
  const auto make = [](protocol::feature_table rows) {
    method_tables t;
    using self = caller_session;
    for (methods* m : {&t.legacy, &t.modern}) add_list_methods(*m, rows);
    add_call_methods(t.legacy, false);
    add_call_methods(t.modern, true);
    t.legacy.add("initialize",
                 [](self& s, const json::raw_json& p, const server::reply_once& reply) { s.initialize(p, reply); });
    t.legacy.add("ping", [](self&, const json::raw_json&, const server::reply_once& r) {
      r.result(json::raw_json::literal("{}"));
    });
    t.legacy.add("logging/setLevel",
                 [](self& s, const json::raw_json& p, const server::reply_once& r) { s.set_level(p, r); });
    t.legacy.add("resources/subscribe",
                 [](self& s, const json::raw_json& p, const server::reply_once& r) { s.watches().subscribe(p, r); });
    t.legacy.add("resources/unsubscribe",
                 [](self& s, const json::raw_json& p, const server::reply_once& r) { s.watches().unsubscribe(p, r); });
    t.legacy.add("tasks/list",
                 [](self& s, const json::raw_json& p, const server::reply_once& r) { task_listing::start(s, p, r); });
    t.modern.add("server/discover", [](self& s, const json::raw_json&, const server::reply_once& r) { s.discover(r); });
    t.modern.add("subscriptions/listen",
                 [](self& s, const json::raw_json& p, const server::reply_once& r) { s.listen_table().open(p, r); });
    return std::make_shared<const method_tables>(std::move(t));
  };
  static const std::shared_ptr<const method_tables> usual = make(protocol::feature_kinds());
  return kinds.data() == protocol::feature_kinds().data() ? usual : make(kinds);
}

void caller_session::initialize(const json::raw_json& params, const server::reply_once& reply) {
  if (phase_ != phase::fresh)
    return reply.error(
        rpc::rpc_error{rpc::code::invalid_request, "invalid request: this session is initialized already", {}});
  if (params.empty())
    return reply.error(
        server::invalid_params("params: expected an object with protocolVersion, capabilities and clientInfo"));
  const auto opened = json::raw_object::open(params, {"protocolVersion", "clientInfo"});
  if (!opened) return reply.error(server::invalid_params("params: " + opened.error().message));
  const json::raw_json asked = opened->find("protocolVersion"), info = opened->find("clientInfo");
  const auto version = asked.as_string();
  if (!version)
    return reply.error(
        server::invalid_params("params.protocolVersion: expected a string, got " + server::describe(asked)));
  if (!info.empty() && !info.is_object())
    return reply.error(server::invalid_params("params.clientInfo: expected an object, got " + server::describe(info)));

  // MCP: answer with the requested revision if it is supported, otherwise with the latest supported one.
  revision_ = protocol::revision::is_legacy(*version) ? *version : std::string(protocol::revision::latest_legacy);
  if (!info.empty() && info.text().size() <= longest_client_info) client_info_ = info.detached();
  const json::raw_json declared = json::find_member(params, "capabilities");
  capabilities_ = protocol::read_caller_capabilities(declared);
  if (declared.text().size() <= longest_client_info) declared_ = without_tasks(declared).detached();
  extends_ = json::find_member(declared_, "extensions").is_object() ||
             json::find_member(declared_, "experimental").is_object();
  phase_ = phase::answered;
  if (host_.settled()) return reply.result(handshake());
  // The instructions of servers that are starting belong into the answer.
  host_.when_settled(options_.settle, [this, reply] {
    if (reply.open()) reply.result(handshake());
  });
}

json::raw_json caller_session::handshake() const {
  std::string json;
  json::json_writer out(json);
  out.begin_object().member("protocolVersion", revision_);
  write_capabilities(out, options_.kinds, host_.tools()->capabilities(), revision_, host_.uses_extensions());
  out.key("serverInfo").begin_object().member("name", "mcpbx").member("version", options_.version).end_object();
  write_instructions(out);
  out.end_object();
  return out.json();
}

void caller_session::write_instructions(json::json_writer& out) const {
  out.filled("instructions", views::joined_instructions(host_.tools()->entries(), longest_instructions));
}

void caller_session::discover(const server::reply_once& reply) {
  reply.modern()->form.cache = protocol::cache_hints();
  if (host_.settled()) return reply.result(discovered());
  host_.when_settled(options_.settle, [this, reply] {
    if (reply.open()) reply.result(discovered());
  });
}

json::raw_json caller_session::discovered() const {
  std::string json;
  json::json_writer out(json);
  out.begin_object().key("supportedVersions").begin_array().value(protocol::revision::modern).end_array();
  write_capabilities(out, options_.kinds, host_.tools()->capabilities(), protocol::revision::modern,
                     host_.uses_extensions());
  write_instructions(out);
  out.end_object();
  return out.json();
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
  if (phase_ != phase::ready || !capabilities_.roots) return;
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
  if (!closed_ && listens_) listens_->end(tell);
}

}  // namespace mcpbx::mcp::callers
