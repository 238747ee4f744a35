// The neutral shape of messages, written and read in one place so that what a run returns can be sent again.
#include "daemon/loop/message_json.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace mcpbx::daemon {
namespace {

using providers::role;

std::string_view word(role r) {
  // "tool" is what callers know from every chat API.
  return r == role::tool_results ? std::string_view("tool") : providers::to_string(r);
}

void member(std::string& json, std::string_view key, std::string_view text) {
  json += ",\"";
  json += key;
  json += "\":";
  append_quoted(json, text);
}

void member(std::string& json, std::string_view key, const raw_json& value) {
  json += ",\"";
  json += key;
  json += "\":";
  json += value.text();
}

// One block, or nothing for those that only their origin understands.
struct writer {
  std::string& json;
  bool operator()(const providers::text_block& b) const {
    json += R"({"type":"text")";
    member(json, "text", b.text);
    return close();
  }
  bool operator()(const providers::image_block& b) const {
    json += R"({"type":"image")";
    if (!b.mime.empty()) member(json, "mimeType", b.mime);
    if (b.url.empty())
      member(json, "data", b.data);
    else
      member(json, "url", b.url);
    return close();
  }
  bool operator()(const providers::file_block& b) const {
    json += R"({"type":"file")";
    if (!b.mime.empty()) member(json, "mimeType", b.mime);
    if (!b.name.empty()) member(json, "name", b.name);
    if (b.url.empty())
      member(json, "data", b.data);
    else
      member(json, "url", b.url);
    return close();
  }
  bool operator()(const providers::reasoning_block& b) const {
    if (b.text.empty()) return false;
    json += R"({"type":"reasoning")";
    member(json, "text", b.text);
    return close();
  }
  bool operator()(const providers::tool_call_block& b) const {
    json += R"({"type":"tool_call")";
    member(json, "id", b.id);
    member(json, "name", b.name);
    if (b.arguments)
      member(json, "arguments", b.arguments);
    else
      member(json, "argumentsText", b.arguments_text);
    if (!b.problem.empty()) member(json, "problem", b.problem);
    return close();
  }
  bool operator()(const providers::tool_result_block& b) const {
    json += R"({"type":"tool_result")";
    member(json, "id", b.call_id);
    member(json, "name", b.name);
    json += b.is_error ? R"(,"isError":true)" : R"(,"isError":false)";
    member(json, "result", b.result);
    return close();
  }
  bool operator()(const providers::refusal_block& b) const {
    json += R"({"type":"refusal")";
    member(json, "text", b.text);
    return close();
  }
  bool operator()(const providers::opaque_block&) const { return false; }
  bool close() const {
    json += '}';
    return true;
  }
};

std::optional<role> role_of(std::string_view text) {
  if (text == "system") return role::system;
  if (text == "user") return role::user;
  if (text == "assistant") return role::assistant;
  if (text == "tool") return role::tool_results;
  return std::nullopt;
}

result<providers::block> read_block(const raw_json& json) {
  const auto type = member_text(json, "type");
  const auto need = [&](std::string_view key) {
    return fail(errc::invalid_argument, "a " + type + " block of a message needs \"" + std::string(key) + "\"");
  };
  if (type == "text" || type == "reasoning" || type == "refusal") {
    auto text = find_member(json, "text").as_string();
    if (!text) return need("text");
    if (type == "text") return providers::text_block{std::move(*text)};
    if (type == "refusal") return providers::refusal_block{std::move(*text)};
    return providers::reasoning_block{std::move(*text), {}};
  }
  if (type == "image") {
    providers::image_block image{member_text(json, "mimeType"), member_text(json, "data"), member_text(json, "url")};
    if (image.data.empty() == image.url.empty()) return need("data (base64) or url");
    return image;
  }
  if (type == "file") {
    providers::file_block file{member_text(json, "mimeType"), member_text(json, "name"), member_text(json, "data"),
                               member_text(json, "url")};
    if (file.data.empty() == file.url.empty()) return need("data (base64) or url");
    if (!file.data.empty() && file.mime.empty()) return need("mimeType");
    return file;
  }
  if (type == "tool_call") {
    providers::tool_call_block call;
    call.id = member_text(json, "id");
    call.name = member_text(json, "name");
    if (call.id.empty()) return need("id");
    if (call.name.empty()) return need("name");
    call.arguments = find_member(json, "arguments");
    call.problem = member_text(json, "problem");
    call.arguments_text = call.arguments ? std::string(call.arguments.text()) : member_text(json, "argumentsText");
    if (!call.arguments.is_object() && call.problem.empty()) return need("arguments (an object)");
    return call;
  }
  if (type == "tool_result") {
    providers::tool_result_block r;
    r.call_id = member_text(json, "id");
    r.name = member_text(json, "name");
    r.result = find_member(json, "result");
    r.is_error = find_member(json, "isError").is_true();
    if (r.call_id.empty()) return need("id");
    if (!r.result.is_object()) return need("result (an object with content)");
    return r;
  }
  return fail(errc::invalid_argument,
              "a block of a message has the type \"" + type +
                  "\"; it must be text, image, file, reasoning, tool_call, tool_result or refusal");
}

}  // namespace

void append_message(std::string& json, const providers::message& m) {
  json += R"({"role":")";
  json += word(m.role);
  json += '"';
  if (m.role == role::assistant && !m.origin.model.empty()) member(json, "model", m.origin.model);
  json += R"(,"content":[)";
  bool first = true;
  for (const auto& b : m.blocks) {
    const auto before = json.size();
    if (!first) json += ',';
    if (std::visit(writer{json}, b))
      first = false;
    else
      json.resize(before);
  }
  json += "]}";
}

result<providers::message_ptr> read_message(const raw_json& json) {
  if (!json.is_object()) return fail(errc::invalid_argument, "a message must be an object with role and content");
  auto m = std::make_shared<providers::message>();
  const auto r = role_of(member_text(json, "role"));
  if (!r) return fail(errc::invalid_argument, "\"role\" of a message must be system, user, assistant or tool");
  m->role = *r;
  const auto content = find_member(json, "content");
  if (auto text = content.as_string()) {
    m->blocks.emplace_back(providers::text_block{std::move(*text)});
    return m;
  }
  if (!content.is_array())
    return fail(errc::invalid_argument, "\"content\" of a message must be a string or a list of blocks");
  std::optional<error> wrong;
  for_each_element(content, [&](raw_json element) {
    auto b = read_block(element);
    if (b)
      m->blocks.push_back(std::move(*b));
    else
      wrong = std::move(b.error());
    return !wrong;
  });
  if (wrong) return std::unexpected(std::move(*wrong));
  return m;
}

}  // namespace mcpbx::daemon
