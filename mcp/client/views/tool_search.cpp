// Scores each word at each tool, and weighs it by the number of tools that have it.
#include "mcp/client/views/tool_search.hpp"

#include "mcp/search/word_match.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <tuple>

namespace mcpbx::mcp::views {
namespace {

constexpr std::size_t longest_searched = 2048;  // bytes of a description

/// The searched texts of a tool, folded.
struct tool_texts {
  std::string name, title, description;
};

bool is_word_byte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

// Returns 2 if the text has the word between other bytes than letters and digits, 1 if within a longer word, else 0.
int how_found(std::string_view text, std::string_view word) {
  int best = 0;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_word_byte(text[at - 1])) && (end == text.size() || !is_word_byte(text[end]))) return 2;
    best = 1;
  }
  return best;
}

// Writes "readFile" as "read File", so that its parts are words.
std::string with_humps_apart(std::string_view name) {
  std::string all;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool hump = i > 0 && std::isupper(static_cast<unsigned char>(name[i])) != 0 &&
                      std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (hump) all += ' ';
    all += name[i];
  }
  return all;
}

tool_texts texts_of(const catalogs::catalog_entry& tool) {
  std::string title = json::find_member(tool.definition, "title").as_string().value_or("");
  if (title.empty())
    title = json::find_member(json::find_member(tool.definition, "annotations"), "title").as_string().value_or("");
  return {search::folded_case(tool.name + " " + with_humps_apart(tool.name)), search::folded_case(title),
          search::folded_case(std::string_view(tool.description).substr(0, longest_searched))};
}

int score_of(const tool_texts& texts, std::string_view word) {
  constexpr int in_name[] = {0, 30, 60}, in_title[] = {0, 15, 25}, in_description[] = {0, 4, 10};
  return in_name[how_found(texts.name, word)] + in_title[how_found(texts.title, word)] +
         in_description[how_found(texts.description, word)];
}

}  // namespace

std::vector<found_tool> search_tools(const std::vector<catalogs::entry_ptr>& tools, std::string_view words,
                                     std::size_t most) {
  const search::word_search wanted(words);
  const auto& list = wanted.words();
  std::vector<std::vector<int>> scores;
  scores.reserve(tools.size());
  std::vector<std::size_t> having(list.size());
  for (const auto& tool : tools) {
    const auto texts = texts_of(*tool);
    auto& row = scores.emplace_back(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      row[i] = score_of(texts, list[i]);
      having[i] += row[i] > 0 ? 1 : 0;
    }
  }
  std::vector<found_tool> found;
  for (std::size_t t = 0; t < tools.size(); ++t) {
    found_tool one{tools[t]};
    double sum = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (scores[t][i] == 0) continue;
      ++one.words;
      const auto rarity = 1 + std::log2(static_cast<double>(tools.size()) / static_cast<double>(having[i]));
      sum += scores[t][i] * rarity;
    }
    one.score = static_cast<int>(sum);
    if (one.words > 0) found.push_back(std::move(one));
  }
  const auto better = [](const found_tool& a, const found_tool& b) {
    return std::tuple(b.words, b.score, std::string_view(a.tool->name)) <
           std::tuple(a.words, a.score, std::string_view(b.tool->name));
  };
  const auto kept = std::min(most, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(kept), better);
  found.erase(found.begin() + static_cast<std::ptrdiff_t>(kept), found.end());
  return found;
}

}  // namespace mcpbx::mcp::views
