// Reads and shows lists of texts.
#include "daemon/cli/link/text_lists.hpp"

namespace mcpbx::cli::link {

std::vector<std::string> texts_of(const json::raw_json& object, std::string_view key) {
  std::vector<std::string> all;
  json::for_each_element(json::find_member(object, key), [&](const json::raw_json& e) {
    all.push_back(e.as_string().value_or(""));
    return true;
  });
  return all;
}

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& w : words) all += (all.empty() ? "" : ", ") + w;
  return all;
}

}  // namespace mcpbx::cli::link
