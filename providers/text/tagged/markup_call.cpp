// Reads calls as markup. A value may contain markup, so a closing mark counts only if a possible continuation follows
// it: the next parameter or the end of the call. If the call's opening mark is in lower case only marks in lower case
// count, else marks in any case.
#include "providers/text/tagged/markup_call.hpp"

#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/markup_marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/marks/xml_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::providers::text::tagged {
namespace {

using outcome = markup_call::outcome;
constexpr std::size_t max_tag = 512;  // largest opening mark in bytes
constexpr std::array<std::string_view, 3> call_ends{"</function>", "</invoke>", "</antml:invoke>"};
// Marks that end a list of calls, and marks that may follow it.
constexpr std::array<std::string_view, 3> list_ends{"</tool_call>", "</function_calls>", "</antml:function_calls>"};
constexpr std::array<std::string_view, 4> call_marks{"<tool_call>", "<function=", "<invoke ", "<antml:invoke "};

// Returns false if a bracket followed by `c` cannot begin any mark that counts in a value, as most cannot.
bool follows_bracket(char c) {
  const auto is = [c](std::string_view mark) { return mark[1] == marks::lower(c); };
  return c == '!' || std::ranges::any_of(marks::value_ends, is) || std::ranges::any_of(marks::parameter_marks, is) ||
         std::ranges::any_of(call_ends, is) || std::ranges::any_of(call_marks, is);
}

// An opening mark of a call, with its end marks.
struct call_opening {
  std::string_view mark;
  bool function;
};
constexpr std::array<call_opening, 4> openings{
    {{"<function=", true}, {"<function name=", true}, {"<invoke ", false}, {"<antml:invoke ", false}}};
std::span<const std::string_view> ends_of(bool function) {
  const std::span<const std::string_view> all(call_ends);
  return function ? all.first(1) : all.subspan(1);
}

constexpr std::size_t no_tag = 0;

// Returns the position behind the tag that begins at `at`; npos: its end has not come; no_tag: it contains another tag.
std::size_t tag_end(std::string_view in, std::size_t at) {
  char quote = 0;
  for (auto i = at + 1; i < std::min(in.size(), at + max_tag); ++i) {
    const char c = in[i];
    if (c == '<') return no_tag;
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return i + 1;
    }
  }
  return marks::npos;
}

// Returns the value of name="…" in a tag.
std::string name_attribute(std::string_view tag) {
  for (const auto& [name, value] : marks::attributes_of(tag))
    if (marks::same_letters(name, "name")) return std::string(value);
  return {};
}

}  // namespace

markup_call::outcome markup_call::advance(std::string_view in, bool last) {
  for (auto now = outcome::again;;) {
    switch (part_) {
      case part::head:
        now = head(in);
        break;
      case part::first:
        now = first(in);
        break;
      case part::json:
        scan_ += brackets_.feed(in.substr(scan_));
        at_ = scan_;
        if (!brackets_.closed()) return outcome::more;
        if (unclosed_) {
          const auto next = marks::skip_blanks(in, at_);
          if (next == in.size() && !last) return outcome::more;
          if (next < in.size() && in[next] == '>') at_ = next + 1;
        }
        return outcome::complete;
      case part::value:
        now = value(in, last);
        break;
      case part::between:
        now = between(in, last);
        break;
    }
    if (now != outcome::again) return now;
  }
}

markup_call::outcome markup_call::head(std::string_view in) {
  constexpr std::string_view function = "<function=";
  const bool lower_case = std::ranges::any_of(call_marks, [&](auto mark) { return in.starts_with(mark); }) ||
                          in.starts_with("<function name=");
  compare_ = lower_case ? marks::begins : marks::begins_like;
  function_ = compare_(in, "<function") == marks::match::yes;
  if (compare_(in, function) == marks::match::yes) {
    const auto end = in.find_first_of(">{<\n", function.size());
    if (end == marks::npos) return in.size() > max_tag ? outcome::none : outcome::more;
    if (in[end] == '<' || in[end] == '\n') return outcome::none;
    name_ = marks::cleaned_name(in.substr(function.size(), end - function.size()));
    unclosed_ = in[end] != '>';
    at_ = unclosed_ ? end : end + 1;
  } else {
    const auto end = tag_end(in, 0);
    if (end == marks::npos) return in.size() >= max_tag ? outcome::none : outcome::more;
    if (end == no_tag) return outcome::none;
    xml_ = true;
    name_ = name_attribute(in.substr(0, end));
    at_ = end;
    if (!marks::has_attributes_only(in.substr(0, end))) broken_ = "its opening mark is damaged";
    for (const auto& [key, value] : marks::attributes_of(in.substr(0, end))) {
      const bool harmless = key == "id" || key == "type";
      if (!marks::same_letters(key, "name") && (!harmless || marks::has_property(tools_->find(name_), key)))
        broken_ = "an argument stands in its opening mark";
    }
    if (!name_.empty() && in.substr(0, end).ends_with("/>")) return outcome::complete;
  }
  if (name_.empty() || name_.size() > 128) return outcome::none;
  part_ = part::first;
  return outcome::again;
}

markup_call::outcome markup_call::first(std::string_view in) {
  const auto at = at_ = marks::skip_blanks(in, at_);
  if (at == in.size()) return outcome::more;
  const auto rest = in.substr(at);
  if (rest.starts_with('{')) {
    begin_ = scan_ = at;
    part_ = part::json;
    return outcome::again;
  }
  auto found = marks::begins_any(rest, marks::parameter_marks, compare_);
  if (found == marks::match::yes) {
    at_ = at;
    part_ = part::between;
    return outcome::again;
  }
  for (const auto mark : own_ends()) {
    const auto one = compare_(rest, mark);
    if (one == marks::match::yes) {
      at_ = at + mark.size();
      return outcome::complete;
    }
    if (one == marks::match::maybe) found = one;
  }
  // A reply that is cut off in the mark of its first parameter was going to be a call.
  return found == marks::match::maybe ? outcome::more : outcome::none;
}

markup_call::outcome markup_call::parameter(std::string_view in, std::size_t at, std::string& key,
                                            std::size_t& begin) const {
  const auto rest = in.substr(at);
  if (compare_(rest, "<parameter=") == marks::match::yes) {
    const auto end = rest.find_first_of("><\n", 11);
    if (end == marks::npos) return rest.size() > max_tag ? outcome::none : outcome::more;
    if (rest[end] != '>') return outcome::none;
    key = marks::cleaned_name(rest.substr(11, end - 11));
    begin = at + end + 1;
  } else {
    const auto end = tag_end(rest, 0);
    if (end == marks::npos) return rest.size() >= max_tag ? outcome::none : outcome::more;
    if (end == no_tag) return outcome::none;
    const auto tag = rest.substr(0, end);
    key = name_attribute(tag);
    begin = at + end;
    // The value is an attribute of the mark and does not follow it.
    const bool within = std::ranges::any_of(marks::attributes_of(tag),
                                            [](const auto& a) { return marks::same_letters(a.first, "value"); });
    if (within || tag.ends_with("/>") || !marks::has_attributes_only(tag)) return outcome::none;
  }
  return key.empty() ? outcome::none : outcome::complete;
}

markup_call::outcome markup_call::between(std::string_view in, bool last) {
  const auto at = at_ = marks::skip_blanks(in, at_);
  if (at == in.size()) return outcome::more;
  const auto rest = in.substr(at);
  auto found = marks::begins_any(rest, marks::parameter_marks, compare_);
  if (found == marks::match::yes) {
    const auto opened = parameter(in, at, key_, begin_);
    if (opened == outcome::more) return outcome::more;
    if (opened == outcome::complete && broken_.empty() && !std::ranges::all_of(key_, marks::is_name_char) &&
        !marks::has_property(tools_->find(name_), key_))
      broken_ = "the name of a parameter is damaged";
    // The last value began on a line of its own but ended within a line: this parameter may be a part of that value.
    if (opened == outcome::complete && broken_.empty() && closed_in_line_ &&
        (given_.contains(key_) || marks::knows_all_but(tools_->find(name_), key_)))
      broken_ = "a parameter stands twice or is none of the tool's, and may be a part of the value before it";
    if (opened == outcome::complete) {
      scan_ = begin_;
      part_ = part::value;
      return outcome::again;
    }
    broken_ = "a parameter has no name, or its value stands in its mark";
    at_ = at + 1;
  }
  for (const auto mark : own_ends()) {
    const auto one = compare_(rest, mark);
    if (one == marks::match::yes) {
      at_ = at + mark.size();
      return outcome::complete;
    }
    if (one == marks::match::maybe) found = one;
  }
  // Another call begins: the end of this one was lost.
  const auto next_call = marks::begins_any(rest, own_openings(), compare_);
  if (next_call == marks::match::yes) {
    if (broken_.empty()) broken_ = "its end is missing";
    at_ = at;
    return outcome::complete;
  }
  if (next_call == marks::match::maybe) found = next_call;
  // The call's own end mark may be missing before the one around it.
  const auto around = marks::begins_any(rest, list_ends, compare_);
  if (around == marks::match::yes) {
    at_ = at;
    return outcome::complete;
  }
  if ((found == marks::match::maybe || around == marks::match::maybe) && !last) return outcome::more;
  if (broken_.empty()) broken_ = "something stands between its parameters";
  const auto next = in.find('<', at + 1);
  at_ = next == marks::npos ? in.size() : next;
  return next == marks::npos ? outcome::more : outcome::again;
}

void markup_call::close(std::string_view in, std::size_t end, std::size_t next) {
  auto value = in.substr(begin_, end - begin_);
  closed_in_line_ = value.starts_with('\n') && in[end - 1] != '\n';
  if (end == next) {
    // If the closing mark is missing, the value may end in its remains.
    if (broken_.empty() && marks::ends_in_damage(value, xml_, compare_ != marks::begins))
      broken_ = "the closing mark of a parameter is damaged";
    // A mark lost from a line of its own leaves a line break that does not belong to the value either.
    const auto behind = value.substr(value.find_last_not_of(" \t\r\n") + 1);
    if (broken_.empty() && !xml_ && std::ranges::count(behind, '\n') > 1)
      broken_ = "the closing mark of a parameter is missing behind an empty line";
    if (const auto line = behind.rfind('\n'); line != marks::npos) {
      value.remove_suffix(behind.size() - line - (xml_ ? 0 : 1));
      if (xml_ && value.ends_with('\r')) value.remove_suffix(1);
    }
  }
  open_.clear();
  how_many_ = {};
  if (broken_.empty() && !marks::border_is_certain(value, xml_, compare_ != marks::begins))
    broken_ = "a mark stands in a parameter, so that its end is not certain";
  if (broken_.empty() && !foreign_.empty() && value.find(foreign_) != marks::npos)
    broken_ = "a token stands in a parameter";
  arguments_.push_back({key_, decoded(value)});
  given_.insert(std::exchange(key_, {}));
  at_ = next;
  part_ = part::between;
}

std::span<const std::string_view> markup_call::own_ends() const {
  return ends_of(function_);
}

std::span<const std::string_view> markup_call::own_openings() const {
  const std::span<const std::string_view> all(call_marks);
  return function_ ? all.subspan(1, 1) : all.subspan(2);
}

void markup_call::open_inner(inner kind) {
  open_.push_back(kind);
  ++how_many_[static_cast<std::size_t>(kind)];
}

// Closes the innermost example of this kind in the value, and all marks left open inside it, which were only mentioned.
// Returns false if the value has opened none.
bool markup_call::close_inner(inner kind) {
  if (how_many_[static_cast<std::size_t>(kind)] == 0) return false;
  for (;;) {
    const auto last = open_.back();
    open_.pop_back();
    --how_many_[static_cast<std::size_t>(last)];
    if (last == kind) return true;
  }
}

// Judges whether an example of a call begins at `rest` inside the value.
markup_call::outcome markup_call::inner_call(std::string_view rest, bool last) {
  for (const auto& [mark, function] : openings) {
    const auto is = compare_(rest, mark);
    if (is == marks::match::maybe && !last) return outcome::more;
    if (is != marks::match::yes) continue;
    const auto end = tag_end(rest, 0);
    if (end == marks::npos && rest.size() < max_tag && !last) return outcome::more;
    if (end != marks::npos && end != no_tag && !rest.substr(0, end).ends_with("/>"))
      open_inner(function ? inner::function : inner::invoke);
    return outcome::again;
  }
  return outcome::none;
}

markup_call::outcome markup_call::value(std::string_view in, bool last) {
  constexpr std::string_view open_cdata = "<![CDATA[";
  for (;;) {
    if (cdata_) {
      const auto end = in.find("]]>", scan_);
      if (end == marks::npos) {
        scan_ = std::max(scan_, in.size() < 2 ? 0 : in.size() - 2);
        return outcome::more;
      }
      cdata_ = false;
      scan_ = end + 3;
    }
    scan_ = std::min(in.find('<', scan_), in.size());
    if (scan_ == in.size()) return outcome::more;
    const auto rest = in.substr(scan_);
    if (rest.size() > 1 && !follows_bracket(rest[1])) {
      ++scan_;
      continue;
    }
    const auto cdata = xml_ ? marks::begins(rest, open_cdata) : marks::match::no;
    bool maybe = cdata == marks::match::maybe;
    if (cdata == marks::match::yes) {
      cdata_ = true;
      scan_ += open_cdata.size();
      continue;
    }
    if (const auto* mark = marks::first_of(rest, marks::value_ends, maybe, compare_)) {
      if (close_inner(inner::parameter)) {
        scan_ += mark->size();
        continue;
      }
      const auto next = marks::behind_blanks(rest, mark->size());
      if (next == marks::npos && !last) return outcome::more;
      const auto behind = rest.substr(std::min(next, rest.size()));
      bool open = false;
      if (behind.empty() || marks::is_blank(behind.front()) ||
          marks::first_of(behind, marks::parameter_marks, open, compare_) != nullptr ||
          marks::first_of(behind, own_ends(), open, compare_) != nullptr ||
          marks::first_of(behind, own_openings(), open, compare_) != nullptr ||
          marks::first_of(behind, list_ends, open, compare_) != nullptr) {
        close(in, scan_, scan_ + mark->size());
        return outcome::again;
      }
      // A closing mark at the end of a line was meant as one, so the text behind it is a damaged mark and no value.
      const auto line_end = rest.substr(mark->size(), next - mark->size());
      maybe = maybe || open;
      if ((!open || last) && broken_.empty() && line_end.find('\n') != marks::npos)
        broken_ = "something stands behind the end of a parameter";
    } else if (marks::first_of(rest, marks::parameter_marks, maybe, compare_) != nullptr) {
      std::string key;
      std::size_t begin = 0;
      const auto opened = parameter(in, scan_, key, begin);
      if (opened == outcome::more && !last) return outcome::more;
      // If the parameter that follows is still missing, the end of this value was lost.
      const bool line = scan_ > begin_ && in[scan_ - 1] == '\n' && open_.empty();
      if (opened == outcome::complete && line && key != key_ && !given_.contains(key) &&
          marks::has_property(tools_->find(name_), key)) {
        close(in, scan_, scan_);
        return outcome::again;
      }
      if (opened == outcome::complete) open_inner(inner::parameter);
    } else if (const auto* call_end = marks::first_of(rest, call_ends, maybe, compare_)) {
      const bool own = std::ranges::find(own_ends(), *call_end) != own_ends().end();
      const bool function = *call_end == ends_of(true).front();
      if (close_inner(function ? inner::function : inner::invoke) || !own) {
        scan_ += call_end->size();
        continue;
      }
      const auto next = marks::behind_blanks(rest, call_end->size());
      if (next == marks::npos && !last) return outcome::more;
      const auto behind = rest.substr(std::min(next, rest.size()));
      const bool blank = !behind.empty() && marks::is_blank(behind.front());
      if (blank && broken_.empty()) broken_ = "blanks without end stand where the end of a parameter should";
      if (behind.empty() || blank || marks::first_of(behind, call_marks, maybe, compare_) != nullptr ||
          marks::first_of(behind, list_ends, maybe, compare_) != nullptr) {
        close(in, scan_, scan_);
        return outcome::again;
      }
    } else {
      const auto opened = inner_call(rest, last);
      if (opened == outcome::more) return outcome::more;
    }
    if (maybe && !last) return outcome::more;
    ++scan_;
  }
}

std::string markup_call::decoded(std::string_view text) const {
  if (xml_) return marks::decoded_xml(text);
  // One line break at each end belongs to the form, not to the value.
  if (text.starts_with("\r\n"))
    text.remove_prefix(2);
  else if (text.starts_with('\n'))
    text.remove_prefix(1);
  if (text.ends_with("\r\n"))
    text.remove_suffix(2);
  else if (text.ends_with('\n'))
    text.remove_suffix(1);
  return std::string(text);
}

tool_call_block markup_call::call(std::string_view in) const {
  tool_call_block made;
  if (!broken_.empty()) {
    made = marks::unreadable_call({}, broken_);
    made.name = tools_->resolve(name_);
    return made;
  }
  made.name = tools_->resolve(name_);
  const auto* tool = tools_->find(name_);
  if (part_ == part::json)
    marks::set_arguments(made, tool, in.substr(begin_, at_ - begin_));
  else
    marks::set_untyped(made, tool, arguments_);
  return made;
}

}  // namespace mcpbx::providers::text::tagged
