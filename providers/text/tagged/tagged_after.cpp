// Reads the text behind a call: closing marks, separators, further calls of the same tag, or a sign that the call is
// incomplete.
#include "providers/text/marks/json_calls.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/minimax_marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::text {
namespace {

constexpr std::size_t max_looked_at = 512;  // largest number of bytes held back behind a call

// Returns true if `words` begins with a closing mark without its bracket. The bracket before `words` may be the missing
// one.
bool ends_like_mark(std::string_view words) {
  while (!words.empty() && std::string_view("<[").find(words.front()) == npos && !is_name_char(words.front()))
    words.remove_prefix(1);
  return std::ranges::any_of(closing_marks, [&](const closing_mark& mark) {
    const auto name = mark.text.substr(2, mark.text.size() - 3);
    return words.starts_with(name);
  });
}

}  // namespace

// Returns true if the blanks before `at` hold a line break.
bool tagged_parser::line_ends_before(std::size_t at) const {
  while (at > 0 && is_blank(held_[at - 1]))
    if (held_[--at] == '\n') return true;
  return false;
}

bool tagged_parser::in_after(bool last, parse_sink& sink) {
  const auto at = skip_blanks(held_, at_);
  gap_ = gap_ || at != at_;
  at_ = at;
  const auto rest = from(at);
  if (rest.empty()) return false;
  const char c = rest.front();
  if (form_ == form_harmony) {
    const auto message = after_harmony(last);
    if (message != match::no) return message == match::yes;
  }
  if (const auto found = match_minimax(rest); found.is == match::maybe && rest.starts_with(minimax_mark)) {
    if (last) at_ = held_.size();  // the reply ends behind the token
    return false;
  } else if (found.is == match::maybe && !last) {
    return false;
  } else if (found.is == match::yes) {
    if (found.kind == minimax_kind::invoke && in_tag_)
      open_minimax(at);
    else if (found.kind != minimax_kind::other)
      state_ = state::text;
    else
      at_ = at + found.size;
    return true;
  }
  if (form_ == form_dsml && c == '<') {
    const auto mark = match_dsml(rest);
    if (mark.is == match::maybe && !last) return false;
    const bool closes = mark.kind == dsml_kind::section_end || (mark.kind == dsml_kind::invoke_end && after_json_);
    if (mark.is == match::yes && closes) {
      in_tag_ = in_tag_ && mark.kind != dsml_kind::section_end;
      extra_ = after_json_ = false;
      at_ = at + mark.size;
      return true;
    }
    if (mark.is == match::yes && mark.kind == dsml_kind::invoke && in_tag_) {
      open_dsml(at);
      return true;
    }
    if (mark.is == match::yes && after_json_) {
      spoil(sink, "something follows the end of its object");
      return true;
    }
  }
  constexpr unsigned without_brackets =
      form_function | form_invoke | form_glm | form_dsml | form_harmony | form_gemma | form_minimax;
  const bool brackets = (form_ & without_brackets) == 0;
  if (in_tag_ && (c == '{' || c == '[') && brackets) {
    begin_json(at, at, use::calls);
    again_ = true;
    return true;
  }
  if (form_ == form_mistral && !in_tag_ && (c == '{' || c == '[')) {
    // An object without a name belongs to the call before it.
    const auto marked = c == '[' ? begins(rest, arguments_mark) : match::no;
    const auto next = marked == match::yes ? skip_blanks(rest, arguments_mark.size()) : 0;
    if ((marked == match::maybe || (next == rest.size() && next <= max_looked_at)) && !last) return false;
    if (marked == match::maybe) {
      at_ = held_.size();  // the reply ends inside it
      return false;
    }
    if (marked == match::yes && (next >= rest.size() || rest[next] != '{')) {
      at_ = at + arguments_mark.size();
      return true;
    }
    if (next < rest.size() && rest[next] == '{') {
      name_.clear();
      begin_json(at + next, at + next, marked == match::yes ? use::arguments : use::calls);
      again_ = true;
      return true;
    }
  }
  if ((c == '}' || c == ']') && extra_) {
    extra_ = false;
    at_ = at + 1;
    return true;
  }
  if (c == ';' && brackets) {
    at_ = at + 1;
    return true;
  }
  if (!in_tag_ && c == ',' && (form_ == form_bare || form_ == form_llama)) {
    // A comma between objects without a list around them.
    const auto next = skip_blanks(rest, 1);
    if (next == rest.size() && next <= max_looked_at && !last) return false;
    if (next < rest.size() && rest[next] == '{') {
      at_ = at + next;
      return true;
    }
  }
  if (in_tag_ && brackets && (c == ',' || c == ':' || c == '"')) {
    const auto next = skip_blanks(rest, 1);
    if (c == ',' && next == rest.size() && next <= max_looked_at && !last) return false;
    if (c == ',' && (next == rest.size() || rest[next] == '{')) {
      at_ = at + next;
      return true;
    }
    at_ = at;
    spoil(sink, "something follows the end of its object");
    return true;
  }
  if (c == '`' && (fenced_ || in_tag_)) {
    const auto found = begins(rest, fence_mark);
    if (found == match::maybe && !last) return false;
    if (found == match::yes) {
      fenced_ = false;
      at_ = at + fence_mark.size();
      return true;
    }
  }
  bool maybe = false;
  for (const auto& mark : closing_marks) {
    const auto found = match_mark(rest, mark);
    maybe = maybe || found.is == match::maybe;
    if (found.is != match::yes) continue;
    in_tag_ = in_tag_ && !mark.outer;
    extra_ = after_json_ = false;
    at_ = at + found.size;
    return true;
  }
  if (maybe && !last) return false;
  if (maybe && last && rest.size() > 1) {
    // The reply ends inside the closing mark.
    at_ = held_.size();
    return false;
  }
  if (form_ == form_mistral && is_name_char(c)) {
    // Further calls may follow without their own mark.
    std::size_t end = 0;
    while (end < rest.size() && is_name_char(rest[end]) && end <= 128) ++end;
    const auto found = begins(rest.substr(end), arguments_mark);
    if ((end == rest.size() || found == match::maybe) && !last) return false;
    const bool object = end < rest.size() && rest[end] == '{' && tools_.find(rest.substr(0, end)) != nullptr;
    if (found == match::yes || object) {
      mark_ = at_ = at;
      state_ = state::mistral;
      return true;
    }
  }
  if (after_json_ && use_ == use::python && is_name_char(c)) {
    // Several calls as a Python program.
    std::size_t end = 0;
    while (end < rest.size() && is_name_char(rest[end]) && end <= 128) ++end;
    if (end == rest.size() && !last) return false;
    if (end < rest.size() && rest[end] == '(' && tools_.find(python_callee(rest.substr(0, end))) != nullptr) {
      begin_json(at, at + end, use::python);
      again_ = true;
      return true;
    }
  }
  if (std::exchange(after_json_, false)) {
    // The text may be the rest of an object that ended too early. Within a tag nothing else touches an object.
    const bool touches = at > 0 && !is_blank(held_[at - 1]);
    const auto words = rest.substr(
        0, std::min(rest.substr(0, max_looked_at).find_first_of("\n<{[", touches && c != '{' ? 1 : 0), max_looked_at));
    if (words.size() == rest.size() && words.size() < max_looked_at && !last) {
      after_json_ = true;
      return false;
    }
    // Some forms hold one object and nothing else up to their own end.
    const bool alone = (form_ & (form_harmony | form_gemma | form_dsml)) != 0 && (in_tag_ || !line_ends_before(at));
    const bool in_calling = form_ == form_bare && use_ == use::called && extra_;
    if (alone || in_calling) {
      spoil(sink, "something follows the end of its object");
      return true;
    }
    if (words.find("\":") != npos || words.find('}') != npos ||
        (touches && (c == '"' || (in_tag_ && is_name_char(c)) || ends_like_mark(words)))) {
      spoil(sink, "something follows the end of its object");
      return true;
    }
  }
  // Words behind the object but inside its tag are not for people. The tag ends here all the same.
  in_tag_ = false;
  state_ = state::text;
  if (std::exchange(gap_, false) && pending_blanks_.empty()) visible("\n", sink);
  return true;
}

}  // namespace mcpbx::providers::text
