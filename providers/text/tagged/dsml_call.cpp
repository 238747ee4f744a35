// Reads DeepSeek's calls. A value has neither quotes nor escapes; one in which a mark of the form stands is refused
// with its call, because it may be two values whose border was damaged.
#include "providers/text/tagged/dsml_call.hpp"

#include "providers/text/marks/distance.hpp"
#include "providers/text/marks/markup_marks.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::providers::text::tagged {
namespace {

using outcome = dsml_call::outcome;

// Returns the value of an attribute; "" without it.
std::string_view attribute(std::string_view attributes, std::string_view name) {
  for (const auto& [key, value] : marks::attributes_of(attributes))
    if (key == name) return value;
  return {};
}

// Returns true if a value holds what a damaged mark leaves: the name of the language with a bar beside it, or nearly
// the mark of a parameter.
bool holds_damaged_mark(std::string_view value) {
  constexpr std::array<std::string_view, 4> rests{"DSML｜", "｜DSML", "DSML|", "|DSML"};
  return std::ranges::any_of(rests, [&](auto rest) { return value.find(rest) != marks::npos; }) ||
         marks::holds_nearly<5>(value, "｜DSML｜parameter");
}

// Returns true if a value may end before this mark.
bool may_follow_value(marks::dsml_kind kind) {
  return kind == marks::dsml_kind::parameter || kind == marks::dsml_kind::invoke_end ||
         kind == marks::dsml_kind::section_end;
}

}  // namespace

// Marks the call as broken. Reading goes on to its end, because people should not see its content.
void dsml_call::spoil(const char* why) {
  if (broken_ == nullptr) broken_ = why;
}

outcome dsml_call::advance(std::string_view in, bool last) {
  for (auto now = outcome::again;;) {
    switch (part_) {
      case part::head:
        now = head(in);
        break;
      case part::first:
        at_ = marks::skip_blanks(in, at_);
        if (at_ == in.size()) return outcome::more;
        begin_ = scan_ = at_;
        part_ = in[at_] == '{' ? part::json : part::between;
        now = outcome::again;
        break;
      case part::between:
        now = between(in);
        break;
      case part::value:
        now = value(in, last);
        break;
      case part::json:
        at_ = scan_ += brackets_.feed(in.substr(scan_));
        return brackets_.closed() ? outcome::complete : outcome::more;
    }
    if (now != outcome::again) return now;
  }
}

outcome dsml_call::head(std::string_view in) {
  const auto mark = marks::match_dsml(in);
  if (mark.is == marks::match::maybe) return outcome::more;
  name_ = marks::cleaned_name(attribute(mark.attributes, "name"));
  at_ = mark.size;
  part_ = part::first;
  const bool whole = marks::attributes_of(mark.attributes).size() == 1 && marks::has_attributes_only(mark.attributes);
  if (name_.empty() || !whole || mark.attributes.ends_with("/>")) spoil("its opening mark is damaged");
  return outcome::again;
}

outcome dsml_call::between(std::string_view in) {
  const auto at = at_ = marks::skip_blanks(in, at_);
  if (at == in.size()) return outcome::more;
  const auto mark = marks::match_dsml(in.substr(at));
  if (mark.is == marks::match::maybe) return outcome::more;
  if (mark.is == marks::match::yes && mark.kind == marks::dsml_kind::parameter) {
    at_ = begin_ = scan_ = at + mark.size;
    open_value(mark.attributes);
    part_ = part::value;
    return outcome::again;
  }
  if (mark.is == marks::match::yes && mark.kind != marks::dsml_kind::other &&
      mark.kind != marks::dsml_kind::parameter_end) {
    // The call's own end may be missing before the one around it, but not before another call.
    if (mark.kind == marks::dsml_kind::invoke_end) at_ = at + mark.size;
    if (mark.kind == marks::dsml_kind::invoke || mark.kind == marks::dsml_kind::section) spoil("its end is missing");
    return outcome::complete;
  }
  spoil("something stands between its parameters");
  const auto next = in.find('<', at + 1);
  at_ = next == marks::npos ? in.size() : next;
  return next == marks::npos ? outcome::more : outcome::again;
}

void dsml_call::open_value(std::string_view attributes) {
  const auto kind = attribute(attributes, "string");
  const auto many = marks::attributes_of(attributes).size();
  argument_ = {
      std::string(marks::cleaned_name(attribute(attributes, "name"))), {}, marks::untyped_argument::written::untyped};
  if (kind == "true") argument_.as = marks::untyped_argument::written::text;
  if (kind == "false") argument_.as = marks::untyped_argument::written::json;
  const bool known = many == 1 || (many == 2 && argument_.as != marks::untyped_argument::written::untyped);
  const auto& key = argument_.name;
  if (key.empty() || !known || attributes.ends_with("/>") || !marks::has_attributes_only(attributes))
    spoil("the mark of a parameter is damaged");
  if (!std::ranges::all_of(key, marks::is_name_char) && !marks::has_property(tools_->find(name_), key))
    spoil("the name of a parameter is damaged");
  if (!given_.insert(key).second) spoil("a parameter stands twice");
}

void dsml_call::close_value(std::string_view in, std::size_t next) {
  const auto text = in.substr(begin_, scan_ - begin_);
  if (text.ends_with('<') || holds_damaged_mark(text)) spoil("a mark at the border of a parameter is damaged");
  argument_.text = text;
  arguments_.push_back(std::exchange(argument_, {}));
  at_ = next;
  part_ = part::between;
}

outcome dsml_call::value(std::string_view in, bool last) {
  for (;; ++scan_) {
    scan_ = std::min(in.find('<', scan_), in.size());
    if (scan_ == in.size()) return outcome::more;
    const auto rest = in.substr(scan_);
    const auto mark = marks::match_dsml(rest);
    if (mark.is == marks::match::maybe) return outcome::more;
    if (mark.is == marks::match::no) continue;
    if (mark.kind == marks::dsml_kind::parameter_end) {
      const auto behind = marks::behind_blanks(rest, mark.size);
      if (behind == marks::npos && !last) return outcome::more;
      const auto next = behind == marks::npos ? marks::dsml_mark{marks::match::yes, marks::dsml_kind::invoke_end, 0, {}}
                                              : marks::match_dsml(rest.substr(behind));
      if (next.is == marks::match::maybe && !last) return outcome::more;
      if (next.is != marks::match::no && may_follow_value(next.kind)) {
        close_value(in, scan_ + mark.size);
        return outcome::again;
      }
      // The call ends here all the same if another one begins.
      spoil(next.kind == marks::dsml_kind::invoke && next.is == marks::match::yes
                ? "its end is missing"
                : "something stands behind the end of a parameter");
      if (next.is == marks::match::yes &&
          (next.kind == marks::dsml_kind::invoke || next.kind == marks::dsml_kind::section)) {
        close_value(in, scan_ + mark.size);
        return outcome::again;
      }
      continue;
    }
    spoil("a mark stands in a parameter, so that its end is not certain");
    if (mark.kind == marks::dsml_kind::other || mark.kind == marks::dsml_kind::section) continue;
    close_value(in, scan_);
    return outcome::again;
  }
}

tool_call_block dsml_call::call(std::string_view in) const {
  tool_call_block made;
  if (broken_ != nullptr)
    made = marks::unreadable_call({}, broken_);
  else if (part_ == part::json)
    marks::set_arguments(made, tools_->find(name_), in.substr(begin_, at_ - begin_));
  else
    marks::set_untyped(made, tools_->find(name_), arguments_);
  if (!name_.empty()) made.name = tools_->resolve(name_);
  return made;
}

}  // namespace mcpbx::providers::text::tagged
