// Recognises material for arguments by its form.
#include "providers/rehearsal/clause_findings.hpp"

#include "mcp/json/raw_json.hpp"
#include "providers/rehearsal/question_words.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace mcpbx::providers::rehearsal {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alpha(char c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 44> cities{{
    {"tokyo", "Asia/Tokyo"},
    {"osaka", "Asia/Tokyo"},
    {"japan", "Asia/Tokyo"},
    {"seoul", "Asia/Seoul"},
    {"beijing", "Asia/Shanghai"},
    {"shanghai", "Asia/Shanghai"},
    {"hong kong", "Asia/Hong_Kong"},
    {"singapore", "Asia/Singapore"},
    {"bangkok", "Asia/Bangkok"},
    {"delhi", "Asia/Kolkata"},
    {"mumbai", "Asia/Kolkata"},
    {"india", "Asia/Kolkata"},
    {"dubai", "Asia/Dubai"},
    {"istanbul", "Europe/Istanbul"},
    {"moscow", "Europe/Moscow"},
    {"kyiv", "Europe/Kyiv"},
    {"warsaw", "Europe/Warsaw"},
    {"berlin", "Europe/Berlin"},
    {"vienna", "Europe/Vienna"},
    {"zurich", "Europe/Zurich"},
    {"rome", "Europe/Rome"},
    {"madrid", "Europe/Madrid"},
    {"paris", "Europe/Paris"},
    {"amsterdam", "Europe/Amsterdam"},
    {"brussels", "Europe/Brussels"},
    {"london", "Europe/London"},
    {"dublin", "Europe/Dublin"},
    {"lisbon", "Europe/Lisbon"},
    {"stockholm", "Europe/Stockholm"},
    {"oslo", "Europe/Oslo"},
    {"helsinki", "Europe/Helsinki"},
    {"athens", "Europe/Athens"},
    {"cairo", "Africa/Cairo"},
    {"lagos", "Africa/Lagos"},
    {"nairobi", "Africa/Nairobi"},
    {"new york", "America/New_York"},
    {"toronto", "America/Toronto"},
    {"chicago", "America/Chicago"},
    {"denver", "America/Denver"},
    {"los angeles", "America/Los_Angeles"},
    {"san francisco", "America/Los_Angeles"},
    {"sao paulo", "America/Sao_Paulo"},
    {"sydney", "Australia/Sydney"},
    {"auckland", "Pacific/Auckland"},
}};

std::vector<std::string_view> split_blanks(std::string_view text) {
  std::vector<std::string_view> all;
  while (true) {
    const auto from = text.find_first_not_of(" \t\r\n");
    if (from == std::string_view::npos) return all;
    text.remove_prefix(from);
    const auto end = std::min(text.find_first_of(" \t\r\n"), text.size());
    all.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string_view stripped(std::string_view token) {
  constexpr std::string_view around = "\"'`,;:!?()[]{}<>";
  while (!token.empty() && around.find(token.front()) != std::string_view::npos) token.remove_prefix(1);
  while (!token.empty() && (around.find(token.back()) != std::string_view::npos || token.back() == '.'))
    token.remove_suffix(1);
  return token;
}

bool is_path(std::string_view t) {
  if (t.size() < 3 || t.find("://") != std::string_view::npos || t.find_first_of("*+=|") != std::string_view::npos)
    return false;
  const auto slash = t.find('/');
  if (slash != std::string_view::npos)
    return std::any_of(t.begin(), t.end(), is_alpha) && !(is_digit(t.front()) && is_digit(t.back()));
  const auto dot = t.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == t.size() || t.size() - dot > 6) return false;
  const auto extension = t.substr(dot + 1);
  return std::all_of(extension.begin(), extension.end(), [](char c) { return is_alpha(c) || is_digit(c); }) &&
         std::any_of(t.begin(), t.end(), is_alpha) && is_alpha(extension.front());
}

void find_quoted(std::string_view text, std::vector<std::string>& out) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> quotes{
      {{"\"", "\""}, {"`", "`"}, {"“", "”"}, {"«", "»"}, {"'", "'"}}};
  for (std::size_t i = 0; i < text.size(); ++i)
    for (const auto& [open, close] : quotes) {
      if (!text.substr(i).starts_with(open)) continue;
      // An apostrophe is a quote only at the beginning of a word.
      if (open == "'" && i > 0 && text[i - 1] != ' ') continue;
      const auto end = text.find(close, i + open.size());
      if (end == std::string_view::npos) continue;
      out.emplace_back(text.substr(i + open.size(), end - i - open.size()));
      i = end + close.size() - 1;
      break;
    }
}

// Returns the longest run of characters that looks like arithmetic.
std::string find_expression(std::string_view text) {
  std::string best;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i]) && text[i] != '(' && text[i] != '-') {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() &&
           (is_digit(text[end]) || std::string_view("+-*/%^(). ").find(text[end]) != std::string_view::npos))
      ++end;
    auto run = text.substr(i, end - i);
    while (!run.empty() && (run.back() == ' ' || run.back() == '.')) run.remove_suffix(1);
    const bool dated = run.size() >= 8 && std::count(run.begin(), run.end(), '-') == 2 &&
                       run.find_first_of("+*/(^ ") == std::string_view::npos;
    const auto op = run.find_first_of("+-*/%^", 1);
    if (!dated && op != std::string_view::npos &&
        is_digit(run[std::min(run.find_first_not_of("( -"), run.size() - 1)]) &&
        (is_digit(run.back()) || run.back() == ')') && run.size() > best.size())
      best = run;
    i = end;
  }
  return best;
}

void find_times(const std::vector<std::string_view>& tokens, findings& f) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto t = stripped(tokens[i]);
    if (t.size() == 10 && t[4] == '-' && t[7] == '-' && is_digit(t[0])) f.times.emplace_back(t);
    if (t.size() > 10 && t[4] == '-' && t[7] == '-' && t[10] == 'T') f.times.emplace_back(t);
    if (t.empty() || !is_digit(t.front())) continue;
    std::size_t digits = 0;
    while (digits < t.size() && is_digit(t[digits])) ++digits;
    if (digits > 2) continue;
    int hour = std::stoi(std::string(t.substr(0, digits))), minute = 0;
    auto rest = t.substr(digits);
    bool clock = false;
    if (rest.size() >= 3 && rest[0] == ':' && is_digit(rest[1]) && is_digit(rest[2])) {
      minute = std::stoi(std::string(rest.substr(1, 2)));
      rest.remove_prefix(3);
      clock = true;
    }
    auto half = lower(rest.empty() && i + 1 < tokens.size() ? stripped(tokens[i + 1]) : rest);
    std::erase(half, '.');
    if (half == "pm" || half == "am") {
      clock = true;
      hour = hour % 12 + (half == "pm" ? 12 : 0);
    }
    if (!clock || hour > 23 || minute > 59) continue;
    f.times.push_back(std::string(hour < 10 ? "0" : "") + std::to_string(hour) + (minute < 10 ? ":0" : ":") +
                      std::to_string(minute));
  }
}

void find_zones(std::string_view text, findings& f) {
  std::vector<std::pair<std::size_t, std::pair<std::string, std::string>>> found;  // position, zone, as written
  const auto low = lower(text);
  for (const auto& [city, zone] : cities)
    for (auto at = low.find(city); at != std::string::npos; at = low.find(city, at + 1)) {
      const bool word =
          (at == 0 || !is_alpha(low[at - 1])) && (at + city.size() == low.size() || !is_alpha(low[at + city.size()]));
      const bool in_zone = at > 0 && low[at - 1] == '/';
      if (word && !in_zone) found.push_back({at, {std::string(zone), std::string(text.substr(at, city.size()))}});
    }
  for (const auto token : split_blanks(text)) {
    const auto t = stripped(token);
    const auto at = static_cast<std::size_t>(t.data() - text.data());
    const auto slash = t.find('/');
    if (t == "UTC" || t == "GMT") {
      found.push_back({at, {std::string(t), std::string(t)}});
    } else if (slash != std::string_view::npos && slash > 2 && slash + 1 < t.size() && t.front() >= 'A' &&
               t.front() <= 'Z' && t[slash + 1] >= 'A' && t[slash + 1] <= 'Z' &&
               t.find('.') == std::string_view::npos) {
      found.push_back({at, {std::string(t), std::string(t)}});
    }
  }
  std::sort(found.begin(), found.end());
  for (auto& [at, names] : found) {
    f.zones.push_back(std::move(names.first));
    f.cities.push_back(std::move(names.second));
  }
}

// Returns the text behind the first of `marks`, up to the next preposition.
std::string after(std::string_view text, std::initializer_list<std::string_view> marks) {
  const auto padded = " " + lower(text) + " ";
  for (const auto mark : marks) {
    const auto at = padded.find(mark);
    if (at == std::string::npos) continue;
    const auto from = at + mark.size() - 1;  // position in `text`, which lacks the leading blank
    if (from >= text.size()) continue;
    auto rest = text.substr(from);
    for (const auto* stop : {", ", " in the ", " in ", " from ", " with "}) rest = rest.substr(0, rest.find(stop));
    for (const auto* article : {"the ", "a ", "an "})
      if (rest.starts_with(article)) rest.remove_prefix(std::string_view(article).size());
    rest = stripped(rest);
    const auto word = lower(rest);
    if (word == "it" || word == "them" || word == "that" || word == "this" || word == "me") continue;
    if (!rest.empty()) return std::string(rest);
  }
  return {};
}

}  // namespace

findings find_in(std::string_view clause) {
  findings f;
  f.clause = clause;
  find_quoted(clause, f.quoted);
  f.expression = find_expression(clause);
  f.subject = after(clause, {" mentioning ", " mentions ", " mention ", " containing ", " contains ", " contain ",
                             " about ", " echo ", " say ", " search for ", " look for ", " for "});
  f.called = after(clause, {" called ", " named "});
  find_zones(clause, f);
  const auto tokens = split_blanks(clause);
  find_times(tokens, f);
  for (const auto token : tokens) {
    const auto t = stripped(token);
    if (t.find("://") != std::string_view::npos)
      f.urls.emplace_back(t);
    else if (is_path(t) && std::find(f.zones.begin(), f.zones.end(), t) == f.zones.end())
      f.paths.emplace_back(t);
    if (t.find('*') != std::string_view::npos && t.find('.') != std::string_view::npos) f.called = t;
    const auto number = json::raw_json::parse(t);
    if (number && number->type() == json::raw_json::kind::number) f.numbers.emplace_back(t);
  }
  const auto all = words_in(clause);
  for (const auto word : {"it", "them", "that", "thi", "result", "first", "found"})
    f.points_back = f.points_back || std::find(all.begin(), all.end(), word) != all.end();
  return f;
}

std::vector<std::string> paths_in(std::string_view text) {
  std::vector<std::string> all;
  std::string plain(text);
  // JSON texts and "path:line: text" lines are split into their words.
  for (char& c : plain)
    if (c == '"' || c == ',' || c == ':' || c == '\\') c = ' ';
  for (const auto token : split_blanks(plain)) {
    const auto t = stripped(token);
    if (is_path(t) && std::find(all.begin(), all.end(), t) == all.end()) all.emplace_back(t);
  }
  return all;
}

}  // namespace mcpbx::providers::rehearsal
