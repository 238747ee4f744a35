// Contents of prompts and resources become blocks of messages: text and images as they are, other bytes as a line that
// says what is missing.
#include "daemon/front/chat/chat_opening.hpp"

#include "daemon/loop/json/message_json.hpp"
#include "daemon/loop/results/result_mark.hpp"
#include "mcp/crypto/sha256.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace mcpbx::daemon::chat {
namespace {

constexpr std::size_t longest_prompt = 512, longest_uri = 8192, most_arguments = 256, most_prompt_messages = 256;

bool is_image(std::string_view mime) {
  static constexpr std::array<std::string_view, 4> known{"image/png", "image/jpeg", "image/gif", "image/webp"};
  return std::ranges::find(known, mime) != known.end();
}

std::string shown_bytes(std::string_view base64) {
  while (base64.ends_with('=')) base64.remove_suffix(1);
  return std::to_string(base64.size() * 3 / 4) + " bytes";
}

std::string text_in(const json::raw_json& object, std::string_view member) {
  return json::find_member(object, member).as_string().value_or("");
}

// Appends an image, or the sentence that stands for bytes which models do not take.
void append_bytes(std::vector<providers::block>& to, const std::string& mime, std::string data,
                  const std::string& what) {
  if (is_image(mime) && event_json::is_base64(data))
    to.emplace_back(providers::image_block{mime, std::move(data), ""});
  else
    to.emplace_back(providers::text_block{"[" + what +
                                              " is left out: " + (mime.empty() ? "bytes" : redact::printable(mime)) +
                                              ", " + shown_bytes(data) + "]",
                                          true});
}

// Appends one of the contents of a resource. Its text stands between marks.
void append_contents(std::vector<providers::block>& to, const json::raw_json& one, const std::string& asked,
                     const std::string& server) {
  std::string uri = text_in(one, "uri");
  if (uri.empty()) uri = asked;
  if (const json::raw_json blob = json::find_member(one, "blob"))
    return append_bytes(to, text_in(one, "mimeType"), blob.as_string().value_or(""),
                        "The resource " + redact::printable(uri));
  // Equal texts get equal marks, which keeps the prompt cache of a provider; no text can contain its own hash.
  const std::string text = text_in(one, "text"), nonce = crypto::sha256_hex(text).substr(0, 16);
  to.emplace_back(providers::text_block{results::marked_resource(text, uri, server, nonce), true});
}

void append_block(std::vector<providers::block>& to, const json::raw_json& content) {
  const std::string type = text_in(content, "type");
  if (type == "text")
    to.emplace_back(providers::text_block{redact::printable(text_in(content, "text"), true), true});
  else if (type == "resource")
    append_contents(to, json::find_member(content, "resource"), "", "");
  else if (type == "resource_link")
    to.emplace_back(providers::text_block{"[resource " + redact::printable(text_in(content, "uri")) + "]", true});
  else
    append_bytes(to, text_in(content, "mimeType"), text_in(content, "data"),
                 "A part of the prompt (" + redact::printable(cut_utf8(type, 64)) + ")");
}

error wrong_shape(const chat_opening& what, const std::string& clause) {
  return {errc::peer, "the prompt " + json::json_quoted(what.prompt) + " cannot be used: " + clause};
}

result<std::vector<providers::message_ptr>> prompt_messages(const chat_opening& what, const json::raw_json& got) {
  std::vector<providers::message_ptr> made;
  const json::raw_json messages = json::find_member(got, "messages");
  if (!messages.is_array()) return std::unexpected(wrong_shape(what, "its server answered without messages"));
  std::string fault;
  json::for_each_element(messages, [&](const json::raw_json& m) {
    const std::string role = text_in(m, "role");
    if (made.size() == most_prompt_messages)
      fault = "it has more than " + std::to_string(most_prompt_messages) + " messages";
    if (role != "user" && role != "assistant") fault = "one of its messages is of no role that there is";
    if (!fault.empty()) return false;
    auto message = std::make_shared<providers::message>();
    message->role = role == "user" ? providers::role::user : providers::role::assistant;
    const json::raw_json content = json::find_member(m, "content");
    if (content.is_object()) append_block(message->blocks, content);
    json::for_each_element(content, [&](const json::raw_json& block) {
      append_block(message->blocks, block);
      return true;
    });
    // APIs take no images in messages of the assistant.
    if (role == "assistant")
      std::erase_if(message->blocks, [](const auto& b) { return std::holds_alternative<providers::image_block>(b); });
    if (!message->blocks.empty()) made.push_back(std::move(message));
    return true;
  });
  if (!fault.empty()) return std::unexpected(wrong_shape(what, fault));
  if (made.empty()) return std::unexpected(wrong_shape(what, "it has no messages"));
  return made;
}

void check_arguments(mcp::server::param_reader& in, const json::raw_json& arguments) {
  const auto members = json::raw_object::open(arguments);
  if (!members) return;
  std::size_t count = 0;
  members->for_each([&](std::string_view key, const json::raw_json& value) {
    if (!value.is_string()) in.expected("arguments." + std::string(cut_utf8(key, 64)), "a string", value);
    if (++count > most_arguments)
      in.wrong("arguments", "expected at most " + std::to_string(most_arguments) + " members, got more");
  });
}

}  // namespace

chat_opening read_opening(mcp::server::param_reader& in) {
  chat_opening o;
  if (const json::raw_json given = in.object("prompt")) {
    auto prompt = in.inside(given, ".prompt");
    o.prompt = prompt.text("name", longest_prompt).value_or("");
    if (o.prompt.empty()) prompt.wrong("name", "expected the name of a prompt, as prompts/list has it");
    o.arguments = prompt.object("arguments");
    if (o.arguments) {
      check_arguments(prompt, o.arguments);
      o.arguments = o.arguments.detached();
    }
    (void)prompt.finish();
  }
  if (auto uris = in.texts("resources")) {
    if (uris->size() > chat_opening::most_resources)
      in.wrong("resources", "expected at most " + std::to_string(chat_opening::most_resources) + " URIs, got " +
                                std::to_string(uris->size()));
    for (auto& uri : *uris) {
      if (uri.empty() || uri.size() > longest_uri)
        in.wrong("resources", "expected URIs of 1 to " + std::to_string(longest_uri) + " bytes");
      if (std::ranges::find(o.resources, uri) == o.resources.end()) o.resources.push_back(std::move(uri));
    }
  }
  return o;
}

result<void> begin_with_opening(run::run_request& r, const chat_opening& what, const opened_chat& got) {
  std::vector<providers::message_ptr> messages;
  if (got.prompt) {
    auto made = prompt_messages(what, got.prompt);
    if (!made) return std::unexpected(std::move(made.error()));
    messages = std::move(*made);
  }
  // A request with no words of its own goes on with the prompt's.
  std::ranges::move(r.messages, std::back_inserter(messages));
  if (messages.empty() || messages.back()->role != providers::role::user)
    return fail(errc::invalid_argument, what.prompt.empty()
                                            ? "params.resources: they need a question; give input as well"
                                            : "params.prompt: the prompt " + json::json_quoted(what.prompt) +
                                                  " does not end with words of the user; give input as well");
  if (!what.resources.empty()) {
    auto last = std::make_shared<providers::message>();
    last->role = providers::role::user;
    for (std::size_t i = 0; i < got.resources.size(); ++i)
      json::for_each_element(json::find_member(got.resources[i], "contents"), [&](const json::raw_json& one) {
        append_contents(last->blocks, one, what.resources[i], got.resource_from[i]);
        return true;
      });
    std::ranges::copy(messages.back()->blocks, std::back_inserter(last->blocks));
    messages.back() = std::move(last);
  }
  r.messages = std::move(messages);
  return {};
}

}  // namespace mcpbx::daemon::chat
