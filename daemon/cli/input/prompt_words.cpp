// Compares typed words with the definition of a prompt.
#include "daemon/cli/input/prompt_words.hpp"

#include "daemon/cli/input/call_arguments.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::cli::input {
namespace {

std::string key_of(const std::string& word) {
  return word.substr(0, word.find('='));
}

}  // namespace

result<std::string> prompt_arguments(const std::vector<std::string>& words) {
  const auto pairs = key_values(words, "write key=value");
  if (!pairs) return std::unexpected(pairs.error());
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  for (const auto& [key, value] : *pairs) w.member(key, value);
  w.end_object();
  return out;
}

std::string missing_arguments(const json::raw_json& definition, const std::vector<std::string>& words) {
  std::string missing;
  json::for_each_element(json::find_member(definition, "arguments"), [&](const json::raw_json& a) {
    const std::string name = json::member_text(a, "name");
    if (json::find_member(a, "required").is_true() && std::ranges::find(words, name, key_of) == words.end())
      missing += (missing.empty() ? "" : " and ") + name;
    return true;
  });
  return missing;
}

std::vector<std::string> unknown_arguments(const json::raw_json& definition, const std::vector<std::string>& words) {
  std::vector<std::string> names, hints;
  json::for_each_element(json::find_member(definition, "arguments"), [&](const json::raw_json& a) {
    names.push_back(json::member_text(a, "name"));
    return true;
  });
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const auto& word : words)
    if (const auto key = key_of(word); std::ranges::find(names, key) == names.end())
      hints.push_back("the prompt has no argument \"" + key + "\"" + did_you_mean(key, known) +
                      "; it is sent as it was given");
  return hints;
}

std::string near_name(std::string_view name, const std::vector<json::raw_json>& list, std::string_view member) {
  std::vector<std::string> names;
  for (const auto& item : list) names.push_back(json::member_text(item, member));
  const std::vector<std::string_view> known(names.begin(), names.end());
  return did_you_mean(name, known);
}

}  // namespace mcpbx::cli::input
