// Reads the text behind a call: closing marks, separators, further calls of the same tag, or a sign that the call is
// incomplete.
#include "providers/text/marks/json_calls.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/minimax_marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::text::tagged {
namespace {

constexpr std::size_t max_looked_at = 512;  // largest number of bytes held back behind a call

// Returns true if `words` begins with a closing mark without its bracket. The bracket before `words` may be the missing
// one.
bool ends_like_mark(std::string_view words) {
  while (!words.empty() && std::string_view("<[").find(words.front()) == marks::npos &&
         !marks::is_name_char(words.front()))
    words.remove_prefix(1);
  return std::ranges::any_of(marks::closing_marks, [&](const marks::closing_mark& mark) {
    const auto name = mark.text.substr(2, mark.text.size() - 3);
    return words.starts_with(name);
  });
}

}  // namespace

// Returns true if the blanks before `at` hold a line break.
bool tagged_parser::line_ends_before(std::size_t at) const {
  while (at > 0 && marks::is_blank(held_[at - 1]))
    if (held_[--at] == '\n') return true;
  return false;
}

bool tagged_parser::in_after(bool last, marks::parse_sink& sink) {
  const auto at = marks::skip_blanks(held_, at_);
  gap_ = gap_ || at != at_;
  at_ = at;
  const auto rest = from(at);
  if (rest.empty()) return false;
  const char c = rest.front();
  if (form_ == marks::form_harmony) {
    const auto message = after_harmony(last);
    if (message != marks::match::no) return message == marks::match::yes;
  }
  if (const auto found = marks::match_minimax(rest);
      found.is == marks::match::maybe && rest.starts_with(marks::minimax_mark)) {
    if (last) at_ = held_.size();  // the reply ends behind the token
    return false;
  } else if (found.is == marks::match::maybe && !last) {
    return false;
  } else if (found.is == marks::match::yes) {
    if (found.kind == marks::minimax_kind::invoke && in_tag_)
      open_minimax(at);
    else if (found.kind != marks::minimax_kind::other)
      state_ = state::text;
    else
      at_ = at + found.size;
    return true;
  }
  if (form_ == marks::form_dsml && c == '<') {
    const auto mark = marks::match_dsml(rest);
    if (mark.is == marks::match::maybe && !last) return false;
    const bool closes =
        mark.kind == marks::dsml_kind::section_end || (mark.kind == marks::dsml_kind::invoke_end && after_json_);
    if (mark.is == marks::match::yes && closes) {
      in_tag_ = in_tag_ && mark.kind != marks::dsml_kind::section_end;
      extra_ = after_json_ = false;
      at_ = at + mark.size;
      return true;
    }
    if (mark.is == marks::match::yes && mark.kind == marks::dsml_kind::invoke && in_tag_) {
      open_dsml(at);
      return true;
    }
    if (mark.is == marks::match::yes && after_json_) {
      spoil(sink, "something follows the end of its object");
      return true;
    }
  }
  constexpr unsigned without_brackets = marks::form_function | marks::form_invoke | marks::form_glm | marks::form_dsml |
                                        marks::form_harmony | marks::form_gemma | marks::form_minimax;
  const bool brackets = (form_ & without_brackets) == 0;
  if (in_tag_ && (c == '{' || c == '[') && brackets) {
    begin_json(at, at, use::calls);
    again_ = true;
    return true;
  }
  if (form_ == marks::form_mistral && !in_tag_ && (c == '{' || c == '[')) {
    // An object without a name belongs to the call before it.
    const auto marked = c == '[' ? marks::begins(rest, marks::arguments_mark) : marks::match::no;
    const auto next = marked == marks::match::yes ? marks::skip_blanks(rest, marks::arguments_mark.size()) : 0;
    if ((marked == marks::match::maybe || (next == rest.size() && next <= max_looked_at)) && !last) return false;
    if (marked == marks::match::maybe) {
      at_ = held_.size();  // the reply ends inside it
      return false;
    }
    if (marked == marks::match::yes && (next >= rest.size() || rest[next] != '{')) {
      at_ = at + marks::arguments_mark.size();
      return true;
    }
    if (next < rest.size() && rest[next] == '{') {
      name_.clear();
      begin_json(at + next, at + next, marked == marks::match::yes ? use::arguments : use::calls);
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
  if (!in_tag_ && c == ',' && (form_ == marks::form_bare || form_ == marks::form_llama)) {
    // A comma between objects without a list around them.
    const auto next = marks::skip_blanks(rest, 1);
    if (next == rest.size() && next <= max_looked_at && !last) return false;
    if (next < rest.size() && rest[next] == '{') {
      at_ = at + next;
      return true;
    }
  }
  if (in_tag_ && brackets && (c == ',' || c == ':' || c == '"')) {
    const auto next = marks::skip_blanks(rest, 1);
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
    const auto found = marks::begins(rest, marks::fence_mark);
    if (found == marks::match::maybe && !last) return false;
    if (found == marks::match::yes) {
      fenced_ = false;
      at_ = at + marks::fence_mark.size();
      return true;
    }
  }
  bool maybe = false;
  for (const auto& mark : marks::closing_marks) {
    const auto found = marks::match_mark(rest, mark);
    maybe = maybe || found.is == marks::match::maybe;
    if (found.is != marks::match::yes) continue;
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
  if (form_ == marks::form_mistral && marks::is_name_char(c)) {
    // Further calls may follow without their own mark.
    std::size_t end = 0;
    while (end < rest.size() && marks::is_name_char(rest[end]) && end <= 128) ++end;
    const auto found = marks::begins(rest.substr(end), marks::arguments_mark);
    if ((end == rest.size() || found == marks::match::maybe) && !last) return false;
    const bool object = end < rest.size() && rest[end] == '{' && tools_.find(rest.substr(0, end)) != nullptr;
    if (found == marks::match::yes || object) {
      mark_ = at_ = at;
      state_ = state::mistral;
      return true;
    }
  }
  if (after_json_ && use_ == use::python && marks::is_name_char(c)) {
    // Several calls as a Python program.
    std::size_t end = 0;
    while (end < rest.size() && marks::is_name_char(rest[end]) && end <= 128) ++end;
    if (end == rest.size() && !last) return false;
    if (end < rest.size() && rest[end] == '(' && tools_.find(marks::python_callee(rest.substr(0, end))) != nullptr) {
      begin_json(at, at + end, use::python);
      again_ = true;
      return true;
    }
  }
  if (std::exchange(after_json_, false)) {
    // The text may be the rest of an object that ended too early. Within a tag nothing else touches an object.
    const bool touches = at > 0 && !marks::is_blank(held_[at - 1]);
    const auto words = rest.substr(
        0, std::min(rest.substr(0, max_looked_at).find_first_of("\n<{[", touches && c != '{' ? 1 : 0), max_looked_at));
    if (words.size() == rest.size() && words.size() < max_looked_at && !last) {
      after_json_ = true;
      return false;
    }
    // Some forms hold one object and nothing else up to their own end.
    const bool alone = (form_ & (marks::form_harmony | marks::form_gemma | marks::form_dsml)) != 0 &&
                       (in_tag_ || !line_ends_before(at));
    const bool in_calling = form_ == marks::form_bare && use_ == use::called && extra_;
    if (alone || in_calling) {
      spoil(sink, "something follows the end of its object");
      return true;
    }
    if (words.find("\":") != marks::npos || words.find('}') != marks::npos ||
        (touches && (c == '"' || (in_tag_ && marks::is_name_char(c)) || ends_like_mark(words)))) {
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

}  // namespace mcpbx::providers::text::tagged
