// Matches words by small tables and prefixes, without a language model.
#include "providers/rehearsal/question_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::providers::rehearsal {
namespace {

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

std::string stem(std::string word) {
  if (word.size() > 5 && word.ends_with("ing")) word.resize(word.size() - 3);
  if (word.size() > 3 && word.ends_with("s") && !word.ends_with("ss")) word.resize(word.size() - 1);
  return word;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 36> synonyms{{
    {"find", "search"},       {"look", "search"},        {"locate", "search"},
    {"mention", "search"},    {"contain", "search"},     {"grep", "search"},
    {"open", "read"},         {"show", "read"},          {"print", "read"},
    {"display", "read"},      {"cat", "read"},           {"content", "read"},
    {"compute", "calculate"}, {"evaluate", "calculate"}, {"multiply", "calculate"},
    {"plus", "calculate"},    {"minu", "calculate"},     {"divide", "calculate"},
    {"sum", "add"},           {"clock", "time"},         {"hour", "time"},
    {"late", "time"},         {"date", "time"},          {"today", "time"},
    {"now", "current"},       {"directory", "list"},     {"folder", "list"},
    {"size", "info"},         {"large", "info"},         {"big", "info"},
    {"modified", "info"},     {"detail", "info"},        {"repeat", "echo"},
    {"say", "echo"},          {"fetch", "get"},          {"translate", "convert"},
}};

constexpr std::array<std::string_view, 62> fillers{
    "a",    "an",     "the",   "is",    "it",   "in",     "of",    "to",    "at",   "on",   "for",  "me",  "my",
    "what", "which",  "who",   "that",  "thi",  "these",  "those", "there", "are",  "was",  "be",   "do",  "doe",
    "can",  "could",  "would", "you",   "your", "please", "and",   "or",    "then", "with", "from", "by",  "how",
    "much", "many",   "when",  "where", "i",    "we",     "us",    "its",   "it's", "tell", "give", "use", "using",
    "tool", "return", "given", "one",   "all",  "any",    "into",  "as",    "if",   "will"};

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (is_upper(c)) c = static_cast<char>(c | 0x20);
  return out;
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> all;
  std::string word;
  auto flush = [&] {
    if (!word.empty()) all.push_back(stem(std::exchange(word, {})));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!is_word_char(c)) {
      flush();
      continue;
    }
    if (is_upper(c) && i > 0 && text[i - 1] >= 'a' && text[i - 1] <= 'z') flush();
    word += is_upper(c) ? static_cast<char>(c | 0x20) : c;
  }
  flush();
  return all;
}

bool is_filler(std::string_view word) {
  return std::find(fillers.begin(), fillers.end(), word) != fillers.end();
}

bool alike(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto least = std::min(a.size(), b.size());
  if (least < 4) return false;
  const auto common = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(least), b.begin()).first - a.begin());
  return common >= 4 && common * 10 >= least * 8 && common + 5 >= std::max(a.size(), b.size());
}

std::string_view tool_word(std::string_view word) {
  for (const auto& [said, meant] : synonyms)
    if (said == word) return meant;
  return {};
}

std::string_view own_name(std::string_view exposed) {
  const auto at = exposed.rfind("__");
  return at == std::string_view::npos || at + 2 >= exposed.size() ? exposed : exposed.substr(at + 2);
}

std::vector<std::string> clauses_of(std::string_view question) {
  std::vector<std::string> all;
  std::string clause;
  char quote = 0;
  auto flush = [&] {
    auto text = std::exchange(clause, {});
    const auto from = text.find_first_not_of(" \t\r\n,:");
    if (from == std::string::npos) return;
    text = text.substr(from, text.find_last_not_of(" \t\r\n,:") - from + 1);
    all.push_back(std::move(text));
  };
  auto ends_here = [&](std::size_t i) {
    return i + 1 >= question.size() || question[i + 1] == ' ' || question[i + 1] == '\n';
  };
  for (std::size_t i = 0; i < question.size(); ++i) {
    const char c = question[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '`' || (c == '\'' && (i == 0 || question[i - 1] == ' '))) {
      quote = c;
    } else if (((c == '.' || c == '?' || c == '!') && ends_here(i)) || c == ';' || c == '\n') {
      flush();
      continue;
    } else if (c == ' ') {
      const auto rest = lower(question.substr(i, 6));
      const std::size_t skip = rest.starts_with(" and ") ? 4 : rest.starts_with(" then ") ? 5 : 0;
      if (skip != 0) {
        flush();
        i += skip;
        continue;
      }
    }
    clause += c;
  }
  flush();
  return all;
}

double fit(std::string_view clause, std::string_view tool_name, std::string_view description) {
  const auto name_words = words_in(own_name(tool_name));
  // Use the first sentence of the description only: it names the purpose, the others explain details.
  const auto about_words = words_in(description.substr(0, description.find(". ")));
  std::vector<bool> used(name_words.size());
  double score = 0;
  std::vector<std::string> seen;
  for (const auto& word : words_in(clause)) {
    if (is_filler(word) || std::find(seen.begin(), seen.end(), word) != seen.end()) continue;
    seen.push_back(word);
    const auto meant = tool_word(word);
    double best = 0;
    for (std::size_t i = 0; i < name_words.size(); ++i) {
      const double points = alike(word, name_words[i]) ? 3 : !meant.empty() && alike(meant, name_words[i]) ? 2.5 : 0;
      if (points > 0) used[i] = true;
      best = std::max(best, points);
    }
    for (const auto& about : about_words)
      if (!is_filler(about) && (alike(word, about) || (!meant.empty() && alike(meant, about))))
        best = std::max(best, 1.0);
    score += best;
  }
  const auto covered = std::count(used.begin(), used.end(), true);
  if (covered > 0) score += 2.0 * static_cast<double>(covered) / static_cast<double>(name_words.size());
  return score;
}

}  // namespace mcpbx::providers::rehearsal
