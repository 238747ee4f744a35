// Reads and shows lists of texts.
#include "daemon/cli/link/text_lists.hpp"

namespace mcpbx::cli {

std::vector<std::string> texts_of(const raw_json& object, std::string_view key) {
  std::vector<std::string> all;
  for_each_element(find_member(object, key), [&](const raw_json& e) {
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

}  // namespace mcpbx::cli
