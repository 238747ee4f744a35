// Gives results and errors the form that modern callers expect.
#include "mcp/protocol/modern_answers.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/revisions.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace mcpbx::mcp::protocol {
namespace {

constexpr std::string_view complete = "complete";

std::string_view word_of(bool is_private) {
  return is_private ? "private" : "public";
}

/// Sets the hints that are missing or out of bounds.
void set_hints(json::raw_object& result, const cache_hints& otherwise) {
  const auto ttl = result.find("ttlMs").as_integer();
  const std::int64_t kept = std::clamp<std::int64_t>(ttl.value_or(otherwise.ttl_ms), 0, longest_ttl_ms);
  if (ttl != kept) result.set("ttlMs", json::raw_json::integer(kept));
  const json::raw_json scope = result.find("cacheScope");
  if (scope.empty())
    result.set("cacheScope", json::raw_json::string(word_of(otherwise.is_private)));
  else if (const auto word = scope.as_string(); word != "public" && word != "private")
    result.set("cacheScope", json::raw_json::string(word_of(true)));
}

/// Returns a `_meta` with serverInfo alone.
std::string meta_with(const json::raw_json& info) {
  std::string meta;
  meta.reserve(info.text().size() + 64);
  return meta.append("{\"").append(meta_key::server_info).append("\":").append(info.text()).append("}");
}

void set_server_info(json::raw_object& result, const json::raw_json& info) {
  const json::raw_json meta = result.find("_meta");
  if (!meta) return result.set("_meta", json::raw_json::own(meta_with(info)));
  auto members = json::raw_object::open(meta);
  if (!members || members->contains(meta_key::server_info)) return;
  members->set(meta_key::server_info, info);
  result.set("_meta", members->json());
}

/// Returns true if a result lacks nothing but `_meta`, as most do.
bool lacks_meta_only(const json::raw_json& result, const modern_form& form) {
  if (form.cache || !form.server_info) return false;
  const auto members = json::read_members(result, {"resultType", "_meta"});
  return members && (*members)[0].text() == "\"complete\"" && (*members)[1].empty();
}

bool lacks(const json::raw_json& capabilities, const json::raw_json& required) {
  const auto needed = json::raw_object::open(required);
  if (!needed) return true;
  bool lacking = needed->size() == 0;
  needed->for_each([&](std::string_view key, const json::raw_json& value) {
    const json::raw_json declared = json::find_member(capabilities, key);
    lacking =
        lacking || !declared.is_object() || (value.is_object() && value.text().size() > 2 && lacks(declared, value));
  });
  return lacking;
}

json::raw_json with_code(json::raw_object& error, int code, std::string message) {
  error.set("code", json::raw_json::integer(code));
  error.set("message", json::raw_json::string(message));
  error.erase("data");
  return error.json();
}

}  // namespace

json::segments modern_result(const json::raw_json& result, const modern_form& form) {
  if (lacks_meta_only(result, form)) {
    json::segments out;
    out.append(result.slice(result.text().substr(0, result.text().size() - 1)));
    out.append_copy(R"(,"_meta":)" + (meta_with(form.server_info) += '}'));
    return out;
  }
  auto o = json::raw_object::open(result);
  // An object with too many members is not searched: the members stand before its own.
  if (!o) return modern_own_result(result, form);
  const json::raw_json type = o->find("resultType");
  if (!type.is_string()) o->set("resultType", json::raw_json::string(complete));
  const std::string kind = type.as_string().value_or(std::string(complete));
  if (kind == "input_required") {
    o->erase("ttlMs");
    o->erase("cacheScope");
  } else if (kind == complete && form.cache) {
    set_hints(*o, *form.cache);
  }
  if (form.server_info) set_server_info(*o, form.server_info);
  return o->build();
}

json::segments modern_own_result(const json::raw_json& result, const modern_form& form) {
  std::string head = R"({"resultType":"complete")";
  if (form.cache)
    head += R"(,"ttlMs":)" + std::to_string(std::clamp<std::int64_t>(form.cache->ttl_ms, 0, longest_ttl_ms)) +
            R"(,"cacheScope":")" + std::string(word_of(form.cache->is_private)) + '"';
  if (form.server_info) head.append(R"(,"_meta":)").append(meta_with(form.server_info));
  json::segments out;
  const std::string_view text = result.text();
  const auto first = text.find_first_not_of(" \t\r\n", 1);
  if (first == std::string_view::npos || text[first] == '}') {
    out.append_copy(head + "}");
    return out;
  }
  out.append_copy(head + ",");
  out.append(result.slice(text.substr(1)));
  return out;
}

json::raw_json modern_error(const json::raw_json& error, const error_crossing& crossing) {
  auto o = json::raw_object::open(error);
  if (!o) return error;
  const auto code = o->find("code").as_integer();
  const json::raw_json data = o->find("data");
  if (code == mcp_code::resource_not_found) {
    o->set("code", json::raw_json::integer(-32602));
    if (!crossing.uri.empty() && !json::find_member(data, "uri")) {
      auto members = json::raw_object::open(data.is_object() ? data : json::raw_json::literal("{}"));
      if (members) {
        members->set("uri", json::raw_json::string(crossing.uri));
        o->set("data", members->json());
      }
    }
    return o->json();
  }
  // -32020 to -32099 are "defined exclusively by the MCP specification" (basic, "Error Codes").
  if (!code || *code > mcp_code::header_mismatch || *code < -32099) return error;
  const std::string message = o->find("message").as_string().value_or("");
  if (crossing.from_modern && code == mcp_code::missing_client_capability) {
    if (lacks(crossing.capabilities, json::find_member(data, "requiredCapabilities"))) return error;
    return with_code(*o, -32603, "the tool server says that it needs a capability that its caller has: " + message);
  }
  if (code == mcp_code::header_mismatch || code == mcp_code::unsupported_protocol_version)
    return with_code(*o, -32603, "the tool server refused how mcpbx asked: " + message);
  return with_code(*o, -32603,
                   "the tool server answered with the error code " + std::to_string(*code) + ": " + message);
}

json::raw_json url_elicitations(const json::raw_json& error) {
  if (json::find_member(error, "code").as_integer() != mcp_code::url_elicitation_required) return {};
  json::raw_json list = json::find_member(json::find_member(error, "data"), "elicitations");
  return list.is_array() ? list : json::raw_json();
}

}  // namespace mcpbx::mcp::protocol
