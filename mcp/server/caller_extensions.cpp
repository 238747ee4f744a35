// Methods and notifications of extensions, which are none of MCP's: passed between a caller and a tool server that both
// list the extension, if the server's entry names them or the extension is open there.
#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/server/incoming_call.hpp"
#include "mcp/support/recycled.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::callers {
namespace {

constexpr call_shape extension_shape{.method = "", .to = call_shape::target::extension, .key = ""};

/// The server that a method goes to, or the reason why there is none.
struct found_server {
  std::shared_ptr<clients::client> server;
  std::string name, extension;
  std::string unlisted, other;  // an extension that the caller does not list; a second server

  /// Takes the server, or notes that it is a second one. Returns false then.
  bool take(const catalogs::extension_route& route, std::shared_ptr<clients::client> there, std::string_view of) {
    if (server) {
      other = route.server;
      return false;
    }
    server = std::move(there);
    name = route.server;
    extension = of;
    return true;
  }
};

// A method that some entry names for an extension which the caller lists belongs to that entry's server, also while
// the server is not there: no other one can attract it by listing more.
found_server find_server(const catalogs::catalog& all, std::string_view method, const json::raw_json& capabilities) {
  found_server found;
  const auto routes = all.rest().extensions;
  if (!routes || protocol::is_reserved_method(method)) return found;
  bool claimed = false;
  for (const catalogs::extension_route& route : *routes) {
    const auto names = protocol::extensions_with(route.methods, method);
    const auto there = names.empty() ? nullptr : route.owner.lock();
    for (const std::string& name : names) {
      const bool listed = protocol::lists_extension(capabilities, name);
      claimed = claimed || listed;
      if (!there || !protocol::lists_extension(there->offers(), name)) continue;
      if (!listed) {
        found.unlisted = name;
        continue;
      }
      if (!found.take(route, there, name)) return found;
      break;
    }
  }
  if (claimed) return found;
  for (const catalogs::extension_route& route : *routes) {
    const auto name = protocol::first_listed(capabilities, route.open);
    auto there = name.empty() ? nullptr : route.owner.lock();
    if (there && !found.take(route, std::move(there), name)) return found;
  }
  return found;
}

rpc::rpc_error why_nowhere(const found_server& found, const std::string& method, bool modern) {
  const std::string shown = json::json_quoted(cut_utf8(method, 80));
  if (!found.other.empty())
    return {rpc::code::invalid_request,
            "the tool servers " + json::json_quoted(found.name) + " and " + json::json_quoted(found.other) +
                " both have the method " + shown + "; name it in the entry of one of them only",
            {}};
  if (found.unlisted.empty())
    return {rpc::code::method_not_found, "no tool server that is there lists the extension of the method " + shown, {}};
  const std::string why = "the method " + shown + " belongs to " + json::json_quoted(found.unlisted) +
                          ", which its caller must list in its capabilities (extensions or experimental)";
  if (!modern) return {rpc::code::method_not_found, why, {}};
  return {
      protocol::mcp_code::missing_client_capability, why,
      json::raw_json::own(R"({"requiredCapabilities":{"extensions":{)" + json::json_quoted(found.unlisted) + ":{}}}}")};
}

}  // namespace

// Returns true if the method may be one of an extension: an entry names it, or the caller lists an open extension.
bool caller_session::has_extension(std::string_view method, const json::raw_json& params) const {
  const auto routes = host_.tools()->rest().extensions;
  if (!routes || protocol::is_reserved_method(method)) return false;
  if (std::ranges::any_of(*routes, [&](const catalogs::extension_route& route) {
        return !protocol::extensions_with(route.methods, method).empty();
      }))
    return true;
  const json::raw_json own =
      json::find_member(json::find_member(params, "_meta"), protocol::meta_key::client_capabilities);
  return std::ranges::any_of(*routes, [&](const catalogs::extension_route& route) {
    return protocol::lists_one_of(own ? own : declared_, route.open);
  });
}

// Returns the hint for an unknown method while some server lists extensions, else "".
std::string caller_session::about_extensions(std::string_view method) const {
  if (protocol::is_reserved_method(method) || !host_.uses_extensions()) return "";
  const auto all = host_.tools();
  if (all->capabilities().unnamed)
    return "; a method of an extension passes only if the entry of its tool server names it (extensions)";
  if (!all->rest().extensions) return "";
  return "; a method of an extension passes only if its caller lists the extension in its capabilities";
}

void caller_session::call_extension(const std::string& method, const json::raw_json& params,
                                    const tool_call_reply& reply) {
  const server::modern_request* m = reply.request().modern();
  auto found = find_server(*host_.tools(), method, m ? m->capabilities : declared_);
  reply.about(found.extension, params);
  if (auto admitted = host_.admit_extension(method); !admitted)
    return reply.refused(server::to_rpc_error(admitted.error()));
  if (auto admitted = host_.admit_call(); !admitted) return reply.refused(server::to_rpc_error(admitted.error()));
  if (!found.server || !found.other.empty()) return reply.refused(why_nowhere(found, method, m != nullptr));
  incoming_call in;
  if (auto read = read_extension_call(params, in); !read)
    return reply.refused(server::invalid_params(read.error().message));
  in.name = found.extension;
  clients::server_call c;
  c.method = method;
  c.params = params;
  c.meta = in.meta;
  c.name = "(" + std::string(cut_utf8(found.extension, 80)) + ")";
  const auto passed = make_recycled<passed_call>(*this, extension_shape, reply,
                                                 call_route{found.server, found.name, found.extension, {}});
  passed->start(std::move(c), std::move(in));
}

// A notification has no answer, so that one which leads to no server is dropped.
void caller_session::notify_extension(std::string_view method, const json::raw_json& params) {
  const json::raw_json own =
      json::find_member(json::find_member(params, "_meta"), protocol::meta_key::client_capabilities);
  if (!own && !ready()) return;
  if (!host_.admit_extension(method) || !host_.admit_call()) return;
  const auto found = find_server(*host_.tools(), method, own ? own : declared_);
  if (found.server && found.other.empty()) found.server->notify(host_.scope(), method, params);
}

// Listens to the servers whose extensions a legacy caller lists, and to its own processes.
void caller_session::watch_extensions() {
  if (!ready() || !extends_) return;
  const auto routes = host_.tools()->rest().extensions;
  if (routes == watched_routes_) return;
  watched_routes_ = routes;
  std::erase_if(extension_watches_, [&](const auto& w) {
    return !routes || std::ranges::none_of(*routes, [&](const catalogs::extension_route& r) {
      return !r.owner.owner_before(w.first) && !w.first.owner_before(r.owner);
    });
  });
  if (!routes) return;
  bool alone = false;
  for (const catalogs::extension_route& r : *routes) {
    const auto server = r.owner.lock();
    const bool listed =
        std::ranges::any_of(r.methods,
                            [&](const auto& of) { return protocol::lists_extension(declared_, of.first); }) ||
        protocol::lists_one_of(declared_, r.open);
    if (!server || !listed ||
        std::ranges::any_of(extension_watches_, [&](const auto& w) { return w.first.lock() == server; }))
      continue;
    clients::watch held =
        server->watch_extensions([this, from = r.owner](const std::vector<std::string>& extensions,
                                                        std::string_view method, const json::raw_json& params) {
          if (!host_.hears_of_others()) {
            const auto speaker = from.lock();
            if (!speaker || speaker->log_subject().empty() || speaker->log_subject() != host_.principal()) return;
          }
          tell_extension(extensions, method, params, nullptr);
        });
    alone = alone || !held;
    if (held) extension_watches_.emplace_back(server, std::move(held));
  }
  const auto scope = alone ? host_.scope() : nullptr;
  if (!scope) return;
  scope->listen_with(
      [to = link()](const std::vector<std::string>& extensions, std::string_view method, const json::raw_json& params) {
        if (*to) (*to)->tell_extension(extensions, method, params, nullptr);
      });
}

void caller_session::tell_extension(const std::vector<std::string>& extensions, std::string_view method,
                                    const json::raw_json& params, const server::reply_once* call) {
  const server::modern_request* m = call ? call->modern() : nullptr;
  if (closed() || !protocol::lists_one_of(m ? m->capabilities : declared_, extensions)) return;
  host_.send_note({.about = call ? call->serial() : 0, .droppable = true}, rpc::make_notification(method, params));
}

}  // namespace mcpbx::mcp::callers
