// Skips text without readable calls up to its closing mark: a call in an unknown form, the rest of a call that cannot
// be trusted, an invented result.
#include "providers/text/marks/dsml_marks.hpp"
#include "providers/text/marks/harmony_marks.hpp"
#include "providers/text/marks/marks.hpp"
#include "providers/text/marks/text_scan.hpp"
#include "providers/text/tagged/tagged_parser.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace mcpbx::providers::text::tagged {
namespace {

constexpr std::size_t max_named = 256;     // bytes within which a call in the middle of a line must name its tool
constexpr std::size_t max_unread = 16384;  // bytes within which an unreadable call must be closed

// Finds the first mark from `from` on that closes the mark around calls, or (`inner`) a call itself. Returns its
// position and size; size 0: none.
std::pair<std::size_t, std::size_t> closing_in(std::string_view text, std::size_t from, bool inner = false) {
  const auto next = [&](std::size_t at) { return text.find_first_of("<[", at); };
  for (auto at = next(from); at != marks::npos && at + 1 < text.size(); at = next(at + 1)) {
    if (text[at] == '<' && marks::begins_some_mark(text.substr(at)) != marks::match::yes) continue;
    if (const auto mark = text[at] == '<' ? marks::match_dsml(text.substr(at)) : marks::dsml_mark();
        mark.is == marks::match::yes)
      if (mark.kind == marks::dsml_kind::section_end || (inner && mark.kind == marks::dsml_kind::invoke_end))
        return {at, mark.size};
    for (const auto& mark : marks::closing_marks) {
      // Nearly all marks fail here, without a call to match_mark().
      if (mark.text[0] != text[at] || (mark.text[1] != text[at + 1] && !marks::is_blank(text[at + 1]))) continue;
      if (!mark.outer && (!inner || mark.text[1] != '/')) continue;
      if (const auto found = marks::match_mark(text.substr(at), mark); found.is == marks::match::yes)
        return {at, found.size};
    }
  }
  return {0, 0};
}

// Finds the opening mark of a call, or of calls, in any form.
marks::found_tag match_call(std::string_view s) {
  const auto possible = marks::marks_at(s);
  if (possible.is != marks::match::yes) return {possible.is};
  const auto dsml = marks::match_dsml(s);
  if (dsml.is == marks::match::yes) return {dsml.is, dsml.size};
  auto maybe = dsml.is;
  for (auto bits = possible.opening; bits != 0; bits &= bits - 1) {
    const auto& mark = marks::angle_marks[static_cast<std::size_t>(std::countr_zero(bits))];
    if (mark.kind != marks::mark_kind::tag && mark.kind != marks::mark_kind::list &&
        mark.kind != marks::mark_kind::markup)
      continue;
    const auto found = marks::match_mark(s, mark);
    if (found.is == marks::match::yes) return found;
    if (found.is == marks::match::maybe) maybe = found.is;
  }
  return {maybe};
}

// Returns true if a result follows its mark, and not a sentence that mentions the mark. A result begins on a line of
// its own, in brackets, or without a blank.
bool begins_result(std::string_view behind) {
  const auto at = behind.find_first_not_of(" \t");
  if (at == marks::npos) return true;
  const char c = behind[at];
  return std::string_view("\r\n{[<\"").find(c) != marks::npos || (at == 0 && marks::is_name_char(c));
}

}  // namespace

// Decides about a text at `at` that is no readable call. It is an unreadable call if a closing mark follows and the
// opening mark begins a line or the text names a tool; else it is text.
void tagged_parser::no_call(std::size_t at, marks::parse_sink& sink) {
  needs_name_ = mark_ == at || !begins_line_ || options_.untagged != marks::parser_options::bare::anywhere;
  if (unclosed_ || (needs_name_ && tools_.none())) return release(at + (mark_ == at ? 1 : 0), sink);
  begin_ = scan_ = at;
  named_ = false;
  state_ = state::unread;
}

// Returns true if a tool's name begins `body`, or follows a character that precedes names in calls.
bool tagged_parser::names_tool(std::string_view body) const {
  for (std::size_t at = 0; at < body.size();) {
    if (!marks::is_name_char(body[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < body.size() && marks::is_name_char(body[end])) ++end;
    const auto before = trimmed(body.substr(0, at));
    const bool placed = before.empty() || std::string_view(":=\"'>").find(before.back()) != marks::npos;
    if (placed && tools_.find(body.substr(at, end - at)) != nullptr) return true;
    at = end;
  }
  return false;
}

// Looks for the mark of a call with a tool's name behind it. It matters only if the reasoning never ends.
void tagged_parser::look_for_call(std::string_view thoughts, bool last) {
  if (thinks_call_) return;
  thought_ += thoughts;
  std::size_t at = 0;
  for (; (at = thought_.find('<', at)) != marks::npos; ++at) {
    const auto rest = std::string_view(thought_).substr(at);
    const auto mark = match_call(rest);
    if (mark.is == marks::match::maybe && !last) break;
    if (mark.is != marks::match::yes) continue;
    const auto body = rest.substr(mark.size, max_named);
    if (body.size() < max_named && !last) break;
    thinks_call_ = names_tool(body);
    if (thinks_call_) break;
  }
  thought_.erase(0, at);
}

bool tagged_parser::in_unread(bool last, marks::parse_sink& sink) {
  // A hostile text may consist of marks. Until the name of a tool is found, do not search farther than a name could be,
  // so that the time stays linear.
  const bool unnamed = needs_name_ && !named_;
  const auto within = begin_ + (unnamed ? max_named + marks::longest_tag : max_unread);
  const auto [end, size] =
      closing_in(std::string_view(held_).substr(0, std::min(held_.size(), within)), scan_, needs_name_);
  const auto looked_through = [&] {
    scan_ = std::max(scan_, held_.size() - std::min(held_.size(), marks::longest_tag - 1));
  };
  if (unnamed) {
    const auto body = from(begin_).substr(0, std::min(max_named, (size != 0 ? end : held_.size()) - begin_));
    if (body.size() < max_named && size == 0 && !last) {
      looked_through();
      return false;
    }
    named_ = names_tool(body);
    if (!named_) release(begin_ + (mark_ == begin_ ? 1 : 0), sink);
    return true;
  }
  if (size != 0) {
    const auto text = std::string(trimmed(std::string_view(held_).substr(begin_, end - begin_)));
    call_found();
    at_ = end + size;
    extra_ = after_json_ = false;
    state_ = state::after;
    std::vector<tool_call_block> one;
    one.push_back(marks::unreadable_call(text, "it is no call in any form that is known"));
    take(std::move(one), sink);
    return true;
  }
  looked_through();
  unclosed_ = held_.size() - begin_ >= max_unread;
  if (!last && !unclosed_) return false;
  // At the end of the reply, later marks cannot find a closing mark either.
  unclosed_ = unclosed_ || needs_name_;
  release(begin_ + (mark_ == begin_ ? 1 : 0), sink);
  return true;
}

// Handles the mark of a result, which a model should never write. Returns false if the mark is only mentioned: within a
// line or in code, before any call.
bool tagged_parser::at_result(std::string_view mark, std::size_t size, marks::parse_sink& sink) {
  const bool before_calls = !any_calls() && (alone_.empty() || alone_in_fence_);
  if (before_calls && (in_code_ || quoted_ || pending_fence_ != marks::npos || !at_line_start())) return false;
  if (mark == "<|tool_response>") return skip_result("<tool_response|>", size, sink);
  return skip_result(std::string(mark.substr(0, 1)).append("/").append(mark.substr(1)), size, sink);
}

// Skips an invented result up to its closing mark. Returns false if the end of an earlier one was out of reach.
bool tagged_parser::skip_result(std::string end, std::size_t size, marks::parse_sink& sink) {
  if (!alone_.empty() && !alone_in_fence_) {
    pending_.clear();
    pending_blanks_.clear();
    take(std::exchange(alone_, {}), sink);
  }
  if (any_calls()) {
    counted_ -= held_.size() - at_;
    state_ = state::dropped;
    return true;
  }
  if (unclosed_result_) return false;
  end_result_ = std::move(end);
  open(state::result, size);
  scan_ = at_;
  return true;
}

void tagged_parser::leave_out(std::size_t end) {
  const auto before = counted_ - held_.size();
  left_out_.push_back({before + mark_, before + end});
  at_ = end;
  skipped_ = true;
  state_ = state::text;
}

bool tagged_parser::in_result(bool last, marks::parse_sink& sink) {
  const auto near = std::string_view(held_).substr(0, std::min(held_.size(), mark_ + max_unread));
  for (auto end = near.find(end_result_[0], scan_); end != marks::npos; end = near.find(end_result_[0], end + 1))
    if (const auto found = marks::match_tag(near.substr(end), end_result_); found.is == marks::match::yes) {
      leave_out(end + found.size);
      return true;
    }
  scan_ = std::max(scan_, near.size() - std::min(near.size(), marks::longest_tag - 1));
  if (held_.size() - mark_ < max_unread) {
    if (!last) return false;
    if (end_result_ == marks::harmony_end || begins_result(from(at_))) {
      leave_out(held_.size());
      return true;
    }
  }
  unclosed_result_ = true;
  if (end_result_ == marks::harmony_end)
    state_ = state::text;
  else
    release(mark_ + 1, sink);
  return true;
}

bool tagged_parser::in_spoiled(bool last, marks::parse_sink& sink) {
  const auto rest = from(at_);
  const auto [end, size] = closing_in(rest, 0);
  const auto keep = last ? 0 : std::min(rest.size(), marks::longest_tag - 1);
  const auto known = size == 0 ? rest.size() - keep : end;
  if (options_.show_unreadable) visible(rest.substr(0, known), sink);
  at_ += known + size;
  if (size == 0) return false;
  in_tag_ = false;
  state_ = state::text;
  return true;
}

}  // namespace mcpbx::providers::text::tagged
