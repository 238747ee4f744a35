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

using read_block_result = std::expected<providers::block, message_fault>;

std::unexpected<message_fault> wrong(std::string place, std::string_view expected, raw_json found = {}) {
  return std::unexpected(message_fault{std::move(place), std::string(expected), std::move(found)});
}

// A block's members; the places of its faults begin with "." too.
class block_reader {
 public:
  explicit block_reader(const raw_json& json) : json_(json) {}

  read_block_result read() const {
    const auto type = member_text(json_, "type");
    if (type == "text" || type == "reasoning" || type == "refusal") return read_text(type);
    if (type == "image") {
      providers::image_block image{text("mimeType"), text("data"), text("url")};
      if (image.data.empty() == image.url.empty()) return either(image.data.empty());
      return image;
    }
    if (type == "file") {
      providers::file_block file{text("mimeType"), text("name"), text("data"), text("url")};
      if (file.data.empty() == file.url.empty()) return either(file.data.empty());
      if (!file.data.empty() && file.mime.empty()) return need("mimeType", "a media type, because there is data");
      return file;
    }
    if (type == "tool_call") return read_call();
    if (type == "tool_result") return read_result();
    return need("type", R"("text", "image", "file", "reasoning", "tool_call", "tool_result" or "refusal")");
  }

 private:
  std::string text(std::string_view key) const { return member_text(json_, key); }

  std::unexpected<message_fault> need(std::string_view key, std::string_view form) const {
    return wrong("." + std::string(key), form, find_member(json_, key));
  }
  static std::unexpected<message_fault> either(bool none) {
    return wrong("", none ? "data (base64) or url, which are strings" : "either data or url, not both");
  }

  read_block_result read_text(std::string_view type) const {
    auto text = find_member(json_, "text").as_string();
    if (!text) return need("text", "a string");
    if (type == "text") return providers::text_block{std::move(*text)};
    if (type == "refusal") return providers::refusal_block{std::move(*text)};
    return providers::reasoning_block{std::move(*text), {}};
  }

  read_block_result read_call() const {
    providers::tool_call_block call;
    call.id = text("id");
    call.name = text("name");
    if (call.id.empty()) return need("id", "the id of the call, a string");
    if (call.name.empty()) return need("name", "the name of a tool, a string");
    call.arguments = find_member(json_, "arguments");
    call.problem = text("problem");
    call.arguments_text = call.arguments ? std::string(call.arguments.text()) : text("argumentsText");
    if (!call.arguments.is_object() && call.problem.empty()) return need("arguments", "an object");
    return call;
  }

  read_block_result read_result() const {
    providers::tool_result_block r;
    r.call_id = text("id");
    r.name = text("name");
    r.result = find_member(json_, "result");
    r.is_error = find_member(json_, "isError").is_true();
    if (r.call_id.empty()) return need("id", "the id of the call, a string");
    if (!r.result.is_object()) return need("result", "an object with content");
    return r;
  }

  const raw_json& json_;
};

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

std::expected<providers::message_ptr, message_fault> read_message(const raw_json& json) {
  if (!json.is_object()) return wrong("", "an object with role and content", json);
  auto m = std::make_shared<providers::message>();
  const auto r = role_of(member_text(json, "role"));
  if (!r) return wrong(".role", R"("system", "user", "assistant" or "tool")", find_member(json, "role"));
  m->role = *r;
  const auto content = find_member(json, "content");
  if (auto text = content.as_string()) {
    m->blocks.emplace_back(providers::text_block{std::move(*text)});
    return m;
  }
  if (!content.is_array()) return wrong(".content", "a string or an array of blocks", content);
  std::optional<message_fault> fault;
  for_each_element(content, [&](const raw_json& element) {
    const auto place = [&] { return ".content[" + std::to_string(m->blocks.size()) + "]"; };
    if (!element.is_object()) {
      fault = message_fault{place(), "an object with type", element};
    } else if (auto b = block_reader(element).read()) {
      m->blocks.push_back(std::move(*b));
    } else {
      fault = std::move(b.error());
      fault->place.insert(0, place());
      if (fault->place.ends_with(']')) fault->found = element;
    }
    return !fault;
  });
  if (fault) return std::unexpected(std::move(*fault));
  return m;
}

}  // namespace mcpbx::daemon
