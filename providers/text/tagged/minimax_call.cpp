// Reads MiniMax's calls. Only marks behind their token count, so a value may hold any other markup. A closing mark that
// lost its token is put right where the next mark follows it at once.
#include "providers/text/tagged/minimax_call.hpp"

#include "providers/text/marks/distance.hpp"
#include "providers/text/marks/json_calls.hpp"
#include "providers/text/marks/markup_marks.hpp"
#include "providers/text/marks/minimax_marks.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::text::tagged {
namespace {

using outcome = minimax_call::outcome;
constexpr std::size_t longest_element = 512;  // largest mark in bytes
constexpr std::size_t most_levels = 64;

// Returns true if a value ends as a token does that lost some of its bytes.
bool ends_in_part_of_token(std::string_view value) {
  if (value.ends_with(marks::minimax_mark.back())) return true;
  for (std::size_t size = 1; size < marks::minimax_mark.size(); ++size)
    if (value.ends_with(marks::minimax_mark.substr(0, size))) return true;
  return false;
}

}  // namespace

void minimax_call::spoil(const char* why) {
  if (broken_ != nullptr) return;
  broken_ = why;
  for (auto& element : open_) element.value.text.clear();  // they are looked through at each mark
}

outcome minimax_call::advance(std::string_view in, bool last) {
  for (auto now = outcome::again;;) {
    now = step(in, last);
    if (now != outcome::again) return now;
  }
}

// Returns true if the first mark in the call has no token before it.
bool minimax_call::begins_without_token(std::string_view in) const {
  if (open_.size() != 1 || !open_[0].value.children.empty()) return false;
  const auto next = marks::behind_blanks(in, at_);
  return next != marks::npos && in[next] == '<';
}

// Reads up to the next mark.
outcome minimax_call::step(std::string_view in, bool) {
  const bool head = open_.empty();
  auto token = head && in.starts_with('<') ? 0 : in.find(marks::minimax_mark, scan_);
  if (token == marks::npos) {
    scan_ = std::max(scan_, in.size() - std::min(in.size(), marks::minimax_mark.size() - 1));
    // Without their token the marks of a call are those of another form.
    return begins_without_token(in) ? outcome::none : outcome::more;
  }
  if (begins_without_token(in)) return outcome::none;
  scan_ = token;
  const auto begin =
      marks::behind_blanks(in, token + (in.substr(token).starts_with('<') ? 0 : marks::minimax_mark.size()));
  if (begin == marks::npos) return outcome::more;
  const auto end = in.substr(0, begin + longest_element).find_first_of("<>\n", begin + 1);
  if (end == marks::npos && in.size() - begin < longest_element) return outcome::more;
  if (!open_.empty() && broken_ == nullptr) open_.back().value.text += in.substr(at_, token - at_);
  if (in[begin] != '<' || end == marks::npos || in[end] != '>') {
    spoil("one of its marks is damaged");
    at_ = scan_ = begin;
    return head ? outcome::none : outcome::again;
  }
  const auto tag = in.substr(begin, end + 1 - begin);
  const bool closes = tag.starts_with("</");
  // A call that begins here is another one, and the mark around this one is not its own.
  const bool next_call = (tag.starts_with("<invoke ") && !open_.empty()) || tag == "<tool_call>";
  const bool ends =
      tag == "</tool_call>" && std::ranges::none_of(open_, [](const auto& e) { return e.mark == "tool_call"; });
  // Within a parameter it may be an example in its value, of which nothing may be run.
  const bool in_value = open_.size() > 1;
  if (next_call && in_value) spoil("a value holds the marks of a call, so that its end is not certain");
  if (ends || (next_call && !in_value)) {
    spoil("its end is missing");
    at_ = token;
    return outcome::complete;
  }
  at_ = scan_ = end + 1;
  return closes ? closed(trimmed(tag.substr(2, tag.size() - 3))) : opened(tag);
}

outcome minimax_call::opened(std::string_view tag) {
  const bool named = tag.starts_with("<invoke ") || tag.starts_with("<parameter ");
  std::string_view name = tag.substr(1, tag.size() - 2), mark = name;
  if (named) {
    const auto attributes = marks::attributes_of(tag);
    const bool whole = attributes.size() == 1 && attributes[0].first == "name" && marks::has_attributes_only(tag);
    mark = tag.substr(1, tag.find(' ') - 1);
    name = whole ? attributes[0].second : std::string_view();
  }
  if (!open_.empty() && !ends_in_plain_mark() && !trimmed(open_.back().value.text).empty())
    spoil("something stands beside its parameters, or the end of one is missing");
  const auto* tool = open_.empty() ? nullptr : tools_->find(open_[0].value.name);
  const bool known = std::ranges::all_of(name, marks::is_name_char) || marks::has_property(tool, name);
  if (name.empty() || !known || tag.ends_with("/>")) spoil("the name of a parameter is damaged");
  if (open_.size() >= most_levels) spoil("its parameters are too deep");
  open_.push_back({{std::string(marks::cleaned_name(name)), {}, {}}, std::string(mark)});
  return outcome::again;
}

// Closes the open element if its text ends in its closing mark, which has lost its token.
bool minimax_call::ends_in_plain_mark() {
  auto& last = open_.back();
  const auto mark = "</" + last.mark + ">";
  if (open_.size() < 2 || !last.value.children.empty() || !trimmed(last.value.text).ends_with(mark)) return false;
  last.value.text.resize(last.value.text.rfind(mark));
  if (ends_in_part_of_token(last.value.text)) spoil("the token before a mark is damaged");
  pop();
  return true;
}

outcome minimax_call::closed(std::string_view name) {
  if (name != open_.back().mark) ends_in_plain_mark();
  if (name != open_.back().mark) {
    spoil("a closing mark has no opening one");
    return name == "invoke" ? outcome::complete : outcome::again;
  }
  const bool blank = trimmed(open_.back().value.text).empty();
  if (!blank && (open_.size() == 1 || !open_.back().value.children.empty()))
    spoil("something stands between its parameters");
  if (open_.size() == 1) return outcome::complete;
  pop();
  return outcome::again;
}

void minimax_call::pop() {
  const auto& text = open_.back().value.text;
  if (text.ends_with('<') || marks::holds_nearly<5>(text, marks::minimax_mark))
    spoil("the token before a mark is damaged");
  auto done = std::move(open_.back().value);
  open_.pop_back();
  open_.back().value.text.clear();
  // A call that is refused needs no arguments, and a tree of any depth could not be destroyed.
  if (broken_ == nullptr) open_.back().value.children.push_back(std::move(done));
}

tool_call_block minimax_call::call(std::string_view) const {
  tool_call_block made;
  const auto& name = open_[0].value.name;
  if (broken_ != nullptr || name.empty())
    made = marks::unreadable_call({}, broken_ != nullptr ? broken_ : "it has no name");
  else
    marks::set_tree(made, tools_->find(name), open_[0].value);
  if (!name.empty()) made.name = tools_->resolve(name);
  return made;
}

}  // namespace mcpbx::providers::text::tagged
