// One table for all verbs: the parameters that they send, and the options that give them.
#include "daemon/cli/base/option_words.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::cli {
namespace {

struct row {
  std::string_view parameter;
  std::array<std::string_view, 2> options;  // names of given_option; the first one that was given
  bool is_sentence = false;                 // refusals of a value that was not given need no subject
};

// A longer parameter stands before one that it begins with.
constexpr row table[] = {
    {"limits.maxRounds", {"--max-rounds"}},
    {"model", {"--model", "NAME"}, true},
    {"profile", {"--profile"}, true},
    {"system", {"--system"}},
    {"tools", {"--tools"}},
    {"input", {"TEXT"}},
    {"messages", {"TEXT"}},
    {"session", {"--session", "ID"}},
    {"run", {"--run", "RUN"}},
    {"status", {"--status"}},
    {"approve", {"--approve"}},
    {"responseFormat", {"--schema"}},
    {"clientTools", {"--client-tools"}},
    {"prompt", {"--prompt"}},
    {"resources", {"--resource"}},
    {"after", {"--after"}},
    {"limit", {"--limit"}},
    {"lines", {"--lines"}},
    {"words", {"ID"}},
    {"name", {"NAME"}},
    {"server", {"NAME", "SERVER"}},
    {"principal", {"--for"}},
    {"tool", {"TOOL"}},
    {"pattern", {"GLOB"}},
    {"format", {"--format"}},
    {"search", {"--search"}},
    {"uri", {"URI"}},
    {"sha256", {"--sha256"}},
    {"days", {"--days"}},
    {"by", {"--by"}},
};

bool is_path(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '[' ||
           c == ']' || c == '_';
  });
}

// Returns true for a parameter, and for a member or an element of it.
bool is_in(std::string_view place, std::string_view parameter) {
  return place.starts_with(parameter) &&
         (place.size() == parameter.size() || place[parameter.size()] == '.' || place[parameter.size()] == '[');
}

}  // namespace

std::string in_option_words(std::string sentence, std::span<const given_option> given) {
  constexpr std::string_view begin = "params.";
  const auto colon = sentence.find(": ");
  if (!sentence.starts_with(begin) || colon == std::string::npos) return sentence;
  const auto place = std::string_view(sentence).substr(begin.size(), colon - begin.size());
  if (!is_path(place)) return sentence;
  const auto known = std::ranges::find_if(table, [&](const row& r) { return is_in(place, r.parameter); });
  if (known == std::end(table)) return sentence.erase(0, begin.size());
  for (const auto name : known->options)
    if (const auto found = std::ranges::find(given, name, &given_option::name); !name.empty() && found != given.end())
      return sentence.replace(0, colon, found->shown);
  return sentence.erase(0, known->is_sentence ? colon + 2 : begin.size());
}

}  // namespace mcpbx::cli
