// Recognises refusals of endpoints that support no tools at all. Many other errors contain the word: the name of a
// model, a member of one definition, parallel calls. So tools must be the very thing that the sentence denies.
#include "providers/call/text_tools_model.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::call {
namespace {

using words = std::vector<std::string>;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '[' || c == ']' ||
         c == '/';
}

// Splits a text into lower-case words; "n't" becomes "not", and "." ends a sentence. Names such as "tools.0.custom" and
// "my-tool-model" stay one word.
words split_words(std::string_view text) {
  words all;
  std::string word;
  const auto end_word = [&] {
    const bool last = word.ends_with('.');
    while (word.ends_with('.')) word.pop_back();
    if (!word.empty()) all.push_back(word);
    if (last) all.emplace_back(".");
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] | 0x20) : text[i];
    if (c == '\'' && word.ends_with('n') && text.substr(i + 1).starts_with('t')) {
      word.pop_back();
      end_word();
      word = "not";
      ++i;
    } else if (is_letter(c)) {
      word += c;
    } else {
      end_word();
    }
  }
  end_word();
  return all;
}

struct sentence_reader {
  const words& all;
  std::string_view at(std::size_t i) const { return i < all.size() ? std::string_view(all[i]) : "."; }
  bool is(std::size_t i, std::initializer_list<std::string_view> any) const {
    return std::ranges::find(any, at(i)) != any.end();
  }

  // Returns true if the word at `i` means tools as such, not a kind of tool or a way to call them.
  bool names_tools(std::size_t i) const {
    if (i > 0 && is(i - 1, {"parallel", "strict", "multiple", "streaming", "custom", "built-in", "server"}))
      return false;
    if (is(i, {"tools", "functions", "tool_use", "tool-use", "tool_calling", "tool-calling", "function_calling",
               "function-calling"}))
      return true;
    return (at(i) == "tool" && is(i + 1, {"use", "usage", "call", "calls", "calling", "choice", "support"})) ||
           (at(i) == "function" && is(i + 1, {"call", "calls", "calling"}));
  }
  // "tools are not supported", "tool choice requires --jinja"
  bool refused_behind(std::size_t i) const {
    for (++i; is(i, {"is", "are", "be", "use", "usage", "call", "calls", "calling", "choice", "support", "param",
                     "parameter", "parameters", "field", "feature", "currently"});)
      ++i;
    if (at(i) == "not") return is(i + 1, {"supported", "allowed", "available", "enabled", "permitted", "implemented"});
    return is(i, {"unsupported", "disabled"}) || (at(i) == "extra" && at(i + 1) == "inputs") ||
           (is(i, {"require", "requires"}) && at(i + 1).starts_with("--"));
  }
  // "does not support tools", "unknown field: tools"
  bool refused_before(std::size_t i) const {
    if (is(i + 1, {"choice", "message", "messages", "result", "results"})) return false;
    bool a_member = false;
    while (i > 0 && is(i - 1, {"the", "any", "of", "use", "using", "native", "request", "supplied", "parameter",
                               "parameters", "param", "field", "name", "argument", "arguments"})) {
      --i;
      a_member = a_member || !is(i, {"the", "any", "of", "use", "using", "native", "request", "supplied"});
    }
    if (i == 0) return false;
    if (is(i - 1, {"support", "supports"})) return true;
    if (is(i - 1, {"unsupported", "unknown", "unrecognized", "unexpected"})) return a_member;
    return i > 1 && at(i - 2) == "not" && is(i - 1, {"supported", "allowed", "permitted", "enabled"});
  }
};

}  // namespace

bool says_no_tools(const model_error& e) {
  if (e.http_status < 400 || e.http_status == 401 || e.http_status == 402 || e.http_status == 403 ||
      e.http_status == 408 || e.http_status == 429)
    return false;
  const auto all = split_words(e.message);
  const sentence_reader said{all};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (said.names_tools(i) && (said.refused_behind(i) || said.refused_before(i))) return true;
  return false;
}

}  // namespace mcpbx::providers::call
