// Formats the status. Unknown members are shown as they are, so that an older command line hides nothing.
#include "daemon/cli/terminal/status_text.hpp"

#include "daemon/cli/terminal/session_text.hpp"
#include "mcp/support/text.hpp"

#include <string_view>

namespace mcpbx::cli {
namespace {

std::string value_text(const raw_json& value);

std::string members_of(const raw_json& object) {
  std::string all;
  if (const auto opened = raw_object::open(object))
    opened->for_each([&](std::string_view key, const raw_json& value) {
      const bool nested = value.type() == raw_json::kind::object;
      all += (all.empty() ? "" : ", ") + std::string(key) + (nested ? " (" : " ") + value_text(value) +
             (nested ? ")" : "");
    });
  return all;
}

std::string elements_of(const raw_json& array) {
  std::string all;
  for_each_element(array, [&](const raw_json& element) {
    all += (all.empty() ? "" : "; ") + value_text(element);
    return true;
  });
  return all;
}

std::string value_text(const raw_json& value) {
  const auto kind = value.type();
  if (kind != raw_json::kind::object && kind != raw_json::kind::array)
    return value.as_string().value_or(std::string(value.text()));
  auto words = kind == raw_json::kind::object ? members_of(value) : elements_of(value);
  return words.empty() ? "none" : words;
}

}  // namespace

std::vector<std::vector<std::string>> status_rows(const raw_json& status) {
  std::vector<std::vector<std::string>> rows;
  if (const auto object = raw_object::open(status))
    object->for_each(
        [&](std::string_view key, const raw_json& value) { rows.push_back({std::string(key), value_text(value)}); });
  return rows;
}

std::string trouble_of(const raw_json& server) {
  std::string why = member_text(server, "lastError");
  if (const auto at = find_member(server, "lastErrorMs").as_integer(); at && !why.empty())
    why.insert(0, date_of(*at) + " UTC: ");
  const raw_json next = find_member(server, "nextTryMs");
  if (!why.empty() && next && !next.is_null() && next.text() != "-1")
    why += " (next try in " + std::string(next.text()) + " ms)";
  return std::string(cut_utf8(why, 160));
}

}  // namespace mcpbx::cli
