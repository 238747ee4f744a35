// Writes and reads the provider-neutral form of messages, so that a caller can send back the messages of a result.
#include "daemon/loop/json/message_json.hpp"

#include "mcp/support/text.hpp"
#include "providers/model/arguments.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace mcpbx::daemon::event_json {
namespace {

using providers::role;

// Returns false for blocks that only their provider understands. They are not shown to callers.
bool is_told(const providers::block& b) {
  const auto* reasoning = std::get_if<providers::reasoning_block>(&b);
  return reasoning ? !reasoning->text.empty() : !std::holds_alternative<providers::opaque_block>(b);
}

template <class Out>
struct block_json {
  json::basic_json_writer<Out>& w;
  void operator()(const providers::text_block& b) const { w.member("type", "text").member("text", b.text); }
  void operator()(const providers::image_block& b) const {
    w.member("type", "image").filled("mimeType", b.mime);
    data_or_url(b);
  }
  void operator()(const providers::file_block& b) const {
    w.member("type", "file").filled("mimeType", b.mime).filled("name", b.name);
    data_or_url(b);
  }
  void operator()(const providers::reasoning_block& b) const { w.member("type", "reasoning").member("text", b.text); }
  void operator()(const providers::tool_call_block& b) const {
    w.member("type", "tool_call").member("id", b.id).member("name", b.name);
    if (b.arguments)
      w.member("arguments", b.arguments);
    else
      w.member("argumentsText", b.arguments_text);
    w.filled("problem", b.problem);
  }
  void operator()(const providers::tool_result_block& b) const {
    w.member("type", "tool_result").member("id", b.call_id).member("name", b.name).member("isError", b.is_error);
    w.key("result").token(b.result.text());
  }
  void operator()(const providers::refusal_block& b) const { w.member("type", "refusal").member("text", b.text); }
  void operator()(const providers::opaque_block&) const {}

 private:
  void data_or_url(const auto& b) const {
    if (b.url.empty())
      w.member("data", b.data);
    else
      w.member("url", b.url);
  }
};

template <class Out>
void write_message(json::basic_json_writer<Out>& w, const providers::message& m) {
  w.begin_object().member("role", role_word(m.role));
  if (m.role == role::assistant) w.filled("model", m.origin.model);
  w.key("content").begin_array();
  for (const auto& b : m.blocks) {
    if (!is_told(b)) continue;
    w.begin_object();
    std::visit(block_json<Out>{w}, b);
    w.end_object();
  }
  w.end_array().end_object();
}

std::optional<role> role_of(std::string_view text) {
  if (text == "system") return role::system;
  if (text == "user") return role::user;
  if (text == "assistant") return role::assistant;
  if (text == "tool") return role::tool_results;
  return std::nullopt;
}

using read_block_result = std::expected<providers::block, message_fault>;

std::unexpected<message_fault> wrong(std::string place, std::string_view expected, json::raw_json found = {}) {
  return std::unexpected(message_fault{std::move(place), std::string(expected), std::move(found)});
}

// Returns the block types allowed in a message of this role. Other ones would get lost with some API.
std::span<const std::string_view> types_in(role r) {
  static constexpr std::array<std::string_view, 1> of_system{"text"}, of_tool{"tool_result"};
  static constexpr std::array<std::string_view, 3> of_user{"text", "image", "file"};
  static constexpr std::array<std::string_view, 4> of_assistant{"text", "reasoning", "refusal", "tool_call"};
  switch (r) {
    case role::system:
      return of_system;
    case role::user:
      return of_user;
    case role::assistant:
      return of_assistant;
    default:
      return of_tool;
  }
}

std::string types_form(role r) {
  const auto types = types_in(r);
  std::string form;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i > 0) form += i + 1 == types.size() ? " or " : ", ";
    json::append_quoted(form, types[i]);
  }
  return form + " in a message of role " + json::json_quoted(role_word(r));
}

// Reads the members of one block. The places of faults begin with "." and are relative to the block.
class block_reader {
 public:
  block_reader(const json::raw_json& json, role within) : json_(json), within_(within) {}

  read_block_result read() {
    const auto type = json::member_text(json_, "type");
    if (std::ranges::find(types_in(within_), type) == types_in(within_).end()) return need("type", types_form(within_));
    auto b = read_as(type);
    if (fault_) return std::unexpected(std::move(*fault_));
    return b;
  }

 private:
  read_block_result read_as(std::string_view type) {
    if (type == "image") {
      providers::image_block image{text("mimeType"), text("data"), text("url")};
      if (auto wrong_source = fault_of_source(image.data, image.url)) return std::unexpected(std::move(*wrong_source));
      return image;
    }
    if (type == "file") {
      providers::file_block file{text("mimeType"), text("name"), text("data"), text("url")};
      if (auto wrong_source = fault_of_source(file.data, file.url)) return std::unexpected(std::move(*wrong_source));
      if (!file.data.empty() && file.mime.empty()) return need("mimeType", "a media type, because there is data");
      return file;
    }
    if (type == "tool_call") return read_call();
    if (type == "tool_result") return read_result();
    return read_text(type);
  }

  // Returns an optional text member, or "". Records a fault if it is neither a string nor null.
  std::string text(std::string_view key) {
    const auto value = json::find_member(json_, key);
    if (!fault_ && !value.empty() && !value.is_string() && !value.is_null())
      fault_ = message_fault{"." + std::string(key), "a string", value};
    return value.as_string().value_or("");
  }

  // Checks that there is either data or a URL. Providers fetch URLs themselves, so they must be http or https.
  std::optional<message_fault> fault_of_source(std::string_view data, std::string_view url) const {
    if (data.empty() == url.empty()) return either(data.empty()).error();
    if (!data.empty() && !is_base64(data)) return need("data", base64_form).error();
    if (!url.empty() && !url.starts_with("https://") && !url.starts_with("http://"))
      return need("url", "an address that begins with https:// or http:// (bytes go into data, as base64)").error();
    return std::nullopt;
  }

  std::unexpected<message_fault> need(std::string_view key, std::string_view form) const {
    return wrong("." + std::string(key), form, json::find_member(json_, key));
  }
  static std::unexpected<message_fault> either(bool none) {
    return wrong("", none ? "data (base64) or url, which are strings" : "either data or url, not both");
  }

  read_block_result read_text(std::string_view type) const {
    auto text = json::find_member(json_, "text").as_string();
    if (!text) return need("text", "a string");
    if (type == "text") return providers::text_block{std::move(*text)};
    if (type == "refusal") return providers::refusal_block{std::move(*text)};
    return providers::reasoning_block{std::move(*text), {}};
  }

  read_block_result read_call() {
    providers::tool_call_block call;
    call.id = text("id");
    call.name = text("name");
    if (call.id.empty()) return need("id", "the id of the call, a string");
    if (call.name.empty()) return need("name", "the name of a tool, a string");
    call.arguments = json::find_member(json_, "arguments");
    call.problem = text("problem");
    call.arguments_text = call.arguments ? std::string(call.arguments.text()) : text("argumentsText");
    if (!call.arguments && call.problem.empty() && json::find_member(json_, "argumentsText"))
      providers::read_arguments(call);
    if (!call.arguments.is_object() && call.problem.empty()) return need("arguments", "an object");
    return call;
  }

  read_block_result read_result() {
    providers::tool_result_block r;
    r.call_id = text("id");
    r.name = text("name");
    r.result = json::find_member(json_, "result");
    const auto is_error = json::find_member(json_, "isError");
    if (r.call_id.empty()) return need("id", "the id of the call, a string");
    if (!r.result.is_object()) return need("result", "an object with content");
    if (!is_error.empty() && !is_error.is_null() && is_error.type() != json::raw_json::kind::boolean)
      return need("isError", "true or false");
    // Takes either flag, because a failure shown as a success does more harm than the reverse.
    r.is_error = is_error.is_true() || json::find_member(r.result, "isError").is_true();
    return r;
  }

  const json::raw_json& json_;
  role within_;
  std::optional<message_fault> fault_;
};

bool says_something(const providers::message& m) {
  return std::ranges::any_of(m.blocks, [](const auto& b) {
    const auto* text = std::get_if<providers::text_block>(&b);
    return !text || !trimmed(text->text).empty();
  });
}

}  // namespace

std::string_view role_word(role r) {
  // Callers know "tool" from all chat APIs.
  return r == role::tool_results ? std::string_view("tool") : providers::to_string(r);
}

bool is_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return false;
  if (text.ends_with('=')) text.remove_suffix(text.ends_with("==") ? 2 : 1);
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  });
}

void append_message(json::json_writer& json, const providers::message& m) {
  write_message(json, m);
}
void append_message(json::basic_json_writer<byte_buffer>& json, const providers::message& m) {
  write_message(json, m);
}

std::expected<providers::message_ptr, message_fault> read_message(const json::raw_json& json) {
  if (!json.is_object()) return wrong("", "an object with role and content", json);
  auto m = std::make_shared<providers::message>();
  const auto r = role_of(json::member_text(json, "role"));
  if (!r) return wrong(".role", R"("system", "user", "assistant" or "tool")", json::find_member(json, "role"));
  m->role = *r;
  const bool results = m->role == role::tool_results;
  const auto content = json::find_member(json, "content");
  if (!content.is_array() && (results || !content.is_string()))
    return wrong(".content", results ? "an array of tool_result blocks" : "a string or an array of blocks", content);
  if (auto text = content.as_string()) m->blocks.emplace_back(providers::text_block{std::move(*text)});
  std::optional<message_fault> fault;
  json::for_each_element(content, [&](const json::raw_json& element) {
    const auto place = [&] { return ".content[" + std::to_string(m->blocks.size()) + "]"; };
    if (!element.is_object()) {
      fault = message_fault{place(), "an object with type", element};
    } else if (auto b = block_reader(element, *r).read()) {
      m->blocks.push_back(std::move(*b));
    } else {
      fault = std::move(b.error());
      fault->place.insert(0, place());
      if (fault->place.ends_with(']')) fault->found = element;
    }
    return !fault;
  });
  if (fault) return std::unexpected(std::move(*fault));
  if (results && m->blocks.empty()) return wrong(".content", "at least one tool_result block", content);
  if (m->role == role::user && !says_something(*m))
    return wrong(".content", "a text that is not blank, an image or a file", content);
  return m;
}

}  // namespace mcpbx::daemon::event_json
