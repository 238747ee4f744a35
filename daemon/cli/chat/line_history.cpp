// Inputs of several lines are kept whole, so the file has JSON.
#include "daemon/cli/chat/line_history.hpp"

#include "conf/places.hpp"
#include "daemon/cli/link/private_file.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/secret_name.hpp"

#include <algorithm>
#include <array>
#include <fstream>

namespace mcpbx::cli {
namespace {

// The beginnings of tokens that providers give out.
constexpr std::array<std::string_view, 14> token_marks{"sk-",  "sk_",         "pk_live_", "ghp_",  "gho_",
                                                       "ghs_", "github_pat_", "glpat-",   "xoxb-", "xoxp-",
                                                       "AKIA", "AIza",        "hf_",      "eyJ"};
constexpr std::size_t shortest_token = 16, shortest_value = 6;

bool looks_secret(std::string_view word) {
  const auto begin = word.find_first_not_of("\"'`(<[{");
  word = begin == std::string_view::npos ? std::string_view() : word.substr(begin);
  const auto is_token = [](std::string_view text) {
    return text.size() >= shortest_token &&
           std::ranges::any_of(token_marks, [&](std::string_view mark) { return text.starts_with(mark); });
  };
  if (is_token(word)) return true;
  const auto equals = word.find_first_of("=:");
  if (equals == std::string_view::npos) return false;
  const auto value = word.substr(equals + 1);
  return is_token(value) ||
         (value.size() >= shortest_value && !value.starts_with("//") && secret_name(word.substr(0, equals)));
}

}  // namespace

bool may_be_kept(std::string_view input) {
  constexpr std::string_view blanks = " \t\r\n";
  if (input.empty() || input.size() > line_history::most_entry || blanks.contains(input.front())) return false;
  while (!input.empty()) {
    const auto end = std::min(input.find_first_of(blanks), input.size());
    if (looks_secret(input.substr(0, end))) return false;
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return true;
}

line_history line_history::of_user() {
  const auto state = conf::state_directory(conf::environment_for_places());
  return line_history(state ? (*state / "chat-history").string() : "");
}

std::vector<std::string> line_history::read() const {
  std::vector<std::string> all;
  std::ifstream in(path_, std::ios::binary);
  for (std::string line; all.size() < 2 * most_entries && std::getline(in, line);) {
    if (line.size() > 8 * most_entry) continue;
    const auto entry = raw_json::parse(line);
    if (auto text = entry ? entry->as_string() : std::nullopt; text && may_be_kept(*text))
      all.push_back(std::move(*text));
  }
  return all;
}

void line_history::add(std::string_view input) const {
  if (path_.empty() || !may_be_kept(input)) return;
  auto all = read();
  std::erase(all, input);
  all.emplace_back(input);
  std::size_t bytes = 0, first = all.size();
  while (first > 0 && all.size() - first < most_entries && bytes + all[first - 1].size() <= most_bytes)
    bytes += all[--first].size();
  std::string text;
  json_writer w(text);
  for (; first < all.size(); ++first) text += json_quoted(all[first]) + "\n";
  replace_private_file(path_, text);
}

}  // namespace mcpbx::cli
