// Reads GLM's calls. Values have neither quotes nor escapes, and each mark is one token, which these models lose or
// double as a whole. So a closing mark counts only if a possible continuation follows it, and a value that contains
// other marks of the form is refused: it may be two values whose border was lost.
#include "providers/text/tagged/glm_call.hpp"

#include "mcp/support/log.hpp"
#include "providers/text/marks/distance.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::providers::text::tagged {
namespace {

using outcome = glm_call::outcome;
constexpr std::size_t longest_glm_name = 128;
constexpr std::size_t max_key = 512;  // largest key in bytes, up to its closing mark
constexpr std::string_view key_mark = "<arg_key>", key_end = "</arg_key>", value_mark = "<arg_value>",
                           value_end = "</arg_value>", call_mark = "<tool_call>";
constexpr std::array<std::string_view, 4> own_marks{key_mark, key_end, value_mark, value_end};
constexpr std::array<std::string_view, 2> next_marks{key_mark, call_mark};

// Finds a mark at the beginning of `s` that closes the mark around calls.
marks::match begins_end(std::string_view s) {
  if (s.starts_with('<'))
    if (const auto some = marks::begins_some_mark(s); some != marks::match::yes) return some;
  auto found = marks::match::no;
  for (const auto& mark : marks::closing_marks) {
    if (!mark.outer) continue;
    const auto one = marks::match_mark(s, mark).is;
    if (one == marks::match::yes) return one;
    if (one == marks::match::maybe) found = one;
  }
  return found;
}

// Finds a possible continuation behind a pair: the next pair, the end of the call, or another call.
marks::match begins_next(std::string_view s) {
  const auto closed = begins_end(s);
  if (closed == marks::match::yes) return closed;
  const auto next = marks::begins_any(s, next_marks);
  return next != marks::match::no ? next : closed;
}

// Returns true if a value begins with the rest of an opening mark: its end, or the whole mark with some bytes changed.
bool begins_in_damage(std::string_view value) {
  for (std::size_t i = 1; i < value_mark.size(); ++i)
    if (value.starts_with(value_mark.substr(i))) return true;
  return marks::holds_nearly<5>(value.substr(0, value_mark.size() + 3), value_mark);
}

// Returns true if a value contains a border of two values whose marks are both damaged. A value with a whole mark is
// refused anyway.
bool holds_changed_pair(std::string_view value) {
  marks::near_to<6> border("</arg_value><arg_key>");
  return std::ranges::any_of(value, [&](char c) { return !marks::is_blank(c) && border.feed(c); });
}

// Returns true if a pair with a damaged first mark may begin here.
bool begins_near_key(std::string_view text) {
  return marks::holds_nearly<4>(text.substr(0, key_mark.size() + 3), key_mark);
}

}  // namespace

glm_call::outcome glm_call::advance(std::string_view in, bool last) {
  for (auto now = outcome::again;;) {
    switch (part_) {
      case part::head:
        now = head(in, last);
        break;
      case part::between:
        now = between(in, last);
        break;
      case part::key:
        now = key(in);
        break;
      case part::opening:
        now = opening(in);
        break;
      case part::value:
        now = value(in, last);
        break;
    }
    if (now != outcome::again) return now;
  }
}

// Marks the call as broken. Reading goes on to its end, because people should not see its content.
glm_call::outcome glm_call::spoil(std::size_t at, const char* why) {
  if (broken_ == nullptr) broken_ = why;
  at_ = at;
  part_ = part::between;
  return outcome::again;
}

glm_call::outcome glm_call::head(std::string_view in, bool last) {
  std::size_t end = 0;
  while (end < in.size() && marks::is_name_char(in[end])) ++end;
  if (end == 0 || end > longest_glm_name) return outcome::none;
  name_ = in.substr(0, end);
  const auto* tool = tools_->find(name_);
  // A reply that is cut off in or behind the name of a tool was going to be a call.
  const auto* all = tools_->set();
  const bool named =
      tool != nullptr || (end == in.size() && all != nullptr &&
                          std::ranges::any_of(all->tools, [&](const auto& t) { return t.name.starts_with(name_); }));
  const auto cut = !last || named ? outcome::more : outcome::none;
  const auto at = marks::behind_blanks(in, end);
  if (at == marks::npos) return cut;
  const auto rest = in.substr(at);
  bool maybe = false;
  if (const auto* mark = marks::first_of(rest, own_marks, maybe)) {
    // One model family writes the end mark of a value behind the name of a tool without arguments.
    if (*mark == value_end && marks::takes_nothing(tool)) {
      at_ = at + mark->size();
      part_ = part::between;
      return outcome::again;
    }
    return spoil(at, *mark == key_mark ? nullptr : "the mark before the name of its first argument is missing");
  }
  const auto closed = begins_end(rest);
  if (closed == marks::match::yes) {
    at_ = at;
    return tool != nullptr ? outcome::complete : outcome::none;
  }
  return maybe || closed == marks::match::maybe ? cut : outcome::none;
}

glm_call::outcome glm_call::between(std::string_view in, bool last) {
  const auto at = at_ = marks::skip_blanks(in, at_);
  const auto rest = in.substr(at);
  if (rest.empty()) {
    // With all arguments given, only the mark around the call can be missing.
    return last && broken_ == nullptr && all_given() ? outcome::complete : outcome::more;
  }
  const auto key = marks::begins(rest, key_mark), closed = begins_end(rest), other = marks::begins(rest, call_mark);
  if (key == marks::match::yes) {
    at_ = begin_ = at + key_mark.size();
    part_ = part::key;
    return outcome::again;
  }
  if (closed == marks::match::yes) return outcome::complete;
  if (other == marks::match::yes) {
    // The end of the call was lost, or this mark replaces one of its own.
    if (broken_ == nullptr && !all_given()) broken_ = "its end is missing";
    return outcome::complete;
  }
  const bool maybe = key == marks::match::maybe || closed == marks::match::maybe || other == marks::match::maybe;
  if (maybe && !last) return outcome::more;
  // The reply ends inside the closing mark.
  if (closed == marks::match::maybe && rest.size() > 1) return outcome::complete;
  if (maybe) return outcome::more;
  // Read the value even of a broken call: a mark in it may look like the end of the call.
  const auto opened = marks::begins(rest, value_mark);
  if (opened == marks::match::yes) {
    if (broken_ == nullptr) broken_ = "a value has no name";
    begin_ = scan_ = at + value_mark.size();
    marked_ = true;
    part_ = part::value;
    return outcome::again;
  }
  if (opened == marks::match::maybe) return outcome::more;
  const auto next = in.find_first_of("<[", at + 1);
  spoil(next == marks::npos ? in.size() : next, "something stands between its arguments");
  return next == marks::npos ? outcome::more : outcome::again;
}

glm_call::outcome glm_call::key(std::string_view in) {
  const auto end = in.find('<', begin_);
  if (end == marks::npos && in.size() - begin_ <= max_key) return outcome::more;
  const auto written = in.substr(begin_, std::min(end - begin_, max_key + 1));
  const auto mark =
      end == marks::npos || written.size() > max_key ? marks::match::no : marks::begins(in.substr(end), key_end);
  // A doubled mark counts once.
  const auto again = end == begin_ ? marks::begins(in.substr(end), key_mark) : marks::match::no;
  if (again == marks::match::yes) {
    repaired_ = true;
    begin_ += key_mark.size();
    return outcome::again;
  }
  if (mark == marks::match::maybe || again == marks::match::maybe) return outcome::more;
  key_ = marks::cleaned_name(written);
  const bool known = std::ranges::all_of(key_, marks::is_name_char) || marks::has_property(tools_->find(name_), key_);
  if (mark == marks::match::no || key_.empty() || written.find('\n') != marks::npos || !known)
    return spoil(begin_, "the name of an argument is damaged");
  at_ = end + key_end.size();
  part_ = part::opening;
  return outcome::again;
}

glm_call::outcome glm_call::opening(std::string_view in) {
  const auto at = marks::behind_blanks(in, at_);
  if (at == marks::npos) return outcome::more;
  const auto rest = in.substr(at);
  const auto opened = marks::begins(rest, value_mark), again = marks::begins(rest, key_end);
  if (again == marks::match::yes) {
    repaired_ = true;
    at_ = at + key_end.size();
    return outcome::again;
  }
  if (opened == marks::match::maybe || again == marks::match::maybe) return outcome::more;
  // A value without its opening mark begins right here. Behind blanks its beginning would be uncertain.
  marked_ = opened == marks::match::yes;
  if (!marked_ && (at != at_ || rest.starts_with('<'))) return spoil(at, "the mark before a value is missing");
  begin_ = scan_ = marked_ ? at + value_mark.size() : at;
  part_ = part::value;
  return outcome::again;
}

void glm_call::close(std::string_view in) {
  const auto text = in.substr(begin_, scan_ - begin_);
  if (!marked_ && broken_ == nullptr && begins_in_damage(text)) broken_ = "the mark before a value is damaged";
  if (broken_ == nullptr && (text.ends_with('<') || holds_changed_pair(text)))
    broken_ = "the mark behind a value is damaged";
  repaired_ = repaired_ || !marked_;
  arguments_.push_back({key_, std::string(text)});
  at_ = scan_ + value_end.size();
  part_ = part::between;
}

glm_call::outcome glm_call::value(std::string_view in, bool last) {
  for (;;) {
    scan_ = std::min(in.find('<', scan_), in.size());
    if (scan_ == in.size()) return outcome::more;
    const auto rest = in.substr(scan_);
    bool maybe = false;
    const auto* const mark = marks::first_of(rest, own_marks, maybe);
    if (mark != nullptr && *mark != value_end) {
      if (broken_ == nullptr) broken_ = "a mark stands in a value, so that its end is not certain";
    } else if (mark != nullptr) {
      const auto next = marks::behind_blanks(rest, mark->size());
      if (next == marks::npos && !last) return outcome::more;
      const auto behind = next == marks::npos ? std::string_view() : rest.substr(next);
      const auto follows = begins_next(behind), twice = marks::begins(behind, value_end);
      if (behind.empty() || marks::is_blank(behind.front()) || follows == marks::match::yes ||
          (follows == marks::match::maybe && last)) {
        close(in);
        return outcome::again;
      }
      if (follows == marks::match::maybe || twice == marks::match::maybe) return outcome::more;
      // A closing mark at the end of a line was meant as one, so the text behind it is a damaged mark and no value.
      const auto line = rest.substr(mark->size(), next - mark->size());
      if (behind.size() < key_mark.size() + 3 && !last) return outcome::more;
      if (broken_ == nullptr &&
          (twice == marks::match::yes || line.find('\n') != marks::npos || begins_near_key(behind)))
        broken_ = "something stands behind the end of a value";
    }
    if (maybe && !last) return outcome::more;
    ++scan_;
  }
}

bool glm_call::all_given() const {
  return marks::takes_no_more(tools_->find(name_), arguments_);
}

tool_call_block glm_call::call(std::string_view) const {
  tool_call_block made;
  if (broken_ != nullptr) {
    made = marks::unreadable_call({}, broken_);
  } else {
    marks::set_untyped(made, tools_->find(name_), arguments_);
    if (repaired_) log::info("a mark in a tool call in a model's text was missing or stood twice, which was put right");
  }
  made.name = tools_->resolve(name_);
  return made;
}

}  // namespace mcpbx::providers::text::tagged
