// Joins neighbouring user messages and puts assistant messages between tools and users where templates need them.
#include "providers/wire/message_list.hpp"

#include "mcp/json/json_walk.hpp"

#include <algorithm>

namespace mcpbx::providers::wire {
namespace {

// Text of such a message. It must not be empty, because servers refuse that as well.
constexpr std::string_view bridge = R"({"role":"assistant","content":"I have the results of the tools."})";

// Returns a JSON string or list without its quotes or brackets.
std::string_view inside(std::string_view value) {
  return value.size() < 2 ? std::string_view() : value.substr(1, value.size() - 2);
}

}  // namespace

void message_list::add(role from, json::raw_json fragment) {
  if (fragment.empty()) return;
  if (from == role::user) return users_.push_back(std::move(fragment));
  end_users();
  write(from, fragment);
}

void message_list::add(result_fragments results) {
  add(role::tool_results, std::move(results.tools));
  add(role::user, std::move(results.images));
}

void message_list::write(role from, const json::raw_json& fragment) {
  last_ = from;
  body_.value(fragment);
}

void message_list::end_users() {
  if (users_.empty()) return;
  if (bridges_ && last_ == role::tool_results) write(role::assistant, json::raw_json::literal(bridge));
  if (users_.size() == 1)
    write(role::user, users_.front());
  else
    write_joined();
  users_.clear();
}

// Writes user messages that follow each other as one, because templates such as Gemma's and Mistral's refuse the
// second. They meet if an answer is missing or empty. This keeps the prompt cache: no request went beyond the first
// message, and if both are texts, its bytes are the same up to the closing quote.
void message_list::write_joined() {
  const auto content = [](const json::raw_json& m) { return json::walk::find(m.text(), "content"); };
  const bool parts = std::ranges::any_of(users_, [&](const auto& m) { return json::walk::is_array(content(m)); });
  last_ = role::user;
  body_.begin_object().member("role", "user").key("content");
  if (parts)
    body_.begin_array();
  else
    body_.token("\"");
  bool first = true;
  for (const auto& m : users_) {
    const auto said = content(m);
    const auto inner = m.slice(inside(said));
    if (inner.empty()) continue;
    if (!parts)
      body_.more(std::exchange(first, false) ? "" : R"(\n\n)").more(inner);
    else if (json::walk::is_string(said))
      body_.begin_object().member("type", "text").member("text", m.slice(said)).end_object();
    else
      body_.value(inner);
  }
  if (parts)
    body_.end_array();
  else
    body_.more("\"");
  write_joined_images();
  body_.end_object();
}

void message_list::write_joined_images() {
  bool any = false;
  for (const auto& m : users_) {
    const auto images = m.slice(inside(json::walk::find(m.text(), "images")));
    if (images.empty()) continue;
    if (!std::exchange(any, true)) body_.key("images").begin_array();
    body_.value(images);
  }
  if (any) body_.end_array();
}

}  // namespace mcpbx::providers::wire
