// Compares lines with the marks of ReAct byte by byte. A line that ends in the middle of a mark gives "maybe".
#include "providers/text/marks/react_marks.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::providers::text::marks {
namespace {

constexpr std::size_t max_blanks = 32, max_mark = 160;

struct named_mark {
  std::string_view words;  // "_" stands for any run of blanks, hyphens or underscores, or none
  react_mark mark;
};
constexpr std::array<named_mark, 5> marks{{{"action_input", react_mark::input},
                                           {"action", react_mark::action},
                                           {"thought", react_mark::thought},
                                           {"observation", react_mark::observation},
                                           {"final_answer", react_mark::answer}}};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// Returns the position behind `words`; npos: they are not there; text.size() + 1: the text ends too early.
std::size_t after_words(std::string_view text, std::size_t at, std::string_view words) {
  for (const char w : words) {
    if (w == '_') {
      while (at < text.size() && (text[at] == ' ' || text[at] == '_' || text[at] == '-')) ++at;
      continue;
    }
    if (at >= text.size()) return text.size() + 1;
    if (lower(text[at]) != w) return std::string_view::npos;
    ++at;
  }
  return at;
}

react_match match_one(std::string_view line, std::size_t at, const named_mark& m, bool last, bool observation_alone) {
  constexpr react_match no, maybe{match::maybe};
  const react_match undecided = last ? no : maybe;
  at = after_words(line, at, m.words);
  if (at == std::string_view::npos) return no;
  if (at > line.size()) return undecided;
  if (m.mark == react_mark::observation && observation_alone) {
    if (at == line.size()) return last ? react_match{match::yes, m.mark, at} : maybe;
    if (!is_letter(line[at])) return {match::yes, m.mark, at};
    return no;
  }
  // " 1", then bold marks, then a colon, then bold marks.
  const auto limit = at + max_blanks;
  while (at < line.size() &&
         (line[at] == ' ' || line[at] == '*' || line[at] == '_' || (line[at] >= '0' && line[at] <= '9')))
    ++at;
  if (at > limit) return no;
  if (at == line.size()) return undecided;
  // "Action Input {…}"
  if (m.mark == react_mark::input && line[at] == '{') return {match::yes, m.mark, at};
  constexpr std::string_view wide = "\xEF\xBC\x9A";
  if (line[at] == ':') {
    ++at;
  } else {
    const auto colon = begins(line.substr(at), wide);
    if (colon == match::maybe) return undecided;
    if (colon == match::no) return no;
    at += wide.size();
  }
  while (at < line.size() && (line[at] == '*' || line[at] == ':')) ++at;
  if (at == line.size() && !last) return maybe;
  return {match::yes, m.mark, at};
}

// Recognises "Observation" cut in its middle, alone on its line: some servers stop inside the stop sequence.
react_match match_cut_observation(std::string_view line, std::size_t at, bool last) {
  constexpr std::string_view whole = "observation";
  constexpr std::size_t least = 6;
  const auto begin = at;
  while (at < line.size() && at - begin < whole.size() && lower(line[at]) == whole[at - begin]) ++at;
  if (at - begin < least || at - begin == whole.size()) return {};
  const bool alone = at == line.size() ? last : line[at] == '\n' || line[at] == '\r';
  return alone ? react_match{match::yes, react_mark::observation, at} : react_match{};
}

}  // namespace

react_match match_answer_mark(std::string_view line) {
  const auto at = std::min(line.find_first_not_of(" \t*#_"), line.size());
  return match_one(line, at, {"answer", react_mark::answer}, true, false);
}

react_match match_react_mark(std::string_view line, bool last, bool observation_alone) {
  std::size_t at = 0;
  // An item of a list, and not bold.
  if (const auto star = line.find_first_not_of(" \t"); star < max_blanks && line[star] == '*') {
    if (star + 1 == line.size() && !last) return {match::maybe};
    if (star + 1 < line.size() && (line[star + 1] == ' ' || line[star + 1] == '\t')) return {};
  }
  while (at < line.size() &&
         (line[at] == ' ' || line[at] == '\t' || line[at] == '*' || line[at] == '#' || line[at] == '_'))
    ++at;
  if (at > max_blanks) return {};
  if (at == line.size()) return {last ? match::no : match::maybe};
  if (observation_alone)
    if (const auto cut = match_cut_observation(line, at, last); cut.is == match::yes) return cut;
  bool maybe = false;
  for (const auto& m : marks) {
    const auto found = match_one(line, at, m, last, observation_alone);
    if (found.is == match::yes) return found;
    maybe = maybe || found.is == match::maybe;
  }
  // A longer line can be no mark, however it is spaced.
  return {maybe && line.size() < max_mark ? match::maybe : match::no};
}

}  // namespace mcpbx::providers::text::marks
