// Reads declared capabilities, and looks up the one that a method needs.
#include "mcp/protocol/caller_capabilities.hpp"

#include "mcp/support/text.hpp"

#include <string>

namespace mcpbx::mcp::protocol {
namespace {

result<void> needs(bool declared, std::string_view method, std::string_view capability) {
  if (declared) return {};
  return fail(errc::not_found, "the caller has not declared the capability " + std::string(capability) + ", which " +
                                   std::string(method) + " needs");
}

}  // namespace

caller_capabilities read_caller_capabilities(const json::raw_json& capabilities) {
  caller_capabilities c;
  const json::raw_json sampling = json::find_member(capabilities, "sampling"),
                       elicitation = json::find_member(capabilities, "elicitation");
  c.roots = json::find_member(capabilities, "roots").is_object();
  c.sampling = sampling.is_object();
  c.sampling_tools = json::find_member(sampling, "tools").is_object();
  c.elicitation_url = json::find_member(elicitation, "url").is_object();
  c.elicitation_form =
      elicitation.is_object() && (!c.elicitation_url || json::find_member(elicitation, "form").is_object());
  return c;
}

result<void> check_answerable(const caller_capabilities& c, std::string_view method, const json::raw_json& params) {
  if (method == "ping") return {};
  if (method == "roots/list") return needs(c.roots, method, "roots");
  if (method == "elicitation/create") {
    if (json::find_member(params, "mode").as_string() == "url")
      return needs(c.elicitation_url, method, "elicitation.url");
    return needs(c.elicitation_form, method, "elicitation");
  }
  if (method == "sampling/createMessage") {
    const bool tools = json::find_member(params, "tools") || json::find_member(params, "toolChoice");
    if (c.sampling && tools) return needs(c.sampling_tools, method, "sampling.tools");
    return needs(c.sampling, method, "sampling");
  }
  return fail(errc::not_found, "callers have no method " + json::json_quoted(cut_utf8(method, 80)));
}

}  // namespace mcpbx::mcp::protocol
