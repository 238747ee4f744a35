// Splits messages into parts that have a name (the text, the second call, …) and shows the first part that differs.
#include "providers/replay/difference.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace mcpbx::providers::replay {
namespace {

constexpr std::size_t shown = 120, shown_before = 30;

struct part {
  std::string name, text;
};

std::vector<part> parts_of(const json::raw_json& message) {
  std::vector<part> parts;
  if (const auto text = json::find_member(message, "text").as_string()) parts.push_back({"text", *text});
  const auto list = [&](std::string_view key, std::string_view name, std::string_view inner) {
    std::size_t number = 0;
    json::for_each_element(json::find_member(message, key), [&](const json::raw_json& one) {
      const auto what = json::find_member(one, inner);
      const auto tool = json::member_text(one, "name");
      parts.push_back({std::string(name) + " " + std::to_string(++number),
                       (tool.empty() ? "" : tool + " ") + std::string(what ? what.text() : one.text())});
      return true;
    });
  };
  list("images", "image", "url");
  list("calls", "call", "arguments");
  list("results", "result", "result");
  if (const auto text = json::find_member(message, "refusal").as_string()) parts.push_back({"refusal", *text});
  return parts;
}

// Returns an excerpt around `from`, so that a difference late in a long text is visible.
std::string excerpt(std::string_view text, std::size_t from) {
  const bool cut = from > shown - shown_before;
  if (cut) text = tail_utf8(text, text.size() - (from - shown_before));
  const auto head = cut_utf8(text, shown);
  return (cut ? "\"…" : "\"") + redact::printable(head) + (head.size() < text.size() ? "…\"" : "\"");
}

std::string shown_message(const json::raw_json& message) {
  const auto parts = parts_of(message);
  if (parts.empty()) return "nothing in it";
  return (parts[0].name == "text" ? "" : parts[0].name + ", ") + excerpt(parts[0].text, 0);
}

std::string shown_part(const part* p, std::size_t from) {
  return p ? excerpt(p->text, from) : "none";
}

}  // namespace

std::string difference(std::size_t number, const json::raw_json& recorded, const json::raw_json& came) {
  const auto place = "message " + std::to_string(number);
  const auto before = "message " + std::to_string(number - 1);
  const auto role = [](const json::raw_json& m) { return " (" + json::member_text(m, "role") + ")"; };
  if (!recorded && !came) return "nothing is recorded for a conversation that ends with " + before;
  if (!recorded)
    return (number == 1 ? "nothing is recorded in it" : "nothing is recorded after " + before) + ", and " + place +
           role(came) + " came: " + shown_message(came);
  if (!came)
    return "the conversation ends" + (number == 1 ? std::string() : " with " + before) +
           ", where the recording goes on with " + place + role(recorded) + ": " + shown_message(recorded);
  if (role(recorded) != role(came))
    return place + " differs: recorded there is one of role" + role(recorded) + " with " + shown_message(recorded) +
           ", and one of role" + role(came) + " came with " + shown_message(came);
  const auto then = parts_of(recorded), now = parts_of(came);
  std::size_t i = 0;
  while (i < then.size() && i < now.size() && then[i].name == now[i].name && then[i].text == now[i].text) ++i;
  const part* const a = i < then.size() ? &then[i] : nullptr;
  const part* const b = i < now.size() ? &now[i] : nullptr;
  if (a && b && a->name != b->name)
    return place + role(came) + " differs: recorded there is " + a->name + " " + excerpt(a->text, 0) + ", and " +
           b->name + " " + excerpt(b->text, 0) + " came";
  std::size_t from = 0;
  if (a && b) {
    const auto apart = std::ranges::mismatch(a->text, b->text);
    from = static_cast<std::size_t>(apart.in1 - a->text.begin());
  }
  return place + role(came) + " differs" + (a || b ? " in its " + (a ? a->name : b->name) : "") +
         ": recorded there is " + shown_part(a, from) + ", and " + shown_part(b, from) + " came";
}

}  // namespace mcpbx::providers::replay
