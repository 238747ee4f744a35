// Implements the checks, with one sentence for each fault.
#include "mcp/protocol/definition_checks.hpp"

#include "mcp/redact/hidden_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace mcpbx::mcp::protocol {
namespace {

using kind = json::raw_json::kind;

std::string_view type_words(kind k) {
  switch (k) {
    case kind::object:
      return "an object";
    case kind::array:
      return "an array";
    case kind::string:
      return "a string";
    case kind::number:
      return "a number";
    case kind::boolean:
      return "true or false";
    default:
      return "something else";
  }
}

constexpr std::array annotation_members = {optional_member{"audience", kind::array},
                                           optional_member{"priority", kind::number},
                                           optional_member{"lastModified", kind::string}};

bool is_between_0_and_1(std::string_view number) {
  double value = -1;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  return read.ec == std::errc() && value >= 0 && value <= 1;
}

}  // namespace

std::string wrong_member(const json::raw_object& object, std::span<const optional_member> members,
                         std::string_view where) {
  for (const optional_member& m : members)
    if (const json::raw_json value = object.find(m.key); value && value.type() != m.type)
      return std::string(where) + std::string(m.key) + " must be " + std::string(type_words(m.type));
  return {};
}

result<std::string> read_key(const json::raw_object& object, std::string_view member, std::size_t most) {
  auto key = object.find(member).as_string();
  if (!key) return fail(errc::protocol, std::string(member) + " must be a string");
  if (key->empty() || key->size() > most)
    return fail(errc::protocol, std::string(member) + " must have 1 to " + std::to_string(most) + " bytes");
  if (std::ranges::any_of(*key, [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
    return fail(errc::protocol, std::string(member) + " must not hold control characters");
  return std::move(*key);
}

std::string wrong_annotations(const json::raw_json& annotations) {
  if (!annotations) return {};
  if (!annotations.is_object()) return "annotations must be an object";
  const auto object = json::raw_object::open(annotations, {"audience", "priority", "lastModified"});
  if (!object) return "annotations: " + object.error().message;
  if (auto wrong = wrong_member(*object, annotation_members, "annotations."); !wrong.empty()) return wrong;
  bool known = true;
  json::for_each_element(object->find("audience"), [&](const json::raw_json& role) {
    const auto word = role.as_string();
    return known = word == "user" || word == "assistant";
  });
  if (!known) return "annotations.audience must hold \"user\" and \"assistant\" only";
  if (const json::raw_json priority = object->find("priority"); priority && !is_between_0_and_1(priority.text()))
    return "annotations.priority must be between 0 and 1";
  return {};
}

}  // namespace mcpbx::mcp::protocol
