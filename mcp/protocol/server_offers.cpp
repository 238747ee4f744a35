// Reads the declared capabilities of a tool server.
#include "mcp/protocol/server_offers.hpp"

namespace mcpbx::mcp::protocol {

server_offers read_server_offers(const json::raw_json& capabilities) {
  const auto object = [&](std::string_view name) {
    json::raw_json value = json::find_member(capabilities, name);
    return value.is_object() ? value : json::raw_json();
  };
  const auto kept = [&](std::string_view name) {
    const json::raw_json value = object(name);
    return value.text().size() > most_bytes_of_an_offer ? json::raw_json() : value.detached();
  };
  server_offers o;
  o.known = true;
  o.tools = !object("tools").empty();
  o.prompts = !object("prompts").empty();
  const json::raw_json resources = object("resources");
  o.resources = !resources.empty();
  o.subscribe = json::find_member(resources, "subscribe").is_true();
  o.completions = !object("completions").empty();
  o.logging = !object("logging").empty();
  o.tasks = kept("tasks");
  o.extensions = kept("extensions");
  o.experimental = kept("experimental");
  return o;
}

}  // namespace mcpbx::mcp::protocol
