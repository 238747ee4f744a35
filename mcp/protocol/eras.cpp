// Crossing between the two families of MCP revisions, member by member.
#include "mcp/protocol/eras.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/revisions.hpp"

#include <array>
#include <string>

namespace mcpbx::mcp {
namespace {

constexpr std::array modern_keys = {meta_key::protocol_version, meta_key::client_info, meta_key::client_capabilities,
                                    meta_key::log_level};

/// The usual case, without a `_meta` to respect: one text to stand before the other members.
std::string fresh_meta(const request_meta& meta) {
  std::string out;
  out.reserve(64);  // a progress token fits
  json_writer w(out);
  w.begin_object().key("_meta").begin_object();
  if (!meta.revision.empty()) {
    w.member(meta_key::protocol_version, meta.revision);
    w.given(meta_key::client_info, meta.client_info ? meta.client_info : meta.own_info);
    w.key(meta_key::client_capabilities).token(meta.capabilities ? meta.capabilities.text() : "{}");
    w.filled(meta_key::log_level, meta.log_level);
  }
  w.given(meta_key::progress_token, meta.progress_token).end_object();
  return out;
}

result<raw_json> edited_meta(const raw_json& old, const request_meta& meta) {
  auto m = raw_object::open(old, {meta_key::progress_token, meta_key::protocol_version, meta_key::client_info,
                                  meta_key::client_capabilities, meta_key::log_level});
  if (!m) return fail(m.error().code, "params._meta: " + m.error().message);
  const auto set = [&m](std::string_view key, const raw_json& value) {
    if (m->find(key).text() != value.text()) m->set(key, value);
  };
  if (meta.revision.empty()) {
    for (const std::string_view key : modern_keys) m->erase(key);
  } else {
    set(meta_key::protocol_version, raw_json::string(meta.revision));
    if (meta.client_info)
      set(meta_key::client_info, meta.client_info);
    else if (meta.own_info && !m->contains(meta_key::client_info))
      set(meta_key::client_info, meta.own_info);
    set(meta_key::client_capabilities, meta.capabilities ? meta.capabilities : raw_json::literal("{}"));
    if (!meta.log_level.empty()) set(meta_key::log_level, raw_json::string(meta.log_level));
  }
  if (meta.progress_token)
    m->set(meta_key::progress_token, raw_json::integer(*meta.progress_token));
  else
    m->erase(meta_key::progress_token);
  return m->json();
}

bool has_elements(const raw_json& list) {
  bool any = false;
  for_each_element(list, [&](const raw_json&) {
    any = true;
    return false;
  });
  return any;
}

std::string required_capabilities(const raw_json& data) {
  std::string names;
  const auto required = raw_object::open(find_member(data, "requiredCapabilities"));
  if (required)
    required->for_each(
        [&](std::string_view key, const raw_json&) { names += (names.empty() ? "" : ", ") + std::string(key); });
  return names;
}

// Returns true if the params can stay as they are: nothing to add, to remove or to check.
bool needs_no_meta(const raw_json& params, const request_meta& meta) {
  return meta.revision.empty() && !meta.progress_token && !(meta.in_params && find_member(params, "_meta"));
}

bool has_members(const raw_json& object) {
  const auto first = object.text().find_first_not_of(" \t\r\n", 1);
  return first != std::string_view::npos && object.text()[first] != '}';
}

// `params` is an object without a `_meta`.
segments with_fresh_meta(const raw_json& params, const request_meta& meta) {
  segments out;
  std::string head = fresh_meta(meta);
  if (has_members(params)) head += ',';
  out.append_copy(head);
  out.append(params.slice(params.text().substr(1)));
  return out;
}

}  // namespace

result<segments> with_request_meta(const raw_json& params, const request_meta& meta) {
  segments out;
  if (needs_no_meta(params, meta)) {
    out.append(params);
    return out;
  }
  if (!params) {
    out.append_copy(fresh_meta(meta) + "}");
    return out;
  }
  if (!meta.in_params && params.is_object()) return with_fresh_meta(params, meta);
  const auto members = read_members(params, {"_meta"});
  if (!members) return fail(members.error().code, "params: " + members.error().message);
  const std::string_view old = members->front().text();
  if (old.empty()) return with_fresh_meta(params, meta);
  auto edited = edited_meta(params.slice(old), meta);
  if (!edited) return std::unexpected(edited.error());
  const std::string_view all = params.text();
  const auto begin = static_cast<std::size_t>(old.data() - all.data());
  out.append(params.slice(all.substr(0, begin)));
  out.append(std::move(*edited));
  out.append(params.slice(all.substr(begin + old.size())));
  return out;
}

raw_json strip_modern_result(const raw_json& result) {
  auto o = raw_object::open(result);
  if (!o) return result;
  bool changed = false;
  for (const std::string_view key : {"resultType", "ttlMs", "cacheScope"}) changed = o->erase(key) || changed;
  if (const raw_json value = o->find("structuredContent")) {
    const raw_json content = o->find("content");
    const bool fits = value.is_object();
    // "a tool that returns structured content SHOULD also return the serialized JSON in a TextContent block"
    if (!content || (!fits && !has_elements(content))) {
      o->set("content", raw_json::own("[{\"type\":\"text\",\"text\":" + json_quoted(value.text()) + "}]"));
      changed = true;
    }
    if (!fits) changed = o->erase("structuredContent") || changed;
  }
  return changed ? o->json() : result;
}

raw_json legacy_definition(const raw_json& definition) {
  const raw_json output = find_member(definition, "outputSchema");
  const bool keeps_output = !output || (output.is_object() && find_member(output, "type").as_string() == "object");
  const bool keeps_input = find_member(definition, "inputSchema").is_object();
  if (keeps_output && keeps_input) return definition;
  auto o = raw_object::open(definition);
  if (!o) return definition;
  if (!keeps_output) o->erase("outputSchema");
  if (!keeps_input) o->set("inputSchema", raw_json::literal(R"({"type":"object"})"));
  return o->json();
}

raw_json legacy_error(const raw_json& error, bool about_resource) {
  auto object = raw_object::open(error);
  if (!object) return error;
  const auto code = object->find("code").as_integer();
  const raw_json data = object->find("data");
  const std::string message = object->find("message").as_string().value_or("");
  if (code == mcp_code::header_mismatch || code == mcp_code::unsupported_protocol_version) {
    object->set("code", raw_json::literal("-32603"));
    object->set("message", raw_json::string("the tool server refused how mcpbx asked: " + message));
    object->erase("data");
    return object->json();
  }
  if (code == mcp_code::missing_client_capability) {
    const std::string names = required_capabilities(data);
    object->set("code", raw_json::literal("-32602"));
    object->set("message", raw_json::string("the tool server needs something of its caller that this one cannot do" +
                                            (names.empty() ? "" : " (" + names + ")") + ": " + message));
    object->erase("data");
    return object->json();
  }
  if (about_resource && code == -32602 && find_member(data, "uri").is_string()) {
    object->set("code", raw_json::literal("-32002"));
    return object->json();
  }
  return error;
}

}  // namespace mcpbx::mcp
