// Looks behind calls as markup for proof that they ended too early. Values are not escaped, so a value that mentions
// the marks of a call seems to end it. Closing marks without an opening one, and words where only marks are possible,
// prove that; the call is then refused. Words for people are held back meanwhile, within bounds.
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/markup_marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mcpbx::providers::text::tagged {
namespace {

constexpr std::size_t max_unproven = 16384;  // distance in bytes within which a call may be proven wrong
constexpr std::size_t max_parameter_mark = 512;

// Marks of GLM's form, except the one that may begin a call.
constexpr std::array<std::string_view, 3> pair_marks{"</arg_key>", "<arg_value>", "</arg_value>"};

// Returns the length of an opening mark of a parameter at the beginning of `s`; 0: none; npos: its end has not come.
std::size_t opening_parameter(std::string_view s, bool& maybe) {
  if (marks::first_of(s, marks::parameter_marks, maybe) == nullptr) return 0;
  const auto end = s.substr(0, max_parameter_mark).find_first_of("<>\n", 1);
  if (end == marks::npos) return s.size() < max_parameter_mark ? marks::npos : 0;
  return s[end] == '>' ? end + 1 : 0;
}

}  // namespace

void tagged_parser::begin_proof() {
  first_markup_ = std::min(first_markup_, reply_.calls.size());
  state_ = state::proving;
  proof_ = {.in_tag = in_tag_ || proof_.in_tag,
            .closed = false,
            .words = false,
            .parameters = 0};  // kept for several calls in one tag
}

// Refuses all calls as markup: the text up to `end` belongs to one that ended too early, and it is unknown to which.
void tagged_parser::refuse_markup(std::size_t end, marks::parse_sink& sink) {
  if (first_markup_ != marks::npos) withdraw(std::exchange(first_markup_, marks::npos), sink);
  if (options_.show_unreadable) visible(std::string_view(held_).substr(at_, end - at_), sink);
  at_ = std::max(at_, end);
}

bool tagged_parser::in_proof(bool last, marks::parse_sink& sink) {
  const auto size = std::min(held_.size(), at_ + max_unproven);
  const auto near = std::string_view(held_).substr(0, size);
  const bool whole = size == held_.size() && size < at_ + max_unproven;  // more text may come
  const auto too_short = [&](std::size_t end) {
    refuse_markup(end, sink);
    scan_ = end;
    proof_.words = false;
    return true;
  };
  while (scan_ < size) {
    const auto rest = near.substr(scan_);
    const char c = rest.front();
    if (c != '<' && c != '[') {
      const bool fence = (in_tag_ || fenced_) && c == '`';
      proof_.words = proof_.words || (!marks::is_blank(c) && !fence);
      ++scan_;
      continue;
    }
    if (c == '<' && marks::begins_some_mark(rest) == marks::match::no) {
      proof_.words = true;
      ++scan_;
      continue;
    }
    bool maybe = false;
    if (const auto* mark = marks::first_of(rest, marks::value_ends, maybe)) {
      if (proof_.parameters == 0) return too_short(scan_ + mark->size());
      --proof_.parameters;
      scan_ += mark->size();
      continue;
    }
    const auto dsml = c == '<' ? marks::match_dsml(rest) : marks::dsml_mark();
    maybe = maybe || dsml.is == marks::match::maybe;
    if (dsml.is == marks::match::yes) {
      if (dsml.kind == marks::dsml_kind::invoke || dsml.kind == marks::dsml_kind::section) {
        if (proof_.in_tag && proof_.words) return too_short(scan_);
        state_ = state::after;
        return true;
      }
      const bool around = dsml.kind == marks::dsml_kind::section_end;
      if (!around || (proof_.words && (proof_.in_tag || !proof_.closed))) return too_short(scan_ + dsml.size);
      proof_.closed = true;
      proof_.in_tag = false;
      scan_ += dsml.size;
      continue;
    }
    const auto parameter = opening_parameter(rest, maybe);
    maybe = maybe || parameter == marks::npos;
    if (parameter != 0 && parameter != marks::npos) {
      ++proof_.parameters;
      proof_.words = true;
      scan_ += parameter;
      continue;
    }
    std::size_t passed = 0;
    for (const auto& mark : marks::closing_marks) {
      const auto found = marks::match_mark(rest, mark);
      maybe = maybe || found.is == marks::match::maybe;
      if (found.is != marks::match::yes) continue;
      passed = found.size;
      const bool around = proof_.in_tag || !proof_.closed;
      if (mark.outer) {
        proof_.closed = true;
        proof_.in_tag = false;
      }
      if (proof_.words && (!mark.outer || around)) return too_short(scan_ + passed);
      break;
    }
    bool opens = false;
    for (const auto& mark : marks::angle_marks) {
      if (passed != 0) break;
      const auto found = marks::match_mark(rest, mark);
      maybe = maybe || found.is == marks::match::maybe;
      if (found.is != marks::match::yes) continue;
      passed = found.size;
      opens = mark.kind != marks::mark_kind::control && mark.kind != marks::mark_kind::role;
    }
    if (passed == 0 && c == '<') {
      const auto special = marks::match_special(rest);
      passed = special.size;
      maybe = maybe || special.is == marks::match::maybe;
    }
    if (passed == 0 && c == '[') {
      const auto calls = marks::match_tag(rest, marks::tool_calls_mark).is,
                 results = marks::begins(rest, marks::tool_results_mark);
      opens = calls == marks::match::yes || results == marks::match::yes;
      maybe = maybe || calls == marks::match::maybe || results == marks::match::maybe;
    }
    if (opens) {
      if (proof_.in_tag && proof_.words) return too_short(scan_);
      state_ = state::after;
      return true;
    }
    if (passed != 0) {
      scan_ += passed;
      continue;
    }
    if (maybe && whole) {
      if (!last) return false;
      // The reply ends inside a mark.
      if (proof_.words && rest.starts_with("</")) return too_short(size);
      break;
    }
    proof_.words = true;
    ++scan_;
  }
  if (whole && !last) return false;
  state_ = state::after;
  if (proof_.in_tag && proof_.words) {
    refuse_markup(size, sink);
    // Words follow.
    if (!whole) state_ = state::spoiled;
  }
  return true;
}

// Handles the mark of a parameter in text. Behind a call it is shown in code only.
marks::match tagged_parser::at_parameter(bool last, marks::parse_sink& sink) {
  if (!any_calls()) return marks::match::no;
  const auto rest = from(at_);
  bool maybe = false;
  std::size_t size = 0;
  if (const auto* mark = marks::first_of(rest, marks::value_ends, maybe)) {
    size = mark->size();
    if (open_parameters_ > 0)
      --open_parameters_;
    else
      refuse_markup(at_, sink);
  } else if (const auto* of_pair = marks::first_of(rest, pair_marks, maybe)) {
    size = of_pair->size();
  } else {
    size = opening_parameter(rest, maybe);
    if (size == marks::npos && !last) return marks::match::maybe;
    if (size == 0 || size == marks::npos) return maybe ? marks::match::maybe : marks::match::no;
    ++open_parameters_;
  }
  if (in_code_ || quoted_) visible(rest.substr(0, size), sink);
  at_ += size;
  return marks::match::yes;
}

}  // namespace mcpbx::providers::text::tagged
