// Reading of tool arguments, with errors that name the member and the expected value.
#include "daemon/toolbox/tool_arguments.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::toolbox {
namespace {

std::string_view json_kind_name(const json::raw_json& value) {
  switch (value.type()) {
    case json::raw_json::kind::object:
      return "an object";
    case json::raw_json::kind::array:
      return "a list";
    case json::raw_json::kind::string:
      return "a text";
    case json::raw_json::kind::number:
      return "a number";
    case json::raw_json::kind::boolean:
      return "true or false";
    default:
      return "null";
  }
}

std::string quoted_name(std::string_view name) {
  return "\"" + redact::printable(cut_utf8(name, 60)) + "\"";
}

}  // namespace

result<arguments> arguments::open(const json::raw_json& json, std::span<const std::string_view> known) {
  arguments out;
  if (!json) return out;
  auto object = json::raw_object::open(json, known);
  if (!object) return fail(errc::invalid_argument, "The arguments are wrong: " + object.error().message);
  std::string unknown;
  object->for_each([&](std::string_view key, const json::raw_json&) {
    if (unknown.empty() && std::ranges::find(known, key) == known.end())
      unknown = "There is no argument " + quoted_name(key) + did_you_mean(key, known) + ".";
  });
  if (!unknown.empty()) {
    unknown += known.empty() ? " This tool takes none." : " There are: ";
    for (const auto& name : known) unknown += std::string(name) + (&name == &known.back() ? "." : ", ");
    return fail(errc::invalid_argument, unknown);
  }
  out.json_ = json;
  return out;
}

bool arguments::has(std::string_view name) const {
  const auto value = json::find_member(json_, name);
  return value && !value.is_null();
}

result<std::string> arguments::text(std::string_view name, std::string_view fallback) const {
  if (!has(name)) return std::string(fallback);
  const auto value = json::find_member(json_, name);
  if (auto text = value.as_string()) return *text;
  return fail(errc::invalid_argument,
              quoted_name(name) + " must be a text, not " + std::string(json_kind_name(value)) + ".");
}

result<std::string> arguments::required_text(std::string_view name) const {
  auto value = text(name, "");
  if (value && value->empty())
    return fail(errc::invalid_argument, "The argument " + quoted_name(name) + " is missing or empty.");
  return value;
}

result<std::int64_t> arguments::integer(std::string_view name, std::int64_t fallback, std::int64_t least,
                                        std::int64_t most) const {
  if (!has(name)) return fallback;
  const auto value = json::find_member(json_, name);
  const auto number = value.as_integer();
  if (number && *number >= least && *number <= most) return *number;
  return fail(errc::invalid_argument,
              quoted_name(name) + " must be a whole number from " + std::to_string(least) + " to " +
                  std::to_string(most) + ", not " +
                  (value.type() == json::raw_json::kind::number ? std::string(cut_utf8(value.text(), 40))
                                                                : std::string(json_kind_name(value))) +
                  ".");
}

result<bool> arguments::flag(std::string_view name, bool fallback) const {
  if (!has(name)) return fallback;
  const auto value = json::find_member(json_, name);
  if (value.type() == json::raw_json::kind::boolean) return value.is_true();
  return fail(errc::invalid_argument,
              quoted_name(name) + " must be true or false, not " + std::string(json_kind_name(value)) + ".");
}

}  // namespace mcpbx::toolbox
