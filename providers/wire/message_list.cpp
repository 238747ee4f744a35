// Joins neighbouring user messages and puts assistant messages between tools and users where templates need them.
#include "providers/wire/message_list.hpp"

#include "mcp/json/json_walk.hpp"

#include <algorithm>

namespace mcpbx::providers {
namespace {

// Text of such a message. It must not be empty, because servers refuse that as well.
constexpr std::string_view bridge = R"({"role":"assistant","content":"I have the results of the tools."})";

// Returns a JSON string or list without its quotes or brackets.
std::string_view inside(std::string_view value) {
  return value.size() < 2 ? std::string_view() : value.substr(1, value.size() - 2);
}

}  // namespace

void message_list::add(role from, raw_json fragment) {
  if (fragment.empty()) return;
  if (from == role::user) return users_.push_back(std::move(fragment));
  end_users();
  write(from, std::move(fragment));
}

void message_list::add(result_fragments results) {
  add(role::tool_results, std::move(results.tools));
  add(role::user, std::move(results.images));
}

void message_list::write(role from, raw_json fragment) {
  if (!std::exchange(first_, false)) body_.append_literal(",");
  last_ = from;
  body_.append(std::move(fragment));
}

void message_list::end_users() {
  if (users_.empty()) return;
  if (bridges_ && last_ == role::tool_results) write(role::assistant, raw_json::literal(bridge));
  if (users_.size() == 1)
    write(role::user, std::move(users_.front()));
  else
    write_joined();
  users_.clear();
}

// Writes user messages that follow each other as one, because templates such as Gemma's and Mistral's refuse the
// second. They meet if an answer is missing or empty. This keeps the prompt cache: no request went beyond the first
// message, and if both are texts, its bytes are the same up to the closing quote.
void message_list::write_joined() {
  const auto content = [](const raw_json& m) { return walk::find(m.text(), "content"); };
  const bool parts = std::ranges::any_of(users_, [&](const auto& m) { return walk::is_array(content(m)); });
  write(role::user, raw_json::literal(parts ? R"({"role":"user","content":[)" : R"({"role":"user","content":")"));
  bool first = true;
  for (const auto& m : users_) {
    const auto said = content(m);
    if (inside(said).empty()) continue;
    if (!std::exchange(first, false)) body_.append_literal(parts ? "," : R"(\n\n)");
    const bool as_part = parts && walk::is_string(said);
    if (as_part) body_.append_literal(R"({"type":"text","text":)");
    body_.append(m.slice(as_part ? said : inside(said)));
    if (as_part) body_.append_literal("}");
  }
  body_.append_literal(parts ? "]" : "\"");
  write_joined_images();
  body_.append_literal("}");
}

void message_list::write_joined_images() {
  bool first = true;
  for (const auto& m : users_) {
    const auto images = inside(walk::find(m.text(), "images"));
    if (images.empty()) continue;
    body_.append_literal(std::exchange(first, false) ? R"(,"images":[)" : ",");
    body_.append(m.slice(images));
  }
  if (!first) body_.append_literal("]");
}

}  // namespace mcpbx::providers
