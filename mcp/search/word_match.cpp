// Folds case without changing the number of bytes, and looks for words byte by byte.
#include "mcp/search/word_match.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <cctype>

namespace mcpbx::search {
namespace {

constexpr std::string_view blanks_between = " \t\r\n";

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(blanks_between);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks_between) - begin + 1);
}

// Folds a letter of two bytes.
void fold_pair(char& first, char& second) {
  const auto a = static_cast<unsigned char>(first), b = static_cast<unsigned char>(second);
  const auto set = [&](unsigned x, unsigned y) {
    first = static_cast<char>(x);
    second = static_cast<char>(y);
  };
  if (a == 0xC3 && b >= 0x80 && b <= 0x9E && b != 0x97) return set(a, b + 0x20u);     // À to Þ
  if (a == 0xCE && b >= 0x91 && b <= 0x9F) return set(a, b + 0x20u);                  // Α to Ο
  if (a == 0xCE && b >= 0xA0 && b <= 0xA9 && b != 0xA2) return set(0xCF, b - 0x20u);  // Π to Ω
  if (a == 0xD0 && b >= 0x80 && b <= 0x8F) return set(0xD1, b + 0x10u);               // Ѐ to Џ
  if (a == 0xD0 && b >= 0x90 && b <= 0x9F) return set(a, b + 0x20u);                  // А to П
  if (a == 0xD0 && b >= 0xA0 && b <= 0xAF) return set(0xD1, b - 0x20u);               // Р to Я
}

bool is_plain_word(std::string_view word) {
  return std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

}  // namespace

std::string folded_case(std::string_view text) {
  std::string all(text);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto c = static_cast<unsigned char>(all[i]);
    if (c >= 'A' && c <= 'Z')
      all[i] = static_cast<char>(c + 32);
    else if (c >= 0xC3 && c <= 0xD0 && i + 1 < all.size())
      fold_pair(all[i], all[i + 1]);
    if (c >= 0xC3 && c <= 0xD0) ++i;
  }
  return all;
}

word_search::word_search(std::string_view words) {
  for (std::size_t at = 0; at < words.size() && words_.size() < most_words;) {
    at = words.find_first_not_of(blanks_between, at);
    if (at == std::string_view::npos) return;
    const auto end = std::min(words.find_first_of(blanks_between, at), words.size());
    auto word = folded_case(words.substr(at, end - at));
    if (std::ranges::find(words_, word) == words_.end()) words_.push_back(std::move(word));
    at = end;
  }
}

bool word_search::matches(std::string_view text) const {
  const auto folded = folded_case(text);
  return std::ranges::all_of(words_, [&](const std::string& w) { return folded.contains(w); });
}

bool word_search::may_match_json(std::string_view json) const {
  std::string folded;
  return std::ranges::all_of(words_, [&](const std::string& w) {
    if (!is_plain_word(w)) return true;
    if (folded.empty()) folded = folded_case(json);
    return folded.contains(w) || folded.contains("\\u00");  // a writer may escape even letters
  });
}

std::vector<word_search::place> word_search::places(std::string_view text) const {
  const auto folded = folded_case(text);
  std::vector<place> all;
  for (const auto& w : words_)
    for (auto at = folded.find(w); at != std::string::npos; at = folded.find(w, at + w.size()))
      all.emplace_back(at, at + w.size());
  std::ranges::sort(all);
  std::vector<place> apart;
  for (const auto& p : all) {
    if (!apart.empty() && p.first < apart.back().second)
      apart.back().second = std::max(apart.back().second, p.second);
    else
      apart.push_back(p);
  }
  return apart;
}

std::string word_search::best_line(std::string_view text, std::size_t most) const {
  std::string_view best = text.substr(0, text.find('\n'));
  std::ptrdiff_t best_count = -1;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    const auto folded = folded_case(line);
    const auto count = std::ranges::count_if(words_, [&](const std::string& w) { return folded.contains(w); });
    if (count > best_count) {
      best_count = count;
      best = line;
    }
    at = end + 1;
  }
  best = without_blanks(best);
  if (best.size() <= most) return std::string(best);
  const auto found = places(best);
  const std::size_t first = found.empty() ? 0 : found.front().first;
  // A third of the room stands before the word.
  std::size_t begin = first > most / 3 ? first - most / 3 : 0;
  begin = std::min(begin, best.size() - most);
  while (begin < best.size() && (static_cast<unsigned char>(best[begin]) & 0xC0) == 0x80) ++begin;
  const auto part = cut_utf8(best.substr(begin), most);
  return (begin > 0 ? "…" : "") + std::string(part) + (begin + part.size() < best.size() ? "…" : "");
}

}  // namespace mcpbx::search
