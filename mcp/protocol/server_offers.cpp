// Reads the declared capabilities of a tool server.
#include "mcp/protocol/server_offers.hpp"

namespace mcpbx::mcp {

server_offers read_server_offers(const raw_json& capabilities) {
  const auto object = [&](std::string_view name) {
    raw_json value = find_member(capabilities, name);
    return value.is_object() ? value : raw_json();
  };
  server_offers o;
  o.known = true;
  o.tools = !object("tools").empty();
  o.prompts = !object("prompts").empty();
  const raw_json resources = object("resources");
  o.resources = !resources.empty();
  o.subscribe = find_member(resources, "subscribe").is_true();
  o.completions = !object("completions").empty();
  o.logging = !object("logging").empty();
  o.tasks = object("tasks").detached();
  o.extensions = object("extensions").detached();
  o.experimental = object("experimental").detached();
  return o;
}

}  // namespace mcpbx::mcp
