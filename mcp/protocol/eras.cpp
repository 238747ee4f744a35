// Crossing between the two families of MCP revisions, member by member.
#include "mcp/protocol/eras.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/protocol/revisions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace mcpbx::mcp::protocol {
namespace {

// Returns the Implementation object that a modern server gets, unless the caller's `_meta` has one.
const json::raw_json& info_of(const request_meta& meta) {
  return meta.client_info ? meta.client_info : meta.own_info;
}

/// Writes the `_meta` of a request: members of ours in the place of old ones or behind them, all others as they are.
class meta_writer {
 public:
  explicit meta_writer(const request_meta& meta) {
    const bool modern = !meta.revision.empty();
    if (modern) json::append_quoted(version_, meta.revision);
    if (!meta.log_level.empty()) json::append_quoted(level_, meta.log_level);
    if (meta.progress_token) token_ = std::to_string(*meta.progress_token);
    const json::raw_json& info = info_of(meta);
    own_ = {{{meta_key::protocol_version, version_},
             {meta_key::client_info, modern ? info.text() : std::string_view(), modern && !meta.client_info},
             {meta_key::client_capabilities, !modern             ? std::string_view()
                                             : meta.capabilities ? meta.capabilities.text()
                                                                 : std::string_view("{}")},
             {meta_key::log_level, modern ? level_ : std::string_view(), modern && level_.empty()},
             {meta_key::progress_token, token_}}};
  }
  meta_writer(const meta_writer&) = delete;
  meta_writer& operator=(const meta_writer&) = delete;

  /// Takes over the members of the caller's `_meta`. Fails with a clause about it.
  result<void> take(const json::raw_json& old) {
    if (!old.is_object()) return fail(errc::invalid_argument, "an object is expected here");
    out_.reserve(old.text().size() + 64);
    json::walk::member_walk members(old.text());
    for (std::size_t n = 0; members.next(); ++n) {
      if (n == json::most_members) return fail(errc::limit, "an object of so many members is too large here");
      const auto own = std::ranges::find_if(own_, [&](const member& m) { return members.key_is(m.key); });
      if (own == own_.end()) {
        append(members.key, members.value);
        continue;
      }
      if (std::exchange(own->seen, true))
        return fail(errc::invalid_argument, "duplicate member " + json::json_quoted(own->key));
      if (own->stays) append(members.key, members.value);
      if (!own->stays && !own->value.empty()) append(members.key, own->value);
    }
    if (members.broken()) return fail(errc::parse, "an object with broken members cannot be edited");
    return {};
  }

  /// Returns the text of the object. `before_token` gets what stands before our token, or "" if more is behind it.
  std::string finish(std::string* before_token = nullptr) {
    out_.reserve(64);  // a progress token fits
    for (const member& m : own_) {
      if (&m == &own_.back() && before_token != nullptr) *before_token = m.seen ? std::string() : out_;
      if (!m.seen && !m.value.empty()) {
        begin_member();
        out_.append("\"").append(m.key).append("\":").append(m.value);
      }
    }
    out_ += '}';
    return std::move(out_);
  }

 private:
  struct member {
    std::string_view key, value;  // "" as value: none
    bool stays = false;           // the caller's counts, if there is one
    bool seen = false;
  };

  void begin_member() {
    if (out_.size() > 1) out_ += ',';
  }
  // The key is a token as in the text.
  void append(std::string_view key, std::string_view value) {
    begin_member();
    out_.append(key).append(":").append(value);
  }

  std::string version_, level_, token_;
  std::array<member, 5> own_;
  std::string out_ = "{";
};

bool has_elements(const json::raw_json& list) {
  bool any = false;
  json::for_each_element(list, [&](const json::raw_json&) {
    any = true;
    return false;
  });
  return any;
}

std::string required_capabilities(const json::raw_json& data) {
  std::string names;
  const auto required = json::raw_object::open(json::find_member(data, "requiredCapabilities"));
  if (required)
    required->for_each(
        [&](std::string_view key, const json::raw_json&) { names += (names.empty() ? "" : ", ") + std::string(key); });
  return names;
}

// Returns true if the params can stay as they are: nothing to add, to remove or to check.
bool needs_no_meta(const json::raw_json& params, const request_meta& meta) {
  return meta.revision.empty() && !meta.progress_token && !(meta.old ? *meta.old : json::find_member(params, "_meta"));
}

bool has_members(const json::raw_json& object) {
  const auto first = object.text().find_first_not_of(" \t\r\n", 1);
  return first != std::string_view::npos && object.text()[first] != '}';
}

// Returns the `_meta` of params, or "". `known` is its place in them, found before, and counts only if it is.
result<std::string_view> meta_of(const json::raw_json& params, const std::optional<json::raw_json>& known) {
  const std::string_view all = params.text();
  if (known && params.is_object()) {
    const std::string_view old = known->text();
    const bool within = std::greater_equal()(old.data(), all.data()) &&
                        std::less_equal()(old.data() + old.size(), all.data() + all.size());
    if (old.empty() || within) return old;
  }
  const auto members = json::read_members(params, {"_meta"});
  if (!members) return std::unexpected(members.error());
  return members->front().text();
}

bool is_known(const written_meta& known, std::string_view old, const request_meta& meta) {
  return !known.text.empty() && known.old == old && known.revision == meta.revision &&
         known.own_info == !meta.client_info && known.client_info == info_of(meta).text() &&
         known.capabilities == meta.capabilities.text() && known.log_level == meta.log_level;
}

// Returns the `_meta` in the place of `old`, which is an object.
result<std::string> edited_meta(const json::raw_json& old, const request_meta& meta, written_meta* known) {
  const auto size = old.text().size() + info_of(meta).text().size() + meta.capabilities.text().size();
  if (known == nullptr || !meta.progress_token || size > written_meta::longest) {
    meta_writer edited(meta);
    if (const auto taken = edited.take(old); !taken) return std::unexpected(taken.error());
    return edited.finish();
  }
  if (!is_known(*known, old.text(), meta)) {
    meta_writer edited(meta);
    known->text.clear();
    if (const auto taken = edited.take(old); !taken) return std::unexpected(taken.error());
    auto text = edited.finish(&known->text);
    // One that is empty needs no comma, and costs nothing to write.
    if (known->text.size() <= 1) known->text.clear();
    if (known->text.empty()) return text;
    known->old = old.text();
    known->revision = meta.revision;
    known->own_info = !meta.client_info;
    known->client_info = info_of(meta).text();
    known->capabilities = meta.capabilities.text();
    known->log_level = meta.log_level;
    return text;
  }
  std::string text;
  text.reserve(known->text.size() + meta_key::progress_token.size() + 32);
  return text.append(known->text)
      .append(",\"")
      .append(meta_key::progress_token)
      .append("\":")
      .append(std::to_string(*meta.progress_token))
      .append("}");
}

// `params` is an object without a `_meta`.
json::segments with_fresh_meta(const json::raw_json& params, const request_meta& meta) {
  json::segments out;
  std::string head = R"({"_meta":)" + meta_writer(meta).finish();
  if (has_members(params)) head += ',';
  out.append_copy(head);
  out.append(params.slice(params.text().substr(1)));
  return out;
}

}  // namespace

result<json::segments> with_request_meta(const json::raw_json& params, const request_meta& meta, written_meta* known) {
  json::segments out;
  if (needs_no_meta(params, meta)) {
    out.append(params);
    return out;
  }
  if (!params) {
    out.append_copy(R"({"_meta":)" + meta_writer(meta).finish() + "}");
    return out;
  }
  const auto found = meta_of(params, meta.old);
  if (!found) return fail(found.error().code, "params: " + found.error().message);
  const std::string_view old = *found;
  if (old.empty()) return with_fresh_meta(params, meta);
  const auto edited = edited_meta(params.slice(old), meta, known);
  if (!edited) return fail(edited.error().code, "params._meta: " + edited.error().message);
  const std::string_view all = params.text();
  const auto begin = static_cast<std::size_t>(old.data() - all.data());
  out.append(params.slice(all.substr(0, begin)));
  out.append_copy(*edited);
  out.append(params.slice(all.substr(begin + old.size())));
  return out;
}

json::raw_json strip_modern_result(const json::raw_json& result) {
  auto o = json::raw_object::open(result);
  if (!o) return result;
  bool changed = false;
  for (const std::string_view key : {"resultType", "ttlMs", "cacheScope"}) changed = o->erase(key) || changed;
  if (const json::raw_json value = o->find("structuredContent")) {
    const json::raw_json content = o->find("content");
    const bool fits = value.is_object();
    // "a tool that returns structured content SHOULD also return the serialized JSON in a TextContent block"
    if (!content || (!fits && !has_elements(content))) {
      o->set("content", json::raw_json::own("[{\"type\":\"text\",\"text\":" + json::json_quoted(value.text()) + "}]"));
      changed = true;
    }
    if (!fits) changed = o->erase("structuredContent") || changed;
  }
  return changed ? o->json() : result;
}

json::raw_json legacy_definition(const json::raw_json& definition) {
  const json::raw_json output = json::find_member(definition, "outputSchema");
  const bool keeps_output =
      !output || (output.is_object() && json::find_member(output, "type").as_string() == "object");
  const bool keeps_input = json::find_member(definition, "inputSchema").is_object();
  if (keeps_output && keeps_input) return definition;
  auto o = json::raw_object::open(definition);
  if (!o) return definition;
  if (!keeps_output) o->erase("outputSchema");
  if (!keeps_input) o->set("inputSchema", json::raw_json::literal(R"({"type":"object"})"));
  return o->json();
}

json::raw_json legacy_error(const json::raw_json& error, bool about_resource) {
  auto object = json::raw_object::open(error);
  if (!object) return error;
  const auto code = object->find("code").as_integer();
  const json::raw_json data = object->find("data");
  const std::string message = object->find("message").as_string().value_or("");
  if (code == mcp_code::header_mismatch || code == mcp_code::unsupported_protocol_version) {
    object->set("code", json::raw_json::literal("-32603"));
    object->set("message", json::raw_json::string("the tool server refused how mcpbx asked: " + message));
    object->erase("data");
    return object->json();
  }
  if (code == mcp_code::missing_client_capability) {
    const std::string names = required_capabilities(data);
    object->set("code", json::raw_json::literal("-32602"));
    object->set("message",
                json::raw_json::string("the tool server needs something of its caller that this one cannot do" +
                                       (names.empty() ? "" : " (" + names + ")") + ": " + message));
    object->erase("data");
    return object->json();
  }
  if (about_resource && code == -32602 && json::find_member(data, "uri").is_string()) {
    object->set("code", json::raw_json::literal("-32002"));
    return object->json();
  }
  return error;
}

}  // namespace mcpbx::mcp::protocol
