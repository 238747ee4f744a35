// Reads scalars. Each has one meaning or is refused.
#include "providers/model/json_scalars.hpp"

#include "providers/model/json_strings.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::providers::json_scalars {

using namespace mcpbx::providers::json_strings;

scalar read_number(std::string_view text, number_form form) {
  scalar out;
  std::size_t at = 0, begin = 0;
  const auto peek = [&](std::size_t more = 0) { return at + more < text.size() ? text[at + more] : '\0'; };
  const bool python = form == number_form::python;
  const auto add_zero = [&] {
    out.json += text.substr(begin, at - begin);
    out.json += '0';
    begin = at;
    out.note = "number without a zero";
  };
  const auto digits = [&] {
    const auto from = at;
    while (is_digit(peek())) ++at;
    return at - from;
  };
  if (peek() == '-') ++at;
  const bool zero = peek() == '0';
  const auto whole = digits();
  const bool starts_with_point = python && whole == 0 && peek() == '.' && is_digit(peek(1));
  if (starts_with_point) add_zero();
  bool good = starts_with_point || whole == 1 || (whole > 1 && !zero);
  if (good && peek() == '.') {
    ++at;
    good = digits() > 0 || python;
    if (good && text[at - 1] == '.') add_zero();
  }
  if (good && (peek() == 'e' || peek() == 'E')) {
    ++at;
    if (peek() == '+' || peek() == '-') ++at;
    good = digits() > 0;
  }
  // A number at the end of the text may go on.
  const bool ended = at >= text.size();
  if (!good || ended || is_word(peek()) || peek() == '.' || peek() == '+')
    return {.size = at, .fault = ended ? "a number is not complete" : "a number is not written as in JSON"};
  out.json += text.substr(begin, at - begin);
  out.size = at;
  return out;
}

scalar read_literal(std::string_view text) {
  struct meaning {
    std::string_view word, json;
  };
  static constexpr std::array<meaning, 7> known{{{"true", "true"},
                                                 {"false", "false"},
                                                 {"null", "null"},
                                                 {"True", "true"},
                                                 {"False", "false"},
                                                 {"None", "null"},
                                                 {"undefined", "null"}}};
  const auto* const end = std::ranges::find_if_not(text, is_word);
  const auto word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  const auto* const found = std::ranges::find(known, word, &meaning::word);
  if (found == known.end() || word.size() == text.size())
    return {.fault = "a value is neither quoted nor a number, true, false or null"};
  return {.size = word.size(),
          .json = std::string(found->json),
          .note = found->word == found->json ? "" : "literal of another language"};
}

}  // namespace mcpbx::providers::json_scalars
